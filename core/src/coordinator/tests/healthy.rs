//! Masters without a fault and without a key.

use super::stage::{NOTHING_LEFT, Stage};
use super::words::reply;
use crate::shared::RequestId;
use std::time::Duration;

impl Stage {
    /// Plays the handshake of a healthy master, up to the kill of a predecessor.
    pub(super) fn greets(&mut self, node: usize) {
        let dialled = self.wires[node].unseen.pop_front();
        assert_eq!(dialled.as_deref(), Some("DIAL"), "n{} was not dialled", node + 1);
        self.connects(node);
        self.pump();
        let first = self.wires[node].unseen.front().map_or("", String::as_str);
        assert!(first.starts_with("HELLO "), "n{} was sent {first} first", node + 1);
        let hellos = self.wires[node].unseen.len();
        for _ in 0..hellos {
            let asked = self.wires[node].unseen.pop_front().unwrap_or_default();
            let answer = self.answer(node, &asked);
            self.says(node, &reply(&answer));
            self.pump();
        }
    }

    /// Returns the answer of a healthy master with no key.
    pub(super) fn answer(&self, node: usize, asked: &str) -> String {
        let wire = &self.wires[node];
        match asked.split(' ').next().unwrap_or_default() {
            "HELLO" => format!("hello {}", wire.client_id),
            "INFO" if asked.ends_with("server") => format!("server {}", wire.run_id),
            "INFO" if asked.ends_with("memory") => "memory".into(),
            "INFO" => "master".into(),
            "EVAL" if asked.starts_with("EVAL agree") => "confirmed".into(),
            "SCRIPT" => "text c0ffee".into(),
            "SELECT" => "ok".into(),
            "SET" => "nil".into(),
            "EVAL" if asked.starts_with("EVAL look") => "-2".into(),
            "SUBSCRIBE" | "UNSUBSCRIBE" => "-NOPERM no".into(),
            "EVALSHA" if asked.starts_with("EVALSHA acquire") => "ok".into(),
            "EVAL" | "EVALSHA" | "DELIFEQ" | "DELEX" | "PUBLISH" => "0".into(),
            "CONFIG" => {
                "config appendonly yes appendfsync always no-appendfsync-on-rewrite no".into()
            }
            "CLIENT" => "1".into(),
            _ => panic!("no master answers {asked}"),
        }
    }

    /// Ends everything: all callers go away, every master is healthy, and nothing may be left.
    pub(super) fn clear(&mut self) {
        for request in std::mem::take(&mut self.asked) {
            self.machine.handle_cancel(self.now, RequestId(request));
        }
        for (_, hold) in std::mem::take(&mut self.holds) {
            self.machine.handle_release(self.now, None, hold, false);
        }
        // Whatever is unanswered now never will be: every connection is replaced.
        for node in 0..self.wires.len() {
            self.wires[node].room = None;
            self.wires[node].run_id = format!("cleared{node}");
            // This ends a dial as well as a connection.
            self.breaks(node);
        }
        for _ in 0..600 {
            self.pump();
            self.unseen.clear();
            if self.left() == NOTHING_LEFT {
                return;
            }
            for node in 0..self.wires.len() {
                while let Some(asked) = self.wires[node].unseen.pop_front() {
                    if asked == "DIAL" {
                        self.connects(node);
                    } else if asked != "CLOSE" {
                        let answer = self.answer(node, &asked);
                        self.says(node, &reply(&answer));
                    }
                    self.pump();
                }
            }
            self.pass(Duration::from_millis(100));
        }
        panic!("once everything is over there are still {}", self.left());
    }
}
