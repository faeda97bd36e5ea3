//! Reading of what has arrived, before rounds begin without the masters that have not answered.

use super::Driver;
use std::task::Context;
use std::time::Duration;
use tokio::task::coop::has_budget_remaining;

/// Resolution of tokio's timers: a timer that is set this far ahead never fires at once.
const ONE_PARK: Duration = Duration::from_millis(1);

/// Progress of reading all that has arrived, because rounds are about to begin without masters that
/// have not answered.
///
/// A read that finds nothing proves little. It asks the kernel only about sockets that tokio
/// already knows to be readable, and tokio looks when it parks. A timer fires after that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CatchingUp {
    No,
    /// The timer is set.
    Parks,
    /// It has fired, and everything is read next.
    Reads,
}

impl Driver {
    /// Lets rounds begin without masters that have had the time to answer, once all that has
    /// arrived is read. Returns `true` if it let them.
    pub(super) fn catch_up(&mut self, cx: &mut Context<'_>) -> bool {
        let now = self.now;
        if self.machine.masters().opens_at().is_none_or(|at| at > now) {
            self.catching_up = CatchingUp::No;
            return false;
        }
        match self.catching_up {
            // A budget that is spent ends a read as if nothing more had arrived.
            CatchingUp::Reads if has_budget_remaining() => {
                self.catching_up = CatchingUp::No;
                self.machine.handle_caught_up(now);
                return true;
            }
            CatchingUp::Reads => cx.waker().wake_by_ref(),
            CatchingUp::Parks => {}
            CatchingUp::No => {
                self.catching_up = CatchingUp::Parks;
                self.caught_up.as_mut().reset(tokio::time::Instant::now() + ONE_PARK);
            }
        }
        false
    }

    /// Returns `true` if the runtime has just looked at what has arrived, and the driver was
    /// waiting for that. If the runtime has yet to look, it wakes the driver afterwards.
    pub(super) fn has_parked(&mut self, cx: &mut Context<'_>) -> bool {
        let waits = self.catching_up == CatchingUp::Parks;
        let has_parked = waits && self.caught_up.as_mut().poll(cx).is_ready();
        if has_parked {
            self.catching_up = CatchingUp::Reads;
        }
        has_parked
    }
}
