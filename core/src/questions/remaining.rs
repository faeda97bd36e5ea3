//! The key that refused an attempt: its remaining life, which bounds the pause before the next
//! attempt, and its holder, for the error.

use crate::lock::{Attempt, Locks, Stage};
use crate::obstacle::Obstacle;
use crate::quorum::NodeSet;
use crate::shared::{AttemptId, Owner, RoundId};
use crate::wire::{DONE, NEXT, Reply, SHARED};
use std::sync::Arc;
use std::time::Duration;

/// The life of a key where there is none, as PTTL reports it.
const NO_KEY: i64 = -2;

/// The life of a key that refuses us, where PTTL rounds it down to nothing: zero is for a key that is
/// free.
const LEAST: Duration = Duration::from_millis(1);

/// The holders that nodes have named, and how long their keys live.
#[derive(Default)]
pub(crate) struct Holders(Vec<(usize, Option<Duration>, Obstacle)>);

impl Holders {
    /// Notes what `node` has reported of the key there, if there is one.
    pub(crate) fn note(&mut self, node: usize, reported: &Reported<'_>) {
        if reported.is_there {
            let holder = reported.value.map_or(Obstacle::Holder(None), in_the_way);
            self.0.push((node, reported.life, holder));
        }
    }

    /// Returns the nodes that have named one.
    pub(crate) fn nodes(&self) -> NodeSet {
        self.0.iter().map(|(node, ..)| *node).collect()
    }

    /// Returns the remaining life of the key on `node`, if the node has reported it.
    pub(crate) fn life(&self, node: usize) -> Option<Duration> {
        self.0.iter().find(|(other, ..)| *other == node)?.1
    }

    /// Returns the holder that most of the nodes have named which `count`; one without a label if two are
    /// named as often.
    pub(crate) fn most(&self, counts: impl Fn(usize) -> bool) -> Obstacle {
        let named = || self.0.iter().filter(|(node, ..)| counts(*node)).map(|(.., holder)| holder);
        let times = |holder: &Obstacle| named().filter(|other| *other == holder).count();
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

/// A node's report of a key that may refuse us.
pub(crate) struct Reported<'a> {
    /// Its life; `None` if it never expires.
    pub(crate) life: Option<Duration>,
    pub(crate) is_there: bool,
    pub(crate) value: Option<&'a str>,
}

impl<'a> Reported<'a> {
    pub(crate) fn in_reply(reply: &'a Reply) -> Option<Self> {
        let (left, value) = match reply {
            Reply::Int(left) => (*left, None),
            Reply::Array(parts) => match parts.as_slice() {
                [Reply::Int(left), value] => (*left, value.text()),
                _ => return None,
            },
            _ => return None,
        };
        let life = match left {
            NO_KEY => Some(Duration::ZERO),
            // -1: a key that never expires.
            left => u64::try_from(left).ok().map(|left| Duration::from_millis(left).max(LEAST)),
        };
        Some(Self { life, is_there: left != NO_KEY, value })
    }
}

impl Locks {
    /// Notes what a node reports of the key that refuses an attempt. Returns `false` if the attempt is
    /// decided.
    pub(crate) fn learn_remaining(
        &mut self,
        node: usize,
        round: RoundId,
        attempt: AttemptId,
        reported: &Reported<'_>,
    ) -> bool {
        let undecided = |attempt: &Attempt| matches!(attempt.stage, Stage::Asked);
        if !self.attempts.get(attempt.0).is_some_and(undecided) {
            return false;
        }
        // Where there was no key, one that refuses has come since, and nothing has been
        // reported of it.
        self.rounds.get_mut(round.0).into_iter().for_each(|round| round.named.note(node, reported));
        true
    }
}
