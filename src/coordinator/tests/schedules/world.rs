//! The machine among masters that execute, and a network that delivers when it likes.

use super::super::super::{Acquire, Event, RequestId};
use super::super::stage::{NOTHING_LEFT, Stage};
use super::super::words::reply;
use super::{Rng, master::Master};
use crate::address::Login;
use crate::quorum::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A lock that was won and not given back.
struct Held {
    key: String,
    token: String,
    deadline: Instant,
}

/// The client's end of one connection.
#[derive(Default)]
struct Line {
    dialling: bool,
    /// The server's id of the connection; none while there is no connection.
    id: Option<i64>,
    /// Replies on their way back.
    replies: VecDeque<u8>,
}

pub(super) struct World {
    pub(super) stage: Stage,
    masters: Vec<Master>,
    lines: Vec<Line>,
    quorum: usize,
    last_request: u64,
    keys: BTreeMap<u64, String>,
    held: BTreeMap<u64, Held>,
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

    /// One thing that can happen, picked by chance.
    pub(super) fn step(&mut self, rng: &mut Rng) {
        let node = rng.below(self.masters.len());
        match rng.below(100) {
            0..4 => self.acquire(rng),
            4 => self.cancel(rng),
            5..7 => self.extend(rng),
            7..9 => self.give_back(rng),
            9 => self.lose_connection(node),
            10 if rng.below(4) == 0 => self.restart(node),
            11 if rng.below(4) == 0 => self.masters[node].flush_scripts(),
            12 => self.stage.wires[node].room = Some(rng.below(200)),
            13..16 => self.stage.wires[node].room = None,
            16..22 => self.answer_dial(node, rng.below(4) != 0),
            22..55 => self.execute(node, rng),
            55..90 => self.deliver(node, rng),
            90..98 => self.stage.pass(Duration::from_micros(rng.below(20_000) as u64)),
            _ => self.stage.pass(Duration::from_millis(rng.below(300) as u64)),
        }
        self.carry();
        self.check();
    }

    // What callers do.

    fn acquire(&mut self, rng: &mut Rng) {
        self.last_request += 1;
        let key = ["a", "b"][rng.below(2)];
        let ttl = Duration::from_millis([300, 60_000][rng.below(2)]);
        let wait = Some(Duration::from_millis([0, 50, 2_000][rng.below(3)]));
        self.log.push(format!("acquire {} {key} ttl {ttl:?} wait {wait:?}", self.last_request));
        self.keys.insert(self.last_request, key.into());
        self.stage.acquire(self.last_request, Acquire { key: key.into(), ttl, wait });
    }

    fn cancel(&mut self, rng: &mut Rng) {
        // One of the latest: older ones have their answer.
        let request = self.last_request.saturating_sub(rng.below(3) as u64);
        self.log.push(format!("cancel {request}"));
        self.stage.machine.handle_cancel(self.stage.now, RequestId(request));
    }

    fn extend(&mut self, rng: &mut Rng) {
        let Some((won, attempt)) = self.any_hold(rng) else { return };
        self.last_request += 1;
        self.log.push(format!("extend {} of {won}", self.last_request));
        self.keys.insert(self.last_request, format!("={won}"));
        self.stage.machine.handle_extend(self.stage.now, RequestId(self.last_request), attempt);
    }

    fn give_back(&mut self, rng: &mut Rng) {
        let Some((won, attempt)) = self.any_hold(rng) else { return };
        self.last_request += 1;
        let request = (rng.below(2) == 0).then_some(RequestId(self.last_request));
        self.log.push(format!("release {request:?} of {won}"));
        self.stage.holds.remove(&won);
        self.held.remove(&won);
        self.stage.machine.handle_release(self.stage.now, request, attempt);
    }

    fn any_hold(&self, rng: &mut Rng) -> Option<(u64, super::super::super::AttemptId)> {
        let holds = &self.stage.holds;
        (!holds.is_empty())
            .then(|| holds.iter().nth(rng.below(holds.len())))?
            .map(|(a, b)| (*a, *b))
    }

    // What the network and the masters do.

    fn answer_dial(&mut self, node: usize, reachable: bool) {
        if !std::mem::take(&mut self.lines[node].dialling) {
            return;
        }
        if reachable {
            self.lines[node].id = Some(self.masters[node].accept());
            self.stage.connects(node);
        } else {
            let epoch = self.stage.wires[node].epoch;
            self.stage.machine.handle_dial_failed(self.stage.now, node, epoch, "refused");
        }
    }

    /// Also what was written to a connection that the client has given up is executed, some day.
    fn execute(&mut self, node: usize, rng: &mut Rng) {
        let master = &mut self.masters[node];
        if master.connections.is_empty() {
            return;
        }
        let place = rng.below(master.connections.len());
        let id = master.connections[place].id;
        for _ in 0..=rng.below(4) {
            let Some(told) = master.execute(self.stage.now, id) else { return };
            if self.lines[node].id == Some(id) {
                self.lines[node].replies.extend(reply(&told));
            }
        }
    }

    fn deliver(&mut self, node: usize, rng: &mut Rng) {
        let waiting = self.lines[node].replies.len();
        let len = if rng.below(3) == 0 { rng.below(waiting + 1) } else { waiting };
        let bytes: Vec<u8> = self.lines[node].replies.drain(..len).collect();
        if !bytes.is_empty() {
            self.stage.says(node, &bytes);
        }
    }

    fn lose_connection(&mut self, node: usize) {
        if self.lines[node].id.take().is_some() {
            self.log.push(format!("n{} is lost", node + 1));
            self.lines[node].replies.clear();
            self.stage.breaks(node);
        }
    }

    /// The client finds out by silence, or when it happens to lose the connection.
    fn restart(&mut self, node: usize) {
        self.log.push(format!("n{} restarts", node + 1));
        self.masters[node].restart();
        self.lines[node].replies.clear();
        if self.lines[node].id.is_some() {
            self.lines[node].id = Some(-1);
        }
    }

    /// Takes what the machine has written to the masters, and notes what it has decided.
    fn carry(&mut self) {
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
            Event::Acquired { request, attempt, deadline } => {
                let token = self.stage.token(attempt);
                let key = self.keys[&request.0].clone();
                self.held.insert(request.0, Held { key, token, deadline });
            }
            Event::Extended { request, result: Ok(deadline), .. } => {
                let won: u64 = self.keys[&request.0][1..].parse().expect("a request");
                // A guard that was given back meanwhile has nothing to do with it any more.
                if let Some(held) = self.held.get_mut(&won) {
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
    fn check(&self) {
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

    /// Everybody goes and every fault ends: nothing may be left, anywhere.
    pub(super) fn settle(&mut self, rng: &mut Rng) {
        for request in 0..=self.last_request {
            self.stage.machine.handle_cancel(self.stage.now, RequestId(request));
        }
        for (_, hold) in std::mem::take(&mut self.stage.holds) {
            self.stage.machine.handle_release(self.stage.now, None, hold);
        }
        self.held.clear();
        for _ in 0..3_000 {
            self.carry();
            self.heal();
            if self.stage.left() == NOTHING_LEFT {
                return self.find_orphans(rng);
            }
            self.stage.pass(Duration::from_millis(5));
        }
        panic!("once everything is over there are still {}", self.stage.left());
    }

    /// Delivers everything on the connections that live. Those that were given up stay as they
    /// are: whoever has forgotten to kill one finds its commands executed in the end.
    pub(super) fn heal(&mut self) {
        for node in 0..self.masters.len() {
            self.stage.wires[node].room = None;
            self.stage.pump();
            self.carry();
            self.answer_dial(node, true);
            self.carry();
            let Some(id) = self.lines[node].id else { continue };
            while let Some(told) = self.masters[node].execute(self.stage.now, id) {
                self.lines[node].replies.extend(reply(&told));
            }
            let bytes: Vec<u8> = self.lines[node].replies.drain(..).collect();
            self.stage.says(node, &bytes);
            self.carry();
        }
    }

    fn find_orphans(&mut self, rng: &mut Rng) {
        for (node, master) in self.masters.iter_mut().enumerate() {
            while !master.connections.is_empty() {
                let place = rng.below(master.connections.len());
                let id = master.connections[place].id;
                while master.execute(self.stage.now, id).is_some() {}
                master.connections.retain(|one| one.id != id);
            }
            let orphans = master.all_keys(self.stage.now);
            assert!(orphans.is_empty(), "n{} keeps {orphans:?}", node + 1);
        }
    }
}
