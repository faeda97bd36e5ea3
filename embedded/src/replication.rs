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
            Some((host, port)) => {
                format!("role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n")
            }
        };
        let (id, former) = (&self.process.replication_id, &self.process.former_replication_id);
        format!(
            "# Replication\r\n{role}connected_slaves:0\r\nmaster_replid:{id}\r\n\
             master_replid2:{former}\r\n"
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
