//! The replication state that a master reports: no data is copied.

use super::Machine;
use super::command::Call;
use super::reply::Reply;
use super::request::integer;

/// The error for a client that writes to a replica.
pub(super) const READONLY: &str = "READONLY You can't write against a read only replica.";

impl Machine {
    /// Returns the section of INFO.
    pub(super) fn section_replication(&self) -> String {
        let role = match &self.follows {
            None => "role:master\r\n".to_owned(),
            Some((host, port)) => format!(
                "role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n\
                 master_link_status:down\r\nslave_read_only:1\r\n"
            ),
        };
        let (id, former) = (&self.process.replication_id, &self.process.former_replication_id);
        let second_offset = if former.is_some() { 1 } else { -1 };
        let none = "0".repeat(id.len());
        format!(
            "# Replication\r\n{role}connected_slaves:0\r\nmaster_failover_state:no-failover\r\n\
             master_replid:{}\r\nmaster_replid2:{}\r\nmaster_repl_offset:0\r\n\
             second_repl_offset:{second_offset}\r\nrepl_backlog_active:0\r\n\
             repl_backlog_size:1048576\r\nrepl_backlog_first_byte_offset:0\r\n\
             repl_backlog_histlen:0\r\n",
            id,
            former.as_ref().unwrap_or(&none),
        )
    }
}

/// Handles `REPLICAOF host port` and `REPLICAOF NO ONE`, which makes it a promoted replica.
pub(super) fn replicaof(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (host, port) = (&call.arguments[1], &call.arguments[2]);
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        if machine.follows.take().is_some() {
            let id = machine.draw_id();
            let former = std::mem::replace(&mut machine.process.replication_id, id);
            machine.process.former_replication_id = Some(former);
        }
        return Reply::ok();
    }
    let Some(port) = integer(port).and_then(|port| u16::try_from(port).ok()) else {
        return Reply::error("ERR Invalid master port");
    };
    let host = String::from_utf8_lossy(host).into_owned();
    let is_same = machine.follows.as_ref().is_some_and(|(followed, its_port)| {
        followed.eq_ignore_ascii_case(&host) && *its_port == port
    });
    if is_same {
        return Reply::Status(b"OK Already connected to specified master".to_vec());
    }
    machine.follows = Some((host, port));
    Reply::ok()
}
