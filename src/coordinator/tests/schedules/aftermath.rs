//! Everything ends, and what must be true then.

use super::super::super::RequestId;
use super::super::stage::NOTHING_LEFT;
use super::super::words::reply;
use super::{Rng, world::World};
use std::time::Duration;

impl World {
    /// Everybody goes and every fault ends: nothing may be left, anywhere.
    pub(super) fn settle(&mut self, rng: &mut Rng) {
        for request in 0..=self.last_request {
            self.stage.machine.handle_cancel(RequestId(request));
        }
        for (_, hold) in std::mem::take(&mut self.stage.holds) {
            self.stage.machine.handle_release(self.stage.now, None, hold, false);
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
