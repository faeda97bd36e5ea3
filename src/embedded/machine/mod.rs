//! A master as a state machine: bytes and time in, bytes out.
//!
//! It reads no clock, no randomness and no socket: `now` comes with the bytes, ids come from a
//! seed. So it stands behind a TCP port as well as in a simulator, where the same seed gives the
//! same run. It knows the commands that this crate sends and those that a test looks with, and
//! answers them byte for byte as redis-server 7.0 does; everything else is an unknown command.
//!
//! What differs, and is meant to:
//!
//! - An inline command is a protocol error, the options that are not ours are syntax errors
//!   (`SET … XX`), KEYS knows only `*`.
//! - CONFIG has few names, of which four can be set, and of patterns `*` and `?`. What is set has no
//!   effect but to be told: nothing is evicted, saved or refused for want of memory. It outlasts a
//!   restart.
//! - A hash has its fields in the order in which they came, however many they are.
//! - A replica's master is never reached: no data comes, offsets stay where they are. It stays a
//!   replica over a restart.
//! - INFO has the sections and fields that somebody reads.
//! - What has expired counts nowhere, where a server's DBSIZE counts it until it is collected.
//! - TIME stands still within a script, as it does from 7.2 on.
//! - Scripts have no `cjson`, `bit`, `redis.log`, `loadstring` or random numbers, may not SELECT,
//!   and return no RESP3 types of their own. One that runs away is stopped with an error.
//! - There are no passwords, and nothing is ever loading. Of ACLs there is what `Machine::deny`
//!   withholds.

mod client;
mod command;
mod config;
mod hashes;
mod info;
mod keys;
mod keyspace;
mod lua;
mod pubsub;
mod replication;
mod reply;
mod request;
mod rights;
mod script;
mod server;
mod value;

use command::{Call, Run};
use keyspace::{Keyspace, Remaining, millis};
use lua::Engine;
use replication::READONLY;
use reply::Reply;
use server::{Server, micros};
use std::time::Duration;
use value::Value;

/// A connection, counted from 1 and anew after each restart, as a server does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientId(u64);

/// What the machine wants done, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    Send(ClientId, Vec<u8>),
    /// Close the connection; what was to be sent to it is above.
    Close(ClientId),
}

/// One master: what it keeps, who is connected, and its scripts.
///
/// `now` is the time since 1970 on the master's own clock, and may step, as such clocks do.
pub(crate) struct Machine {
    server: Server,
    engine: Engine,
}

impl Machine {
    /// An empty master. Its `run_id` and whatever else is drawn at random follow from `seed`.
    pub(crate) fn new(seed: u64, now: Duration) -> Self {
        Self { server: Server::new(seed, now), engine: Engine::default() }
    }

    /// Ends this process and starts another one: no connections, no loaded scripts, a new
    /// `run_id`, client ids from 1 on. The keys stay if `keep` says so; what the operator decides
    /// stays: the configuration, whom it follows, and what is denied.
    pub(crate) fn restart(&mut self, keep: bool, now: Duration) {
        self.server.restart(keep, now);
        self.engine = Engine::default();
    }

    /// The process has been up for so long, in microseconds.
    pub(crate) fn set_uptime(&mut self, micros_up: i64, now: Duration) {
        self.server.set_uptime(micros_up, micros(now));
    }

    /// In microseconds; less than nothing once the clock was set back behind the start.
    pub(crate) fn uptime(&self, now: Duration) -> i64 {
        self.server.uptime(micros(now))
    }

    /// It is Valkey 9, or Redis again: what an upgrade makes of it.
    #[cfg(test)]
    pub(crate) const fn set_valkey(&mut self, is_valkey: bool) {
        self.server.is_valkey = is_valkey;
    }

    /// Denies these commands to everybody, and no others.
    ///
    /// # Errors
    ///
    /// When one of them can't be denied, and why.
    pub(crate) fn deny(&mut self, commands: &[&str]) -> Result<(), String> {
        self.server.rights.deny(commands)
    }

    pub(crate) fn open(&mut self) -> ClientId {
        self.server.open()
    }

    /// The other side has gone.
    pub(crate) fn close(&mut self, client: ClientId) {
        self.server.clients.remove(&client);
    }

    /// Executes every command that `bytes` complete, at `now`.
    pub(crate) fn receive(&mut self, client: ClientId, now: Duration, bytes: &[u8]) {
        if let Some(client) = self.server.clients.get_mut(&client) {
            client.requests.receive(bytes);
        }
        while let Some(state) = self.server.clients.get_mut(&client) {
            match state.requests.next() {
                Ok(None) => return,
                Ok(Some(arguments)) => self.execute(client, now, &arguments),
                Err(problem) => {
                    self.server.answer(client, &Reply::error(problem));
                    self.server.disconnect(client);
                }
            }
        }
    }

    /// What is to be done next; to be asked until there is nothing.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.server.outputs.pop_front()
    }

    /// The string that stands under a key of database 0.
    pub(crate) fn value(&self, key: &[u8], now: Duration) -> Option<&[u8]> {
        match self.database().peek(key, millis(now))? {
            Value::String(value) => Some(value),
            Value::Hash(_) => None,
        }
    }

    /// The fields of the hash that stands under a key of database 0, and their values.
    #[cfg(test)]
    pub(crate) fn hash(&self, key: &[u8], now: Duration) -> &[(Vec<u8>, Vec<u8>)] {
        match self.database().peek(key, millis(now)) {
            Some(Value::Hash(hash)) => hash.fields(),
            _ => &[],
        }
    }

    /// The keys of database 0, in order.
    pub(crate) fn keys(&self, now: Duration) -> impl Iterator<Item = &[u8]> {
        self.database().keys(millis(now))
    }

    /// The life that a key of database 0 has left; for ever is the longest time there is.
    pub(crate) fn time_to_live(&self, key: &[u8], now: Duration) -> Option<Duration> {
        match self.database().left(key, millis(now)) {
            Remaining::Vacant => None,
            Remaining::Endless => Some(Duration::MAX),
            Remaining::Millis(left) => Some(Duration::from_millis(left.unsigned_abs())),
        }
    }

    fn database(&self) -> &Keyspace {
        &self.server.databases[0]
    }

    fn execute(&mut self, client: ClientId, now: Duration, arguments: &[Vec<u8>]) {
        let Some(state) = self.server.clients.get(&client) else { return };
        let call = Call { client, database: state.database, now, arguments };
        let reply = match command::lookup(arguments) {
            Err(unknown) => Reply::error(unknown),
            Ok(command) if !command.takes(arguments.len()) => {
                let name = command.name;
                Reply::error(format!("ERR wrong number of arguments for '{name}' command"))
            }
            Ok(command) if !self.server.knows(command) => {
                Reply::error(command::unknown(&arguments[0], &arguments[1..]))
            }
            Ok(command) if !self.server.rights.allow(command) => {
                let name = command.name;
                Reply::error(format!(
                    "NOPERM this user has no permissions to run the '{name}' command"
                ))
            }
            Ok(command) if self.server.refuses(command) => Reply::error(READONLY),
            Ok(command) if state.only_listens() && !command.while_listening() => {
                Reply::error(format!("ERR Can't execute '{}': {LISTENS}", command.name))
            }
            Ok(command) => {
                let reply = match command.run {
                    Run::Server(run) => run(&mut self.server, &call),
                    Run::Script(run) => run(&mut self.engine, &mut self.server, &call),
                };
                self.server.count(command);
                reply
            }
        };
        self.server.answer(client, &reply);
    }
}

const LISTENS: &str = "only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
                       are allowed in this context";

#[cfg(test)]
mod tests;
