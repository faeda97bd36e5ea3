//! The server's identity, and what it says to its connections.

use super::command::{Call, Command};
use super::reply::Reply;
use super::{ClientId, Machine, Output};
use std::time::Duration;

/// The version whose answers these are.
pub(super) const VERSION: &str = "7.0.15";

/// The other version that it can report in HELLO; then it has `DELIFEQ`.
pub(super) const VALKEY: &str = "9.1.2";

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
