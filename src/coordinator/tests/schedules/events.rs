//! What can happen, picked by chance.

use super::super::super::{Acquire, KeepAlive};
use super::super::script::keys;
use super::super::words::reply;
use super::Rng;
use super::client::Asked;
use super::invariants::FENCE;
use super::setup::Flaw;
use super::world::{World, name};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const fn millis(millis: usize) -> Duration {
    Duration::from_millis(millis as u64)
}

impl World {
    /// One thing that can happen, picked by chance.
    pub(super) fn step(&mut self, rng: &mut Rng) {
        let (node, place) = (rng.below(self.masters.len()), rng.below(self.clients.len()));
        self.clients[place].stage.jitter.store(rng.next(), Ordering::Relaxed);
        match rng.below(1_000) {
            100..122 | 970.. if self.setup.calm => self.flow(place),
            0..40 => self.acquire(place, rng),
            40..46 => self.cancel(place, rng),
            46..70 => self.extend(place, rng),
            70..84 => self.give_back(place, rng),
            84..87 => self.leave(place, rng),
            87..95 => self.inspect(place, rng),
            95..100 => self.force_release(place),
            100..110 => {
                self.log.push(format!("{} loses n{}", name(place), node + 1));
                self.clients[place].loses_connection(node);
            }
            110..115 => self.restart(node, rng),
            // What befalls one befalls all: a power cut.
            115..118 => (0..self.masters.len()).for_each(|node| self.restart(node, rng)),
            118 => self.masters[node].flush_scripts(),
            119 => self.masters[node].is_replica ^= true,
            120..122 => self.clients[place].wall_us = self.setup.wall_us(rng),
            122..126 => self.clients[place].stage.wires[node].room = Some(rng.below(200)),
            126..150 => self.clients[place].stage.wires[node].room = None,
            150..220 => {
                let reachable = rng.below(4) != 0;
                self.clients[place].answer_dial(node, &mut self.masters[node], reachable);
            }
            220..460 => self.execute(node, rng),
            460..700 => self.deliver(place, node, rng),
            700..900 => self.flow(place),
            900..970 => self.pass(Duration::from_micros(rng.below(20_000) as u64), None),
            970..980 => self.pass(millis(rng.below(300)), None),
            980..990 => self.pass(millis(rng.below(1_500)), None),
            990 => self.pass(millis(rng.below(12_000)), None),
            _ => self.pass(millis(rng.below(500)), Some(place)),
        }
        self.carry();
        self.check();
    }

    // What callers do.

    fn acquire(&mut self, place: usize, rng: &mut Rng) {
        let resources = ["a", "b", "a", "b", "a+b"][rng.below(5)];
        let ttl = [millis(300), self.setup.max_ttl][rng.below(2)];
        let lock_delay = match ttl < self.setup.max_ttl {
            true => millis([0, 0, 400, 1_700][rng.below(4)]),
            false => Duration::ZERO,
        };
        let wait = Some(millis([0, 50, 2_000][rng.below(3)]));
        let kept = [None, Some(KeepAlive::FOREVER), Some(KeepAlive::at_most(ttl * 3))];
        let keep_alive = kept[rng.below(3)];
        let fenced = rng.below(2) == 0;
        let client = &mut self.clients[place];
        let request = client.next_request().0;
        self.log.push(format!(
            "{}: acquire {request} {resources} ttl {ttl:?} delay {lock_delay:?} wait {wait:?} keep \
             {keep_alive:?} fenced {fenced}",
            name(place)
        ));
        let names = resources.split('+').map(str::to_owned).collect();
        client.asked.insert(request, Asked { keys: names, fenced, lock_delay });
        let acquire = Acquire {
            keys: keys(resources, ""),
            fences: fenced.then(|| Arc::new(keys(resources, FENCE))),
            ttl,
            lock_delay: match self.setup.flaw {
                Some(Flaw::NoDelay) => Duration::ZERO,
                _ => lock_delay,
            },
            wait,
            keep_alive,
        };
        client.stage.acquire(request, acquire);
    }

    fn cancel(&mut self, place: usize, rng: &mut Rng) {
        // One of the latest: older ones have their answer.
        let client = &mut self.clients[place];
        let request = client.last_request.saturating_sub(rng.below(3) as u64);
        self.log.push(format!("{}: cancel {request}", name(place)));
        client
            .stage
            .machine
            .handle_cancel(client.stage.now, super::super::super::RequestId(request));
    }

    fn extend(&mut self, place: usize, rng: &mut Rng) {
        let Some(won) = self.any_guard(place, rng) else { return };
        let client = &mut self.clients[place];
        let (request, now, hold) =
            (client.next_request(), client.stage.now, client.stage.hold(won));
        self.log.push(format!("{}: extend {} of {won}", name(place), request.0));
        client.stage.machine.handle_extend(now, request, hold);
    }

    fn give_back(&mut self, place: usize, rng: &mut Rng) {
        let Some(won) = self.any_guard(place, rng) else { return };
        let span = (rng.below(4) == 0).then(|| millis(rng.below(700)));
        self.log.push(format!("{}: release {won}, heard after {span:?}", name(place)));
        self.give_up(place, won, span);
    }

    /// A guard goes; the machine hears it at once, or later.
    pub(super) fn give_up(&mut self, place: usize, won: u64, heard_after: Option<Duration>) {
        let now = self.now();
        let mut in_time = false;
        if let (Some(span), Some(held)) = (heard_after, self.clients[place].held.get_mut(&won)) {
            in_time = held.is_valid(now);
            held.over |= in_time;
            self.pass(span, None);
            self.carry();
        }
        let client = &mut self.clients[place];
        let (request, now, hold) =
            (client.next_request(), client.stage.now, client.stage.hold(won));
        client.stage.machine.handle_release(now, Some(request), hold, in_time);
        self.carry();
        let client = &mut self.clients[place];
        client.stage.holds.remove(&won);
        let Some(held) = client.held.remove(&won) else { return };
        if held.over && !in_time && !held.asked.lock_delay.is_zero() {
            self.history.keep(&held.token);
        }
    }

    /// The guard goes, and the key stays.
    fn leave(&mut self, place: usize, rng: &mut Rng) {
        let Some(won) = self.any_guard(place, rng) else { return };
        self.log.push(format!("{}: leave {won}", name(place)));
        let client = &mut self.clients[place];
        client.stage.machine.handle_leave(client.stage.now, client.stage.hold(won));
        client.stage.holds.remove(&won);
        if let Some(held) = client.held.remove(&won) {
            self.history.keep(&held.token);
        }
    }

    fn any_guard(&self, place: usize, rng: &mut Rng) -> Option<u64> {
        let holds = &self.clients[place].stage.holds;
        (!holds.is_empty()).then(|| holds.keys().nth(rng.below(holds.len())).copied())?
    }

    fn inspect(&mut self, place: usize, rng: &mut Rng) {
        let client = &mut self.clients[place];
        let (key, now, request) =
            (["a", "b"][rng.below(2)], client.stage.now, client.next_request());
        client.inspected.insert(request.0, key.to_owned());
        client.stage.machine.handle_inspect(now, request, key);
    }

    fn force_release(&mut self, place: usize) {
        let client = &mut self.clients[place];
        let Some((key, value)) = client.seen.take() else { return };
        let (now, request) = (client.stage.now, client.next_request());
        self.log.push(format!("{}: take {key} away from {value}", name(place)));
        self.history.force(&value);
        client.stage.machine.handle_force_release(now, request, &key, value);
    }

    // What the network and the masters do.

    /// Also what was written to a connection that the client has given up is executed, some day.
    fn execute(&mut self, node: usize, rng: &mut Rng) {
        let now = self.now();
        let master = &mut self.masters[node];
        if master.connections.is_empty() {
            return;
        }
        let place = rng.below(master.connections.len());
        let id = master.connections[place].id;
        for _ in 0..=rng.below(4) {
            let Some(told) = master.execute(now, id) else { return };
            let line = self.clients.iter_mut().map(|client| &mut client.lines[node]);
            if let Some(line) = line.into_iter().find(|line| line.id == Some(id)) {
                line.replies.extend(reply(&told));
            }
        }
    }

    fn deliver(&mut self, place: usize, node: usize, rng: &mut Rng) {
        let client = &mut self.clients[place];
        let waiting = client.lines[node].replies.len();
        let len = if rng.below(3) == 0 { rng.below(waiting + 1) } else { waiting };
        let bytes: Vec<u8> = client.lines[node].replies.drain(..len).collect();
        if !bytes.is_empty() {
            client.stage.says(node, &bytes);
        }
    }

    /// Nothing is in the way for once.
    fn flow(&mut self, place: usize) {
        for node in 0..self.masters.len() {
            self.clients[place].answer_dial(node, &mut self.masters[node], true);
            self.exchange(place, node);
        }
    }

    /// Executes and delivers all that is on the way between two.
    pub(super) fn exchange(&mut self, place: usize, node: usize) {
        self.carry();
        let client = &mut self.clients[place];
        let Some(id) = client.lines[node].id else { return };
        while let Some(told) = self.masters[node].execute(client.stage.now, id) {
            client.lines[node].replies.extend(reply(&told));
        }
        let bytes: Vec<u8> = client.lines[node].replies.drain(..).collect();
        client.stage.says(node, &bytes);
        self.carry();
    }

    fn restart(&mut self, node: usize, rng: &mut Rng) {
        let empty = self.setup.forgetful && rng.below(3) != 0;
        self.log.push(format!("n{} restarts{}", node + 1, if empty { " empty" } else { "" }));
        let now = self.now();
        self.masters[node].restart(now, empty);
        self.clients.iter_mut().for_each(|client| client.server_restarts(node));
    }
}
