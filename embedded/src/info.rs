//! The INFO command, with the fields that its readers use.

use super::Machine;
use super::command::Call;
use super::reply::Reply;
use super::server::VERSION;
use std::time::Duration;

type Section = fn(&Machine, Duration) -> String;

/// The sections in the order of the reply, whatever the order of the request.
const SECTIONS: [(&str, Section); 5] = [
    ("server", server_itself),
    ("memory", |machine, _| machine.config.section_memory()),
    ("persistence", |machine, _| machine.config.section_persistence()),
    ("replication", |machine, _| machine.section_replication()),
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

/// Returns the statistics without times: no command here takes any.
fn commandstats(machine: &Machine, _: Duration) -> String {
    let line = |(name, calls): (&&str, &u64)| format!("cmdstat_{name}:calls={calls}\r\n");
    let lines: String = machine.process.calls.iter().map(line).collect();
    format!("# Commandstats\r\n{lines}")
}
