//! The server's identity, what it says to its connections, and what INFO reports: no data is copied to replicas.

use super::command::{Call, Command};
use super::reply::Reply;
use super::request::integer;
use super::{ClientId, Machine, Output};
use std::time::Duration;

/// The version whose answers these are.
pub(super) const VERSION: &str = "7.0.15";

/// The other version that it can report in HELLO; then it has `DELIFEQ`.
pub(super) const VALKEY: &str = "9.1.2";

/// The error for a client that writes to a replica.
pub(super) const READONLY: &str = "READONLY You can't write against a read only replica.";

impl Machine {
    pub(super) fn answer(&mut self, to: ClientId, reply: &Reply) {
        let Some(client) = self.process.clients.get(&to) else { return };
        let resp3 = client.resp3;
        match self.process.outputs.back_mut() {
            Some(Output::Send(last, bytes)) if *last == to => reply.encode(resp3, bytes),
            _ => {
                let mut bytes = Vec::new();
                reply.encode(resp3, &mut bytes);
                self.process.outputs.push_back(Output::Send(to, bytes));
            }
        }
    }

    /// Closes a connection from this side; `true` if there was one.
    pub(super) fn disconnect(&mut self, client: ClientId) -> bool {
        let was_there = self.process.clients.remove(&client).is_some();
        if was_there {
            self.process.outputs.push_back(Output::Close(client));
        }
        was_there
    }

    /// Returns whether the server refuses the command: a write, on a replica.
    pub(super) const fn refuses(&self, command: &Command) -> bool {
        command.writes && self.follows.is_some()
    }

    /// Returns the uptime as a server counts it: up by one whenever a second begins.
    pub(super) fn whole_seconds_up(&self, now: Duration) -> i64 {
        micros(now).div_euclid(1_000_000) - self.process.started.div_euclid(1_000_000)
    }

    /// Draws an id of forty hex digits, from the one before it.
    pub(super) fn draw_id(&mut self) -> String {
        self.drawn = sha1_smol::Sha1::from(&self.drawn).digest().to_string();
        self.drawn.clone()
    }
}

pub(super) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn time(_: &mut Machine, call: &Call<'_>) -> Reply {
    let (seconds, micros) = (call.now.as_secs(), call.now.subsec_micros());
    Reply::Array(vec![Reply::bulk(seconds.to_string()), Reply::bulk(micros.to_string())])
}

type Section = fn(&Machine, Duration) -> String;

/// The sections in the order of the reply, whatever the order of the request.
const SECTIONS: [(&str, Section); 5] = [
    ("server", server_itself),
    ("memory", memory),
    ("persistence", persistence),
    ("replication", replication),
    (COMMANDSTATS, commandstats),
];

/// A section that is shown only if it is named.
const COMMANDSTATS: &str = "commandstats";

/// `INFO [section ...]`
pub(super) fn info(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let is_wanted = |name: &str| match &call.arguments[1..] {
        [] => name != COMMANDSTATS,
        named => named.iter().any(|word| word.eq_ignore_ascii_case(name.as_bytes())),
    };
    let sections = SECTIONS.iter().filter(|(name, _)| is_wanted(name));
    let sections: Vec<String> = sections.map(|(_, section)| section(machine, call.now)).collect();
    Reply::Text(sections.join("\r\n").into())
}

fn server_itself(machine: &Machine, now: Duration) -> String {
    format!(
        "# Server\r\nredis_version:{VERSION}\r\nredis_mode:standalone\r\nrun_id:{}\r\n\
         uptime_in_seconds:{}\r\n",
        machine.process.run_id,
        machine.whole_seconds_up(now),
    )
}

fn memory(machine: &Machine, _: Duration) -> String {
    let (most, policy) = (&machine.config["maxmemory"], &machine.config["maxmemory-policy"]);
    format!("# Memory\r\nmaxmemory:{most}\r\nmaxmemory_policy:{policy}\r\n")
}

fn persistence(machine: &Machine, _: Duration) -> String {
    let appends = u8::from(machine.config["appendonly"] == "yes");
    format!("# Persistence\r\nloading:0\r\naof_enabled:{appends}\r\n")
}

fn replication(machine: &Machine, _: Duration) -> String {
    let role = match &machine.follows {
        None => "role:master\r\n".to_owned(),
        Some((host, port)) => format!("role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n"),
    };
    let (id, former) = (&machine.process.replication_id, &machine.process.former_replication_id);
    format!(
        "# Replication\r\n{role}connected_slaves:0\r\nmaster_replid:{id}\r\n\
         master_replid2:{former}\r\n"
    )
}

/// Returns the statistics without times: no command here takes any.
fn commandstats(machine: &Machine, _: Duration) -> String {
    let line = |(name, calls): (&&str, &u64)| format!("cmdstat_{name}:calls={calls}\r\n");
    let lines: String = machine.process.calls.iter().map(line).collect();
    format!("# Commandstats\r\n{lines}")
}

/// Handles `REPLICAOF host port` and `REPLICAOF NO ONE`, which makes it a promoted replica.
pub(super) fn replicaof(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (host, port) = (&call.arguments[1], &call.arguments[2]);
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        if machine.follows.take().is_some() {
            let id = machine.draw_id();
            let former = std::mem::replace(&mut machine.process.replication_id, id);
            machine.process.former_replication_id = former;
        }
        return Reply::ok();
    }
    let Some(port) = integer(port).and_then(|port| u16::try_from(port).ok()) else {
        return Reply::error("ERR Invalid master port");
    };
    machine.follows = Some((String::from_utf8_lossy(host).into_owned(), port));
    Reply::ok()
}
