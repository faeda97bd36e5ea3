//! What can happen, picked by chance.

use super::super::super::{Acquire, AttemptId, KeepAlive, RequestId};
use super::super::words::reply;
use super::{Rng, world::World};
use std::sync::atomic::Ordering;
use std::time::Duration;

impl World {
    /// One thing that can happen, picked by chance.
    pub(super) fn step(&mut self, rng: &mut Rng) {
        let node = rng.below(self.masters.len());
        self.stage.jitter.store(rng.next(), Ordering::Relaxed);
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
        let kept = [None, Some(KeepAlive::Forever), Some(KeepAlive::AtMost(ttl * 3))];
        let keep_alive = kept[rng.below(3)];
        self.log.push(format!(
            "acquire {} {key} ttl {ttl:?} wait {wait:?} keep {keep_alive:?}",
            self.last_request
        ));
        self.keys.insert(self.last_request, key.into());
        let acquire = Acquire {
            keys: key.into(),
            fences: None,
            ttl,
            lock_delay: Duration::ZERO,
            wait,
            keep_alive,
            label: None,
        };
        self.stage.acquire(self.last_request, acquire);
    }

    fn cancel(&mut self, rng: &mut Rng) {
        // One of the latest: older ones have their answer.
        let request = self.last_request.saturating_sub(rng.below(3) as u64);
        self.log.push(format!("cancel {request}"));
        self.stage.machine.handle_cancel(RequestId(request));
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
        self.stage.machine.handle_release(self.stage.now, request, attempt, false);
    }

    fn any_hold(&self, rng: &mut Rng) -> Option<(u64, AttemptId)> {
        let holds = &self.stage.holds;
        (!holds.is_empty())
            .then(|| holds.iter().nth(rng.below(holds.len())))?
            .map(|(a, b)| (*a, *b))
    }

    // What the network and the masters do.

    pub(super) fn answer_dial(&mut self, node: usize, reachable: bool) {
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
}
