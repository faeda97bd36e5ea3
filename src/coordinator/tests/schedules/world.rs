//! The machine among masters that execute, and a network that delivers when it likes.

use super::super::super::Event;
use super::super::stage::Stage;
use super::master::Master;
use crate::address::Login;
use crate::quorum::Instant;
use std::collections::{BTreeMap, VecDeque};

/// A lock that was won and not given back.
pub(super) struct Held {
    key: String,
    token: String,
    deadline: Instant,
}

/// The client's end of one connection.
#[derive(Default)]
pub(super) struct Line {
    pub(super) dialling: bool,
    /// The server's id of the connection; none while there is no connection.
    pub(super) id: Option<i64>,
    /// Replies on their way back.
    pub(super) replies: VecDeque<u8>,
}

pub(super) struct World {
    pub(super) stage: Stage,
    pub(super) masters: Vec<Master>,
    pub(super) lines: Vec<Line>,
    quorum: usize,
    pub(super) last_request: u64,
    pub(super) keys: BTreeMap<u64, String>,
    pub(super) held: BTreeMap<u64, Held>,
    pub(super) log: Vec<String>,
}

impl World {
    pub(super) fn new(masters: usize) -> Self {
        let mut world = Self {
            stage: Stage::new(masters, &Login::default()),
            masters: (0..masters).map(Master::new).collect(),
            lines: (0..masters).map(|_| Line::default()).collect(),
            quorum: masters / 2 + 1,
            last_request: 0,
            keys: BTreeMap::new(),
            held: BTreeMap::new(),
            log: Vec::new(),
        };
        world.carry();
        world
    }

    /// Takes what the machine has written to the masters, and notes what it has decided.
    pub(super) fn carry(&mut self) {
        self.stage.pump();
        for node in 0..self.masters.len() {
            while let Some(word) = self.stage.wires[node].unseen.pop_front() {
                match word.as_str() {
                    "DIAL" => self.lines[node].dialling = true,
                    "CLOSE" => {
                        self.lines[node].id = None;
                        self.lines[node].replies.clear();
                    }
                    _ => {
                        let id = self.lines[node].id.expect("a connection to send over");
                        if let Some(connection) = self.masters[node].connection(id) {
                            connection.commands.push_back(word);
                        }
                    }
                }
            }
        }
        self.log.extend(self.stage.unseen.drain(..));
        for event in std::mem::take(&mut self.stage.events) {
            self.note(event);
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Acquired { request, attempt, deadline, .. } => {
                let token = self.stage.token(attempt);
                let key = self.keys[&request.0].clone();
                self.held.insert(request.0, Held { key, token, deadline });
            }
            Event::Extended { attempt, result: Ok(deadline), .. } => {
                let won = self.stage.holds.iter().find(|(_, one)| **one == attempt);
                let won = won.map(|(won, _)| *won);
                // A guard that was given back meanwhile has nothing to do with it any more.
                if let Some(held) = won.and_then(|won| self.held.get_mut(&won)) {
                    assert!(deadline >= held.deadline, "a deadline moved back");
                    held.deadline = deadline;
                }
            }
            Event::Lost { attempt, .. } => {
                let won = self.stage.holds.iter().find(|(_, one)| **one == attempt);
                let won = won.map(|(won, _)| *won);
                won.and_then(|won| self.held.remove(&won));
            }
            _ => {}
        }
    }

    // What must be true.

    /// A lock that is held stands on a quorum until its deadline, and so has one holder.
    pub(super) fn check(&self) {
        let now = self.stage.now;
        let valid: Vec<_> = self.held.iter().filter(|(_, held)| now < held.deadline).collect();
        for (place, (won, held)) in valid.iter().enumerate() {
            let stands = |one: &&Master| one.holder(now, &held.key) == Some(&held.token);
            let on = self.masters.iter().filter(stands).count();
            assert!(on >= self.quorum, "{won} is held on {on} masters");
            let twice = valid[place + 1..].iter().find(|(_, other)| other.key == held.key);
            assert!(
                twice.is_none(),
                "{won} and {:?} both hold {}",
                twice.map(|two| two.0),
                held.key
            );
        }
    }
}
