//! New, empty machines under old addresses, where clients trust in persistence.
//!
//! A client that has met a process under the address can tell, and waits, whatever the new machine's
//! uptime and clock. One that meets the address for the first time cannot: until the machine has run for
//! long enough, no client starts here, as `SAFETY.md` asks of operators.

use super::clock::nanos;
use super::world::World;
use quorumlock_core::status::NodeStanding;
use std::time::Duration;

/// The largest step back of a new machine's clock.
const FAR_BACK: Duration = Duration::from_secs(40);

impl World {
    /// Notes which masters a client has met by now.
    pub(super) fn note_met(&mut self, place: usize) {
        if !self.setup.replaces {
            return;
        }
        let local = self.local(place);
        let client = &mut self.clients[place];
        let Some(machine) = &client.machine else { return };
        for (own, node) in client.nodes.iter().enumerate() {
            let standing = machine.masters().standing(local, own);
            let has_met =
                matches!(standing, Some(NodeStanding::Voting | NodeStanding::WarmingUp { .. }));
            if has_met {
                client.met.insert(*node);
            }
        }
    }

    /// Returns whether all clients that live have met a process of this master.
    pub(super) fn have_all_met(&self, node: usize) -> bool {
        let living = self.clients.iter().filter(|client| client.machine.is_some());
        let mut knowing = living.filter(|client| client.nodes.contains(&node));
        knowing.all(|client| client.met.contains(node))
    }

    /// Returns whether a client that started now might trust a new machine.
    pub(super) fn deceives(&self, seat: usize) -> bool {
        let quarantine = self.setup.kind(seat).quarantine;
        // Clients' clocks are not the world's.
        let quarantine = quarantine + quarantine / 50;
        let is_new = |node| self.may_not_vote(node, self.agenda.now, quarantine);
        self.setup.replaces && (0..self.masters.len()).any(is_new)
    }

    /// Makes what has started a new machine: with the settings of the old one, and in some worlds with a
    /// clock that is set back once it runs.
    pub(super) fn replace(&mut self, node: usize) {
        let now = self.agenda.now;
        self.masters[node].set_durable(now);
        if self.setup.steps_back && self.rng.chance(50) {
            let by = Duration::from_nanos(self.rng.within(0..nanos(FAR_BACK)));
            self.masters[node].step_back(by, now);
        }
    }
}
