//! What is reported to an observer: one method for each thing that happens.

use super::Span;
use crate::failure::{AcquireError, LossReason};
use crate::kind_name::KindName;
use quorumlock_core::coordinator::{NotAdopted, Observation, Watching};
use quorumlock_core::status::{Margin, NodeStanding};
use std::sync::Arc;
use std::time::Duration;

/// A facade to which everything is reported.
pub(super) trait Observer {
    /// Returns how much it wants to know at the moment.
    fn watching(&self) -> Watching;

    /// An acquire has ended, and its caller has the answer or is gone.
    fn acquire_ended(&self, ending: &Ending<'_>, outcome: &str, error: Option<&AcquireError>);

    /// The machine has noted something of an acquire or of a hold.
    fn observed(&self, observation: &Observation, subject: &Subject<'_>);

    /// A caller waits for a lock of this kind from now on.
    fn waits(&self, _kind: KindName) {}

    /// It has its answer, or is gone.
    fn waits_no_more(&self, _kind: KindName) {}

    /// Another number of locks of this kind is held.
    fn held(&self, _kind: KindName, _before: usize, _held: usize) {}

    /// Another number of locks is kept warm, and no guard has them.
    fn idle(&self, _before: usize, _idle: usize) {}

    /// Another number of rounds asks for votes, or waits until it may.
    fn asks(&self, _before: [usize; 2], _rounds: [usize; 2]) {}

    /// A hold is over before its guard was given up.
    fn lost(&self, hold: &Held<'_>, reason: &LossReason);

    /// A client elsewhere has asked for a lock that a guard has.
    fn wanted(&self, _resource: &str) {}

    /// A guard was given up before its hold was over.
    fn given_up_in_time(&self, _hold: &Held<'_>) {}

    /// A guard was given up, and `outcome` says what became of its key. The lock and the time for which
    /// it was held are not known if its loss was reported before.
    fn released(&self, lock: Option<(&str, Duration)>, outcome: &str);

    /// An adoption has ended: the first extension of a lock that another process has detached.
    fn adopted(&self, resource: &str, took: Duration, outcome: &str, error: Option<&NotAdopted>);

    /// The standing of the node at this place has changed.
    fn stands(&self, place: usize, node: &str, before: Option<&str>, standing: &NodeStanding);

    /// The credentials for the node at this place could not be renewed, for this reason, or were renewed
    /// since. It may have `had_problem` before, another one.
    fn renews(&self, _place: usize, _node: &str, _had_problem: bool, _problem: Option<&str>) {}

    /// The node at this place owes another number of deletions.
    fn owes(&self, place: usize, node: &str, before: usize, owed: usize);

    /// The nodes are another quorum than before.
    fn quorum(&self, before: Option<Margin>, margin: Margin);

    /// The node at this place is not looked at any longer. It may have `had_problem` with its credentials.
    fn forgotten(&self, _place: usize, _standing: Option<&str>, _had_problem: bool, _owed: usize) {}

    /// The quorum is not looked at any longer.
    fn quorum_forgotten(&self, _margin: Option<Margin>) {}
}

/// An acquire that is about to end.
pub(crate) struct Ending<'a> {
    pub(crate) span: &'a Span,
    pub(crate) resource: &'a str,
    pub(crate) waited: Duration,
}

/// A held lock, and for how long it was held.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) resource: &'a Arc<str>,
    pub(crate) held: Duration,
}

/// What an observation is about.
pub(super) struct Subject<'a> {
    /// Present if it is an acquire.
    pub(super) span: Option<&'a Span>,
    /// Unknown if the guard was given up in the meantime.
    pub(super) resource: Option<&'a str>,
    /// The time until the deadline of a hold.
    pub(super) left: Option<Duration>,
}
