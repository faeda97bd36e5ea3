//! Who the server is, who is connected to it, and what it tells of itself.

use super::client::Client;
use super::command::{Call, Command};
use super::keyspace::{DATABASES, Keyspace};
use super::reply::Reply;
use super::{ClientId, Output};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The version whose answers these are.
pub(super) const VERSION: &str = "7.0.15";

/// What persistence and eviction look like to who asks: all defaults, nothing saved.
const CONFIG: [(&str, &str); 5] = [
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("save", ""),
];

/// All of a master but its scripts, which can reach it.
pub(super) struct Server {
    pub(super) databases: Vec<Keyspace>,
    pub(super) clients: BTreeMap<ClientId, Client>,
    pub(super) outputs: VecDeque<Output>,
    /// How often each command was executed.
    calls: BTreeMap<&'static str, u64>,
    last_client: u64,
    run_id: String,
    replication_id: String,
    started: Duration,
    random: u64,
}

impl Server {
    pub(super) fn new(seed: u64, now: Duration) -> Self {
        let mut server = Self {
            databases: Vec::new(),
            clients: BTreeMap::new(),
            outputs: VecDeque::new(),
            calls: BTreeMap::new(),
            last_client: 0,
            run_id: String::new(),
            replication_id: String::new(),
            started: now,
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
        self.replication_id = self.draw_id();
        self.started = now;
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

    /// Notes that a command was executed.
    pub(super) fn count(&mut self, command: &Command) {
        *self.calls.entry(command.name).or_default() += 1;
    }

    /// Forty hex digits.
    fn draw_id(&mut self) -> String {
        let digits: String = (0..3).map(|_| format!("{:016x}", self.draw())).collect();
        digits[..40].to_owned()
    }

    /// `SplitMix64`.
    const fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The fields of this section that somebody reads.
    fn section_server(&self, now: Duration) -> String {
        let up = now.saturating_sub(self.started).as_secs();
        format!(
            "# Server\r\nredis_version:{VERSION}\r\nredis_mode:standalone\r\nrun_id:{}\r\n\
             server_time_usec:{}\r\nuptime_in_seconds:{up}\r\nuptime_in_days:{}\r\n",
            self.run_id,
            now.as_micros(),
            up / 86_400,
        )
    }

    fn section_replication(&self) -> String {
        format!(
            "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\
             master_failover_state:no-failover\r\nmaster_replid:{}\r\nmaster_replid2:{:040}\r\n\
             master_repl_offset:0\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:0\r\n\
             repl_backlog_size:1048576\r\nrepl_backlog_first_byte_offset:0\r\n\
             repl_backlog_histlen:0\r\n",
            self.replication_id, 0,
        )
    }

    /// Without the times: nothing here takes any.
    fn section_commandstats(&self) -> String {
        let line = |(name, calls): (&&str, &u64)| format!("cmdstat_{name}:calls={calls}\r\n");
        let lines: String = self.calls.iter().map(line).collect();
        format!("# Commandstats\r\n{lines}")
    }
}

/// `INFO [section ...]`: server, replication and commandstats are all there is.
pub(super) fn info(server: &mut Server, call: &Call<'_>) -> Reply {
    let wanted = |names: &[&str]| {
        let named = |argument: &Vec<u8>| {
            let argument = argument.to_ascii_lowercase();
            names.iter().any(|name| name.as_bytes() == argument)
        };
        call.arguments[1..].iter().any(named)
    };
    let all = wanted(&["all", "everything"]);
    let default = all || call.arguments.len() == 1 || wanted(&["default"]);
    let sections = [
        (default || wanted(&["server"])).then(|| server.section_server(call.now)),
        (default || wanted(&["replication"])).then(|| server.section_replication()),
        (all || wanted(&["commandstats"])).then(|| server.section_commandstats()),
    ];
    let sections: Vec<String> = sections.into_iter().flatten().collect();
    Reply::Text(sections.join("\r\n").into())
}

pub(super) fn time(_: &mut Server, call: &Call<'_>) -> Reply {
    let (seconds, micros) = (call.now.as_secs(), call.now.subsec_micros());
    Reply::Array(vec![Reply::bulk(seconds.to_string()), Reply::bulk(micros.to_string())])
}

/// `CONFIG GET name ...`, by whole names.
pub(super) fn config_get(_: &mut Server, call: &Call<'_>) -> Reply {
    let mut fields = BTreeMap::new();
    for name in &call.arguments[2..] {
        let lower = name.to_ascii_lowercase();
        if let Some((_, value)) = CONFIG.iter().find(|(known, _)| known.as_bytes() == lower) {
            fields.entry(lower).or_insert((name.clone(), *value));
        }
    }
    let fields = fields.into_values();
    Reply::Map(fields.map(|(name, value)| (Reply::bulk(name), Reply::bulk(value))).collect())
}

/// `CLIENT`, `CONFIG` and `SCRIPT` do nothing by themselves.
pub(super) fn nothing(_: &mut Server, _: &Call<'_>) -> Reply {
    Reply::Null
}
