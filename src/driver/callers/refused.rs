//! The answer to a caller that another holder has kept from a lock: the client asks once what was
//! in the way, after everything that is owed has been queued.

use super::{Answer, Callers};
use crate::driver::Acquirer;
use crate::report::Obstacle;
use quorumlock_core::coordinator::{Coordinator, Event, Failure, FailureKind, Question, RequestId};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

/// A client that holds more names none of it.
const MOST_NAMED: usize = 8;

impl Callers {
    /// Answers a caller whose acquire has failed, or asks what was in its way. Returns `true` if it asks.
    pub(super) fn not_acquired(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        request: RequestId,
        mut failure: Failure,
        waited: Duration,
    ) -> bool {
        let Some(acquirer) = self.waiting.acquirers.remove(&request) else { return false };
        let held = self.held_meanwhile(now, &acquirer, &failure.kind, waited);
        let mut blocked = Vec::new();
        match (failure.unnamed.take(), &failure.kind) {
            (Some(keys), FailureKind::Contended(Obstacle::Holder(None))) if !self.closing => {
                machine.handle_question(now, Question::in_the_way(request, &keys));
                let answer: Answer = Box::new(move |callers, machine, _, event| {
                    let Event::InTheWay { found, .. } = event else { return };
                    let blocked = keys.iter().zip(found).filter_map(|(key, obstacle)| {
                        // The next acquire of this client may have it by now.
                        let is_ours = machine.is_held_here(key);
                        Some((callers.resource(key), obstacle.filter(|_| !is_ours)?))
                    });
                    let mut blocked: Vec<_> = blocked.collect();
                    if let Some((_, obstacle)) = blocked.first() {
                        failure.kind = FailureKind::Contended(Obstacle::clone(obstacle));
                    }
                    if keys.len() == 1 {
                        blocked.clear();
                    }
                    let quorum = machine.masters().membership();
                    acquirer.failed(failure, waited, quorum, blocked, held);
                });
                self.waiting.wanted.insert(request, answer);
                return true;
            }
            (Some(keys), FailureKind::Contended(Obstacle::OwnGuard)) => {
                let held = keys.iter().filter(|key| machine.is_held_here(key));
                blocked = held.map(|key| (self.resource(key), Obstacle::OwnGuard)).collect();
            }
            _ => {}
        }
        acquirer.failed(failure, waited, machine.masters().membership(), blocked, held);
        false
    }

    /// Returns what was held all the while that this caller waited: without it, no deadlock of locks goes by
    /// way of this client. Of many locks most have nothing to do with it, and none is named.
    fn held_meanwhile(
        &self,
        now: Instant,
        acquirer: &Acquirer,
        failure: &FailureKind,
        waited: Duration,
    ) -> Vec<Arc<str>> {
        let is_waited_for = match failure {
            // Time ends these, and no other client.
            FailureKind::Contended(Obstacle::Ended { .. } | Obstacle::GreaterToken) => false,
            // Any of the holders gives way, or the callers of this client ahead do: what they wait for
            // is not what this client holds.
            FailureKind::Contended(Obstacle::Permits { .. } | Obstacle::LocalQueue) => false,
            FailureKind::Contended(_) => acquirer.waits,
            _ => false,
        };
        if !is_waited_for {
            return Vec::new();
        }
        let lent = self.idle_locks.guards();
        let all = self.holds.iter().chain(&lent);
        let held = all.filter(|hold| hold.held(now).held >= waited);
        let held =
            held.map(|hold| &hold.resource).filter(|held| **held != acquirer.caller.resource);
        let held: Vec<_> = held.take(MOST_NAMED + 1).cloned().collect();
        if held.len() > MOST_NAMED { Vec::new() } else { held }
    }

    /// Returns the resource that has this key.
    pub(crate) fn resource(&self, key: &Arc<str>) -> Arc<str> {
        match self.setup.options.key_prefix.len() {
            0 => key.clone(),
            prefix => key.get(prefix..).unwrap_or(key).into(),
        }
    }
}
