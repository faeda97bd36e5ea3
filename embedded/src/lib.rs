//! A master as a state machine: bytes and time in, bytes out.
//!
//! It reads no clock, no randomness and no socket: `now` comes with the bytes, ids come from a
//! seed. So it can run behind a TCP port as well as in a simulator, where the same seed gives the
//! same run. It knows the commands that this crate sends and those that a test uses to look inside,
//! and answers them byte for byte as redis-server 7.0 does. Everything else is an unknown command.
//!
//! Intended differences:
//!
//! - An inline command is a protocol error, options that this crate does not use are errors
//!   (`SET … XX`, `FLUSHALL SYNC`, `UNSUBSCRIBE` without channels).
//! - Errors have fewer words where no client of ours reads them: of an unknown command or subcommand, of
//!   HELLO and AUTH, of a setting, and of a script, whose place they leave out.
//! - CONFIG has five names, and answers with them in lower case. A setting has no effect except that
//!   it is reported: nothing is evicted, saved or refused for lack of memory. It survives a restart.
//! - A pattern has no classes (`[a-z]`), and a cursor is digits.
//! - A hash keeps its fields in the order in which they were added, however many they are.
//! - A score is a decimal number (`0x10` is none), and is shown with no more digits than tell it from
//!   others, as in servers from 7.2 on.
//! - A replica's master is never reached: no data arrives. The server stays a replica across a
//!   restart. REPLICAOF does not say whether it followed that master before.
//! - INFO has only the sections and fields that this crate or a test reads.
//! - An expired key counts nowhere. A server's DBSIZE counts it until it is collected.
//! - TIME does not advance within a script, as in servers from 7.2 on.
//! - Scripts have no `cjson`, `bit`, `redis.log`, `redis.sha1hex`, `loadstring` or random numbers, may
//!   not SELECT, and return no RESP3 types of their own. A runaway script is stopped with an error.
//! - There are no passwords, and the server is never loading. Of ACLs there is only what
//!   `Machine::deny` denies.

mod client;
mod collections;
mod command;
mod glob;
mod keys;
mod keyspace;
mod lua;
mod reply;
mod request;
mod server;

use client::Client;
use command::Call;
use keyspace::{DATABASES, Entry, Keyspace, Value, millis};
use lua::Engine;
use reply::Reply;
use server::{Config, micros};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// A connection, counted from 1, and from 1 again after each restart, as in a server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientId(u64);

/// An action that the machine asks for; actions are in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    Send(ClientId, Vec<u8>),
    /// Close the connection; the bytes still to be sent to it come before this.
    Close(ClientId),
}

/// One master: its data, its connections, and its scripts.
///
/// `now` is the time since 1970 on the master's own clock. It may step, as such clocks do.
pub struct Machine {
    process: Process,
    databases: [Keyspace; DATABASES],
    config: Config,
    /// Host and port of the master that it follows.
    follows: Option<(String, u16)>,
    /// The commands that the only user may not run.
    denied: BTreeSet<&'static str>,
    /// It is Valkey 9, as far as its clients can see.
    is_valkey: bool,
    /// The id that was drawn last.
    drawn: String,
}

/// The state that a restart begins anew.
#[derive(Default)]
struct Process {
    run_id: String,
    replication_id: String,
    /// The value of `replication_id` before the server ceased to be a replica.
    former_replication_id: String,
    /// The start, in microseconds since 1970 on the master's own clock; it may be long before 1970.
    started: i64,
    clients: BTreeMap<ClientId, Client>,
    last_client: u64,
    outputs: VecDeque<Output>,
    engine: Engine,
    /// How often each command was executed.
    calls: BTreeMap<&'static str, u64>,
}

impl Machine {
    /// Creates an empty master. Its `run_id` and everything else that is drawn at random follow
    /// from `seed`.
    pub fn new(seed: u64, now: Duration) -> Self {
        let mut machine = Self {
            process: Process::default(),
            databases: Default::default(),
            config: server::default_config(),
            follows: None,
            denied: BTreeSet::new(),
            is_valkey: false,
            drawn: seed.to_string(),
        };
        machine.restart(false, now);
        machine
    }

    /// Ends this process and starts another one: no connections, no loaded scripts, a new `run_id`,
    /// client ids from 1 on. The keys stay if `keep` is set. The operator's decisions stay: the
    /// configuration, the master that it follows, and the denied commands.
    pub fn restart(&mut self, keep: bool, now: Duration) {
        if !keep {
            self.databases = Default::default();
        }
        self.process = Process {
            run_id: self.draw_id(),
            replication_id: self.draw_id(),
            // It was never a replica.
            former_replication_id: "0".repeat(40),
            started: micros(now),
            ..Process::default()
        };
    }

    /// Sets how long the process has been up, in microseconds.
    pub fn set_uptime(&mut self, micros_up: i64, now: Duration) {
        self.process.started = micros(now).saturating_sub(micros_up);
    }

    /// Returns the uptime in microseconds; negative once the clock was set back to before the
    /// start.
    pub fn uptime(&self, now: Duration) -> i64 {
        micros(now).saturating_sub(self.process.started)
    }

    /// Makes it Valkey 9, or Redis again, as an upgrade would.
    pub const fn set_valkey(&mut self, is_valkey: bool) {
        self.is_valkey = is_valkey;
    }

    /// Denies these commands to every client, and no others.
    ///
    /// # Errors
    ///
    /// If one of them can't be denied, with the reason.
    pub fn deny(&mut self, commands: &[&str]) -> Result<(), String> {
        self.denied = command::denied(commands)?;
        Ok(())
    }

    pub fn open(&mut self) -> ClientId {
        self.process.last_client += 1;
        let client = ClientId(self.process.last_client);
        self.process.clients.insert(client, Client::default());
        client
    }

    /// Handles a connection that the other side has closed.
    pub fn close(&mut self, client: ClientId) {
        self.process.clients.remove(&client);
    }

    /// Executes every command that `bytes` complete, at `now`.
    pub fn receive(&mut self, client: ClientId, now: Duration, bytes: &[u8]) {
        if let Some(client) = self.process.clients.get_mut(&client) {
            client.received.extend_from_slice(bytes);
        }
        while let Some(state) = self.process.clients.get_mut(&client) {
            match request::next(&mut state.received) {
                Ok(None) => return,
                Ok(Some(arguments)) => self.execute(client, now, &arguments),
                Err(problem) => {
                    self.answer(client, &Reply::error(problem));
                    self.disconnect(client);
                }
            }
        }
    }

    /// Returns the next action; call it until it returns `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.process.outputs.pop_front()
    }

    /// Returns the string under a key of database 0.
    pub fn value(&self, key: &[u8], now: Duration) -> Option<&[u8]> {
        match &self.entry(key, now)?.value {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the fields and values of the hash under a key of database 0.
    pub fn hash(&self, key: &[u8], now: Duration) -> &[(Vec<u8>, Vec<u8>)] {
        match self.entry(key, now).map(|entry| &entry.value) {
            Some(Value::Hash(hash)) => hash,
            _ => &[],
        }
    }

    /// Returns the members and scores of the sorted set under a key of database 0, in order.
    pub fn sorted_set(&self, key: &[u8], now: Duration) -> &[(Vec<u8>, f64)] {
        match self.entry(key, now).map(|entry| &entry.value) {
            Some(Value::SortedSet(set)) => set,
            _ => &[],
        }
    }

    /// Returns the keys of database 0, in order.
    pub fn keys(&self, now: Duration) -> impl Iterator<Item = &[u8]> {
        self.databases[0].keys(millis(now))
    }

    /// Returns the remaining life of a key of database 0; the longest duration means that it never
    /// expires.
    pub fn time_to_live(&self, key: &[u8], now: Duration) -> Option<Duration> {
        let left = |at: i64| Duration::from_millis((at - millis(now)).unsigned_abs());
        Some(self.entry(key, now)?.expires_at.map_or(Duration::MAX, left))
    }

    fn entry(&self, key: &[u8], now: Duration) -> Option<&Entry> {
        self.databases[0].peek(key, millis(now))
    }

    fn execute(&mut self, client: ClientId, now: Duration, arguments: &[Vec<u8>]) {
        let Some(state) = self.process.clients.get(&client) else { return };
        let reply = self.call(&Call { client, database: state.database, now, arguments }, false);
        self.answer(client, &reply);
    }

    /// Executes a command, which is a connection's own or in a script of it, unless it may not run.
    fn call(&mut self, call: &Call<'_>, in_script: bool) -> Reply {
        let refuse = |words: String, in_scripts: &str| {
            Reply::error(if in_script { in_scripts.to_owned() } else { words })
        };
        let Some(command) = command::lookup(call.arguments, self.is_valkey) else {
            // A server also shows arguments, and says whether the subcommand is to blame.
            let name = call.arguments.first().map(|name| String::from_utf8_lossy(name));
            let words = format!("ERR unknown command '{}'", name.unwrap_or_default());
            return refuse(words, "ERR Unknown Redis command called from script");
        };
        let name = command.name;
        let only_listens = self.process.clients.get(&call.client).is_some_and(Client::only_listens);
        if !command.takes(call.arguments.len()) {
            let in_scripts = "ERR Wrong number of args calling Redis command from script";
            refuse(command::wrong_number(name), in_scripts)
        } else if in_script && !command.in_scripts {
            Reply::error("ERR This Redis command is not allowed from script")
        } else if self.denied.contains(name) {
            let words = format!("NOPERM this user has no permissions to run the '{name}' command");
            refuse(words, "ERR The user executing the script can't run this command or subcommand")
        } else if command.writes && self.follows.is_some() {
            Reply::error("READONLY You can't write against a read only replica.")
        } else if only_listens && !matches!(name, "ping" | "subscribe" | "unsubscribe") {
            Reply::error(format!("ERR Can't execute '{name}': {LISTENS}"))
        } else {
            let reply = (command.run)(self, call);
            *self.process.calls.entry(name).or_default() += 1;
            reply
        }
    }
}

const LISTENS: &str = "only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
                       are allowed in this context";

#[cfg(test)]
mod tests;
