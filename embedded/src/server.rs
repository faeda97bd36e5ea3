//! The server's identity, and the connections to it.

use super::client::Client;
use super::command::{Call, Command};
use super::config::Config;
use super::keyspace::{DATABASES, Keyspace};
use super::replication::Replication;
use super::reply::Reply;
use super::rights::Rights;
use super::{ClientId, Output};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The version whose answers these are.
pub(super) const VERSION: &str = "7.0.15";

/// The other version that it can report in HELLO; then it has `DELIFEQ`.
pub(super) const VALKEY: &str = "9.1.2";

/// A master without its scripts, which can reach it.
pub(super) struct Server {
    pub(super) databases: Vec<Keyspace>,
    pub(super) clients: BTreeMap<ClientId, Client>,
    pub(super) outputs: VecDeque<Output>,
    pub(super) config: Config,
    pub(super) replication: Replication,
    pub(super) rights: Rights,
    /// The server is Valkey 9, as far as its clients can see.
    pub(super) is_valkey: bool,
    /// How often each command was executed.
    pub(super) calls: BTreeMap<&'static str, u64>,
    last_client: u64,
    pub(super) run_id: String,
    /// The start, in microseconds since 1970 on the master's own clock; it may be long before 1970.
    started: i64,
    random: u64,
}

impl Server {
    pub(super) fn new(seed: u64, now: Duration) -> Self {
        let mut server = Self {
            databases: Vec::new(),
            clients: BTreeMap::new(),
            outputs: VecDeque::new(),
            config: Config::default(),
            replication: Replication::new(String::new()),
            rights: Rights::default(),
            is_valkey: false,
            calls: BTreeMap::new(),
            last_client: 0,
            run_id: String::new(),
            started: 0,
            random: seed,
        };
        server.restart(false, now);
        server
    }

    pub(super) fn restart(&mut self, keep: bool, now: Duration) {
        if !keep {
            self.databases = std::iter::repeat_with(Keyspace::default).take(DATABASES).collect();
        }
        self.clients.clear();
        self.outputs.clear();
        self.calls.clear();
        self.last_client = 0;
        self.run_id = self.draw_id();
        let replication_id = self.draw_id();
        self.replication.restarted(replication_id);
        self.started = micros(now);
    }

    pub(super) fn open(&mut self) -> ClientId {
        self.last_client += 1;
        let client = ClientId(self.last_client);
        self.clients.insert(client, Client::default());
        client
    }

    pub(super) fn answer(&mut self, to: ClientId, reply: &Reply) {
        let Some(client) = self.clients.get(&to) else { return };
        let protocol = client.protocol;
        match self.outputs.back_mut() {
            Some(Output::Send(last, bytes)) if *last == to => reply.encode(protocol, bytes),
            _ => {
                let mut bytes = Vec::new();
                reply.encode(protocol, &mut bytes);
                self.outputs.push_back(Output::Send(to, bytes));
            }
        }
    }

    /// Closes a connection from this side; `true` if there was one.
    pub(super) fn disconnect(&mut self, client: ClientId) -> bool {
        let was_there = self.clients.remove(&client).is_some();
        if was_there {
            self.outputs.push_back(Output::Close(client));
        }
        was_there
    }

    /// Returns whether this kind of server has the command.
    pub(super) const fn knows(&self, command: &Command) -> bool {
        self.is_valkey || !command.is_valkeys
    }

    /// Returns whether the server refuses the command: a write, on a replica.
    pub(super) const fn refuses(&self, command: &Command) -> bool {
        command.writes && self.replication.is_replica()
    }

    /// Notes that a command was executed.
    pub(super) fn count(&mut self, command: &Command) {
        *self.calls.entry(command.name).or_default() += 1;
    }

    pub(super) const fn set_uptime(&mut self, micros_up: i64, now: i64) {
        self.started = now.saturating_sub(micros_up);
    }

    /// Returns the uptime in microseconds on the master's own clock: negative if that was set back.
    pub(super) const fn uptime(&self, now: i64) -> i64 {
        now.saturating_sub(self.started)
    }

    /// Returns the uptime as a server counts it: up by one whenever a second begins.
    pub(super) fn whole_seconds_up(&self, now: Duration) -> i64 {
        micros(now).div_euclid(1_000_000) - self.started.div_euclid(1_000_000)
    }

    /// Draws an id of forty hex digits.
    pub(super) fn draw_id(&mut self) -> String {
        let digits: String = (0..3).map(|_| format!("{:016x}", self.draw())).collect();
        digits[..40].to_owned()
    }

    /// Draws a number with `SplitMix64`.
    const fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

pub(super) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn time(_: &mut Server, call: &Call<'_>) -> Reply {
    let (seconds, micros) = (call.now.as_secs(), call.now.subsec_micros());
    Reply::Array(vec![Reply::bulk(seconds.to_string()), Reply::bulk(micros.to_string())])
}

/// `CLIENT`, `CONFIG`, `PUBSUB` and `SCRIPT` do nothing by themselves.
pub(super) fn nothing(_: &mut Server, _: &Call<'_>) -> Reply {
    Reply::Null
}
