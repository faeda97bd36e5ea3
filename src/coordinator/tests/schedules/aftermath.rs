//! Everything ends, and what must be true then.

use super::super::super::RequestId;
use super::super::stage::NOTHING_LEFT;
use super::{Rng, world::World};
use std::time::Duration;

impl World {
    /// Everybody goes and every fault ends: nothing may be left, anywhere.
    pub(super) fn settle(&mut self, rng: &mut Rng) {
        for place in 0..self.clients.len() {
            for request in 0..=self.clients[place].last_request {
                let stage = &mut self.clients[place].stage;
                stage.machine.handle_cancel(stage.now, RequestId(request));
            }
            let guards: Vec<u64> = self.clients[place].stage.holds.keys().copied().collect();
            guards.into_iter().for_each(|won| self.give_up(place, won, None));
        }
        self.masters.iter_mut().for_each(|master| master.is_replica = false);
        for _ in 0..3_000 {
            self.heal();
            if self.clients.iter().all(|client| client.stage.left() == NOTHING_LEFT) {
                return self.find_orphans(rng);
            }
            self.pass(Duration::from_millis(5), None);
        }
        let left: Vec<String> = self.clients.iter().map(|client| client.stage.left()).collect();
        self.violation = Some(format!("once everything is over there are still {left:?}"));
    }

    /// Delivers everything on the connections that live. Those that were given up stay as they
    /// are: whoever has forgotten to kill one finds its commands executed in the end.
    pub(super) fn heal(&mut self) {
        self.carry();
        for place in 0..self.clients.len() {
            for node in 0..self.masters.len() {
                self.clients[place].stage.wires[node].room = None;
                self.carry();
                self.clients[place].answer_dial(node, &mut self.masters[node], true);
                self.exchange(place, node);
            }
        }
    }

    fn find_orphans(&mut self, rng: &mut Rng) {
        let now = self.now();
        for (node, master) in self.masters.iter_mut().enumerate() {
            while !master.connections.is_empty() {
                let place = rng.below(master.connections.len());
                let id = master.connections[place].id;
                while master.execute(now, id).is_some() {}
                master.connections.retain(|one| one.id != id);
            }
            let mut keys = master.all_keys(now).into_iter();
            let orphan = keys.find(|(key, value)| self.history.is_orphan(key, value));
            if let Some((key, value)) = orphan {
                self.violation = Some(format!("n{} keeps {key}={value}", node + 1));
            }
        }
    }
}
