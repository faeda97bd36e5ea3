//! The masters of a run: their lists, those that can change places, and the core's judgements in
//! ticks.

use crate::quorum::{
    ClockDrift, Extension, FencingWindow, Instant, Membership, NodeSet, Progress, Report, standing,
    validity,
};
use std::time::Duration;

/// The most nodes that a run can have: an old list of five and one that replaces a sixth.
pub const NODES: usize = 6;

/// The order in which a node reads what it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// What one client sends, in order: one connection after the other, as the ledger ensures. A
    /// release is never lost; anything else may be.
    InOrder,
    /// Any order, or never.
    #[default]
    Any,
}

impl Order {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::InOrder => "in order",
            Self::Any => "any order",
        }
    }
}

/// The answer to an extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extended {
    Held,
    Vacant,
    Taken,
}

pub(crate) const NO_DRIFT: ClockDrift = ClockDrift { rate_ppm: 0, constant: Duration::ZERO };
pub(crate) const NO_WINDOW: FencingWindow =
    FencingWindow { back: Duration::ZERO, ahead: Duration::ZERO };

/// An arbitrary time, with room before it.
pub(crate) const NOW: u64 = 1_000_000_000;

pub(crate) const fn now() -> Instant {
    Instant::from_nanos(NOW)
}

pub(crate) fn ago(ticks: u8) -> Instant {
    Instant::from_nanos(NOW - u64::try_from(span(ticks).as_nanos()).unwrap_or(0))
}

/// Returns a span of ticks. A tick is a millisecond: the grain of a node's counting.
pub(crate) const fn span(ticks: u8) -> Duration {
    Duration::from_millis(ticks as u64)
}

pub(crate) fn ticks(span: Duration) -> u8 {
    u8::try_from(span.as_millis()).unwrap_or(u8::MAX)
}

/// Returns how long after its start a node votes.
pub(crate) fn votes_after(quarantine: Duration) -> Duration {
    standing::Start::at(now()).votes_from(quarantine).since(now())
}

/// Returns the ticks for which a restarted node does not vote, if keys live for the `longest`.
pub(crate) fn quarantine(longest: u8, window: FencingWindow, drift: ClockDrift) -> u8 {
    ticks(votes_after(standing::quarantine(span(longest), window, drift)))
}

/// Returns the ticks for which a lock could be relied on that is won now, so many ticks after its
/// first byte.
pub(crate) fn left_of_a_win(since: u8, ttl: u8, drift: ClockDrift) -> Option<u8> {
    let deadline = validity::deadline(ago(since), now(), span(ttl), drift)?;
    Some(ticks(deadline.since(now())))
}

/// Returns a round of extension that began so many ticks ago, with the places of those that hold.
pub(crate) fn round(
    membership: Membership,
    (since, ttl): (u8, u8),
    warming: NodeSet,
    held: impl IntoIterator<Item = usize>,
) -> Extension {
    let mut extension = Extension::new(membership, ago(since), span(ttl), warming);
    for place in held {
        extension.record(place, Report::Held);
    }
    extension
}

/// Returns the ticks that are left where a round is won now.
pub(crate) fn left_if_won(progress: Progress) -> Option<u8> {
    match progress {
        Progress::Extended(until) => Some(ticks(until.since(now()))).filter(|left| *left > 0),
        Progress::Pending | Progress::Unconfirmed | Progress::Lost => None,
    }
}

/// Returns the nodes whose bit is set.
pub(crate) fn set(bits: u8) -> NodeSet {
    members(bits).collect()
}

pub(crate) fn members(bits: u8) -> impl Iterator<Item = usize> {
    (0..NODES).filter(move |node| bits >> node & 1 == 1)
}

/// Returns two lists, which may be the same, as the core's membership.
pub(crate) fn membership(lists: [u8; 2]) -> Membership {
    let [list, also] = lists.map(set);
    let is_one = also == list && list == NodeSet::first(list.len());
    let found = if is_one { Membership::of(list.len()) } else { Membership::joint(list, also) };
    found.expect("lists without nodes")
}

/// Nodes that can change places: neighbours of one class.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// The places where each class begins, and where the last one ends.
    bounds: Vec<usize>,
}

impl Classes {
    /// Takes neighbours with the same signature for a class.
    pub(crate) fn of<S: PartialEq>(nodes: usize, signature: impl Fn(usize) -> S) -> Self {
        let begins = (1..nodes).filter(|node| signature(*node) != signature(node - 1));
        Self { bounds: [0].into_iter().chain(begins).chain([nodes]).collect() }
    }

    pub(crate) fn sort<N: Ord>(&self, nodes: &mut [N]) {
        for class in self.bounds.windows(2) {
            nodes[class[0]..class[1]].sort_unstable();
        }
    }
}

/// Returns in which of the lists a node is.
pub(crate) fn listed(lists: impl Iterator<Item = [u8; 2]>, node: usize) -> Vec<u8> {
    lists.flatten().map(|list| list >> node & 1).collect()
}
