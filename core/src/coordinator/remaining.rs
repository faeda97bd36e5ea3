//! The key that refused an attempt: its remaining life, which bounds the pause before the next
//! attempt, and its holder, for the error.

use super::contention::Phase;
use super::timers::Timer;
use super::wire::{DONE, NEXT, Reply};
use super::{AttemptId, Coordinator, Owner, RequestId, SHARED};
use crate::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

/// The life of a key where there is none, as PTTL reports it.
const NO_KEY: i64 = -2;

/// The life of a key that refuses us, where PTTL rounds it down to nothing: zero is for a key that is
/// free.
const LEAST: Duration = Duration::from_millis(1);

/// The holders that nodes have named: their labels, or that they have none.
#[derive(Default)]
pub(super) struct Holders(Vec<(usize, Option<Arc<str>>)>);

impl Holders {
    pub(super) fn note(&mut self, node: usize, label: Option<&str>) {
        self.0.push((node, label.map(Arc::from)));
    }

    /// Returns the label that most of the nodes have named which `count`; `None` if that is a holder
    /// without one, or if two are named as often.
    pub(super) fn most(&self, counts: impl Fn(usize) -> bool) -> Option<Arc<str>> {
        let named = || self.0.iter().filter(|(node, _)| counts(*node)).map(|(_, label)| label);
        let times = |label: &Option<Arc<str>>| named().filter(|one| *one == label).count();
        let most = named().max_by_key(|label| times(label))?;
        let is_alone = named().all(|label| label == most || times(label) < times(most));
        most.clone().filter(|_| is_alone)
    }
}

/// Returns the label in the value of a key, or what stands for it.
pub(super) fn label_of(value: &str) -> Option<&str> {
    match value {
        // Readers have no label in common. The mark stands for them.
        SHARED => Some(SHARED),
        // Nor has a key that is kept a holder.
        value if value.starts_with(NEXT) => Some(NEXT),
        // Nor one whose work has ended well, which only keeps it closed.
        value if value.starts_with(DONE) => Some(DONE),
        value => Owner::of(value).and_then(|owner| owner.label),
    }
}

impl Coordinator {
    /// Notes a node's report of the remaining life of the key that refused us, and of its holder.
    pub(super) fn learn_remaining(
        &mut self,
        node: usize,
        request: RequestId,
        attempt: AttemptId,
        reply: &Reply,
    ) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let (left, value) = match reply {
            Reply::Int(left) => (*left, None),
            Reply::Array(parts) => match parts.as_slice() {
                [Reply::Int(left), value] => (*left, Some(value)),
                _ => return,
            },
            _ => return,
        };
        // -1: a key that never expires.
        let life = match left {
            NO_KEY => Some(Duration::ZERO),
            _ => u64::try_from(left).ok().map(Duration::from_millis),
        };
        match &mut contention.phase {
            Phase::Trying { round, attempt: current } if *current == attempt => {
                // Where there was no key, one that refuses has come since, and nothing has been
                // reported of it.
                if let Some(round) = self.rounds.get_mut(*round).filter(|_| left != NO_KEY) {
                    let life = life.map(|life| life.max(LEAST));
                    life.into_iter().for_each(|life| round.note_remaining(node, life));
                    round.note_holder(node, value.and_then(Reply::text).and_then(label_of));
                }
            }
            // From a node that was not waited for.
            Phase::Waiting { failed, .. } if *failed == attempt => {
                let Some(life) = life else { return };
                contention.learn(node, life);
                if let Some(sooner) = contention.shorten(&self.settings) {
                    self.try_sooner(request, sooner);
                }
            }
            _ => {}
        }
    }
    /// Moves the next attempt of an acquire from its old time to its new one.
    pub(super) fn try_sooner(&mut self, request: RequestId, (old, new): (Instant, Instant)) {
        self.timers.cancel(old, Timer::Attempt(request));
        self.timers.set(new, Timer::Attempt(request));
    }
}
