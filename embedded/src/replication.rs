//! The replication state that a master reports: no data is copied.

use super::command::Call;
use super::reply::Reply;
use super::request::integer;
use super::server::Server;

/// The error for a client that writes to a replica.
pub(super) const READONLY: &str = "READONLY You can't write against a read only replica.";

pub(super) struct Replication {
    id: String,
    /// The value of `id` before the server ceased to be a replica.
    former_id: Option<String>,
    /// Host and port of the master that it follows.
    master: Option<(String, u16)>,
}

impl Replication {
    pub(super) const fn new(id: String) -> Self {
        Self { id, former_id: None, master: None }
    }

    /// Continues in another process, under another id.
    pub(super) fn restarted(&mut self, id: String) {
        self.id = id;
        self.former_id = None;
    }

    pub(super) const fn is_replica(&self) -> bool {
        self.master.is_some()
    }

    /// Returns the section of INFO.
    pub(super) fn section(&self) -> String {
        let role = match &self.master {
            None => "role:master\r\n".to_owned(),
            Some((host, port)) => format!(
                "role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n\
                 master_link_status:down\r\nslave_read_only:1\r\n"
            ),
        };
        let second_offset = if self.former_id.is_some() { 1 } else { -1 };
        let none = "0".repeat(self.id.len());
        format!(
            "# Replication\r\n{role}connected_slaves:0\r\nmaster_failover_state:no-failover\r\n\
             master_replid:{}\r\nmaster_replid2:{}\r\nmaster_repl_offset:0\r\n\
             second_repl_offset:{second_offset}\r\nrepl_backlog_active:0\r\n\
             repl_backlog_size:1048576\r\nrepl_backlog_first_byte_offset:0\r\n\
             repl_backlog_histlen:0\r\n",
            self.id,
            self.former_id.as_ref().unwrap_or(&none),
        )
    }
}

/// Handles `REPLICAOF host port` and `REPLICAOF NO ONE`, which makes it a promoted replica.
pub(super) fn replicaof(server: &mut Server, call: &Call<'_>) -> Reply {
    let (host, port) = (&call.arguments[1], &call.arguments[2]);
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        if server.replication.master.take().is_some() {
            let id = server.draw_id();
            let former = std::mem::replace(&mut server.replication.id, id);
            server.replication.former_id = Some(former);
        }
        return Reply::ok();
    }
    let Some(port) = integer(port).and_then(|port| u16::try_from(port).ok()) else {
        return Reply::error("ERR Invalid master port");
    };
    let host = String::from_utf8_lossy(host).into_owned();
    let is_same = server.replication.master.as_ref().is_some_and(|(followed, its_port)| {
        followed.eq_ignore_ascii_case(&host) && *its_port == port
    });
    if is_same {
        return Reply::Status(b"OK Already connected to specified master".to_vec());
    }
    server.replication.master = Some((host, port));
    Reply::ok()
}
