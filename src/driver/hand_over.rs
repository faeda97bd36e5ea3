//! Locks on their way between processes: guards that become values, and values that become guards.

use super::request::{AdoptResult, Reply, Won};
use super::{Handle, Holds, LeaseState, ReleaseOnDrop, Request};
use crate::fencing::FencingToken;
use crate::kind_name::KindName;
use crate::telemetry::Outlet;
use quorumlock_core::coordinator::{Adopted, DetachedLock, NotAdopted};
use quorumlock_core::quorum::{Instant, Membership};
use std::sync::Arc;

/// A lock that was detached, on its way to its caller. It is released when dropped, unless the
/// caller has picked it up: it is in no other hands.
pub(crate) struct InTransit(Option<(Handle, Box<DetachedLock>)>);

impl InTransit {
    pub(super) const fn new(driver: Handle, lock: Box<DetachedLock>) -> Self {
        Self(Some((driver, lock)))
    }

    /// Hands the value to the caller.
    pub(crate) fn pick_up(mut self) -> Option<Box<DetachedLock>> {
        self.0.take().map(|(_, lock)| lock)
    }
}

impl Drop for InTransit {
    fn drop(&mut self) {
        if let Some((driver, lock)) = self.0.take() {
            driver.send(Request::GiveBack { lock, adopting: None });
        }
    }
}

/// A caller that waits for the lock of a value.
pub(crate) struct Adopter {
    pub(crate) driver: Handle,
    pub(crate) resource: Arc<str>,
    pub(crate) kind: KindName,
    pub(crate) token: Option<FencingToken>,
    pub(crate) began: Instant,
    pub(crate) reply: Reply<AdoptResult>,
}

impl Adopter {
    /// Sends the lock itself to its caller: if the caller does not pick it up, it is released.
    pub(super) fn adopted(
        self,
        (now, holds, outlet): (Instant, &mut Holds, &Outlet),
        result: Result<Adopted, NotAdopted>,
        quorum: Membership,
    ) {
        let Self { driver, resource, kind, token, began, reply } = self;
        outlet.adopted(&resource, now.since(began), result.as_ref().err());
        let answer = result.map(|Adopted { attempt, deadline, is_last }| {
            let hold = Arc::new(LeaseState::new(attempt, resource, kind, now, deadline));
            if is_last {
                hold.extend(deadline, true);
            }
            holds.insert(hold.clone());
            Won { lock: ReleaseOnDrop::new(driver, hold), token, slot: None }
        });
        let _ = reply.send(answer.map_err(|why| (why, quorum)));
    }
}
