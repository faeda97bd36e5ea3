//! The parameters of an acquire.

use super::{AtLeast, Keys, Label};
use crate::quorum::{Instant, Nanos};
use crate::shelf::WarmTerms;
use crate::wire::Millis;
use std::sync::Arc;

/// The parameters of an acquire, the same for all its attempts.
#[derive(Clone, Debug)]
pub struct AcquireRequest {
    pub keys: Keys,
    /// The fence of each key, if the acquire gets a fencing token.
    pub fences: Option<Arc<Keys>>,
    pub ttl: Millis,
    /// The time by which the keys outlive the ttl, unless they are released.
    pub lock_delay: Millis,
    /// The time during which new attempts may begin: zero for a single attempt.
    pub wait: Nanos,
    /// If the hold is extended in time, without being asked: for how long at most, from the start of the attempt
    /// that wins.
    pub keep_alive: Option<Nanos>,
    /// In place of the label of the settings.
    pub label: Option<Arc<Label>>,
    /// The time from the start for which the keys stay if the work ends well. Boxed: it is rare.
    pub at_least: Option<Box<AtLeast>>,
    /// How long a hold that is given back stays idle for the next acquire in this process; zero to release it.
    pub keep_warm: Nanos,
    /// Whether it is served in the order of the waitlist of its key: it tries when the list lets it.
    pub is_fair: bool,
    /// Whether the first attempt, too, asks one node before the others. A refusal there is then the
    /// answer, even at the end of the wait: there are other keys that will do.
    pub probes: bool,
}

impl AcquireRequest {
    /// Returns the life of the keys, unless they are released.
    pub(crate) fn life(&self) -> Millis {
        let life = self.ttl.saturating_add(self.lock_delay);
        self.at_least.as_ref().map_or(life, |at_least| at_least.life().max(life))
    }

    /// Returns how long its hold stays idle once it is given back.
    pub(crate) fn warm(&self) -> Nanos {
        if self.may_be_warm() { self.keep_warm } else { Nanos::ZERO }
    }

    /// Returns whether it is for a hold that can go from guard to guard: of one key that no readers
    /// belong to and that no waiter is to have in turn, that opens as soon as it is released, and whose value names no term.
    pub(crate) fn may_be_warm(&self) -> bool {
        matches!(self.keys, Keys::One(_))
            && !self.is_fair
            && !self.label.as_ref().is_some_and(|label| label.is_candidate())
            && self.lock_delay.span().is_zero()
            && self.at_least.is_none()
    }

    /// Returns what it has in common with an idle hold that its caller may take by itself. `None` if the
    /// coordinator has to look: for a keeper, or for the number of a fenced guard.
    pub fn warm_terms(&self) -> Option<WarmTerms> {
        let warm = self.warm();
        let takes = warm > Nanos::ZERO && self.fences.is_none() && self.keep_alive.is_none();
        takes.then(|| WarmTerms { ttl: self.ttl, label: self.label.clone(), warm })
    }

    /// Returns the instant after which nothing is tried for a caller whose wait `began` then.
    pub(crate) fn until(&self, began: Instant) -> Instant {
        began.after(self.wait.span())
    }
}
