//! The time from a guard that is given up to the outcome of its release.

use super::Outlet;
use super::happening::Happening;
use super::words::ReleaseEnd;
use crate::driver::LeaseState;
use quorumlock_core::coordinator::RequestId;
use quorumlock_core::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Releases that a caller waits for.
#[derive(Default)]
pub(super) struct Releasing {
    waited_for: BTreeMap<RequestId, Option<(Arc<str>, Duration)>>,
}

impl Releasing {
    /// Notes a guard that was given up; `hold` is `None` if its loss has been reported before.
    pub(super) fn given_up(
        &mut self,
        now: Instant,
        hold: Option<&LeaseState>,
        request: Option<RequestId>,
        in_time: bool,
        outlet: &Outlet,
    ) {
        if let Some(hold) = hold.filter(|_| in_time) {
            outlet.tell(&Happening::GivenUp { held: hold.held_for(now) });
        }
        let lock = hold.map(|hold| (hold.resource.clone(), hold.held_for(now)));
        match request {
            Some(request) => drop(self.waited_for.insert(request, lock)),
            None => end(lock, ReleaseEnd::Dropped, outlet),
        }
    }

    pub(super) fn left(now: Instant, hold: Option<&LeaseState>, outlet: &Outlet) {
        let lock = hold.map(|hold| (hold.resource.clone(), hold.held_for(now)));
        if let Some((_, held)) = lock {
            outlet.tell(&Happening::GivenUp { held });
        }
        end(lock, ReleaseEnd::Left, outlet);
    }

    pub(super) fn released(&mut self, request: RequestId, how: ReleaseEnd, outlet: &Outlet) {
        end(self.waited_for.remove(&request).flatten(), how, outlet);
    }
}

fn end(lock: Option<(Arc<str>, Duration)>, end: ReleaseEnd, outlet: &Outlet) {
    let (resource, held) = (lock.as_ref().map(|(resource, _)| &**resource), lock.as_ref());
    let held = held.map(|(_, held)| *held);
    outlet.tell(&Happening::Released { resource, end, held });
}
