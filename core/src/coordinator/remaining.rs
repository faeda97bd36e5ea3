//! The key that refused an attempt: its remaining life, which bounds the pause before the next
//! attempt, and its holder, for the error.

use super::contention::Phase;
use super::timers::Timer;
use super::wire::{DONE, NEXT, Reply};
use super::{AttemptId, Coordinator, Owner, RequestId, SHARED};
use crate::obstacle::Obstacle;
use crate::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

/// The life of a key where there is none, as PTTL reports it.
const NO_KEY: i64 = -2;

/// The life of a key that refuses us, where PTTL rounds it down to nothing: zero is for a key that is
/// free.
const LEAST: Duration = Duration::from_millis(1);

/// The holders that nodes have named.
#[derive(Default)]
pub(super) struct Holders(Vec<(usize, Obstacle)>);

impl Holders {
    /// Notes the value of the key on `node`, if it has reported it.
    pub(super) fn note(&mut self, node: usize, value: Option<&str>) {
        self.0.push((node, value.map_or(Obstacle::Holder(None), in_the_way)));
    }

    /// Returns the holder that most of the nodes have named which `count`; one without a label if two are
    /// named as often.
    pub(super) fn most(&self, counts: impl Fn(usize) -> bool) -> Obstacle {
        let named = || self.0.iter().filter(|(node, _)| counts(*node)).map(|(_, holder)| holder);
        let times = |holder: &Obstacle| named().filter(|one| *one == holder).count();
        let most = named().max_by_key(|holder| times(holder));
        let is_alone =
            |most: &&Obstacle| named().all(|holder| holder == *most || times(holder) < times(most));
        most.filter(is_alone).cloned().unwrap_or(Obstacle::Holder(None))
    }
}

/// Returns the obstacle that the value of a key is.
fn in_the_way(value: &str) -> Obstacle {
    match value {
        SHARED => Obstacle::Readers,
        value if value.starts_with(NEXT) => Obstacle::Reserved,
        value if value.starts_with(DONE) => Obstacle::Ended { free_in: None },
        value => Obstacle::Holder(Owner::of(value).and_then(|owner| owner.label).map(Arc::from)),
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
                    round.note_value(node, value.and_then(Reply::text));
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
