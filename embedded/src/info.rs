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

/// A section that is shown only if it is named, or for `all`.
const COMMANDSTATS: &str = "commandstats";

/// `INFO [section ...]`
pub(super) fn info(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let wanted = |names: &[&str]| {
        let named = |argument: &Vec<u8>| {
            let argument = argument.to_ascii_lowercase();
            names.iter().any(|name| name.as_bytes() == argument)
        };
        call.arguments[1..].iter().any(named)
    };
    let all = wanted(&["all", "everything"]);
    let default = all || call.arguments.len() == 1 || wanted(&["default"]);
    let included = |name| (if name == COMMANDSTATS { all } else { default }) || wanted(&[name]);
    let sections = SECTIONS.iter().filter(|(name, _)| included(*name));
    let sections: Vec<String> = sections.map(|(_, section)| section(machine, call.now)).collect();
    Reply::Text(sections.join("\r\n").into())
}

fn server_itself(machine: &Machine, now: Duration) -> String {
    let up = machine.whole_seconds_up(now);
    format!(
        "# Server\r\nredis_version:{VERSION}\r\nredis_mode:standalone\r\nrun_id:{}\r\n\
         server_time_usec:{}\r\nuptime_in_seconds:{up}\r\nuptime_in_days:{}\r\n",
        machine.process.run_id,
        now.as_micros(),
        up / 86_400,
    )
}

/// Returns the statistics without times: no command here takes any.
fn commandstats(machine: &Machine, _: Duration) -> String {
    let line = |(name, calls): (&&str, &u64)| format!("cmdstat_{name}:calls={calls}\r\n");
    let lines: String = machine.process.calls.iter().map(line).collect();
    format!("# Commandstats\r\n{lines}")
}
