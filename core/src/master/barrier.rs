//! The barrier: other clients that have, or may have, different settings keep a round from
//! beginning.
//!
//! A process that was stopped does not know which clients have come in the meantime. Nor does a
//! process behind a partition that has just healed. So no round begins before every master has
//! answered a question that is recent enough, or has left it unanswered for an operation timeout.
//! That also applies to a master whose connection was lost, until a redial of it has failed
//! lately. Heartbeats usually ensure this, and it costs nothing. Otherwise the votes of three
//! masters could win before the answers of the two that know better are read. What is then decided
//! is in [`crate::quorum::agreement`].

use super::{Masters, Session};
use crate::lock::Purpose;
use crate::quorum::{Instant, LONGEST_SILENCE, NodeSet, agreement};
use crate::shared::{AttemptId, RequestId};
use std::sync::Arc;
use std::time::Duration;

/// A round that waits to be sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    Acquire(RequestId),
    Extend(AttemptId, Purpose),
}

/// A round that waits for answers to questions that were asked at `since` or later, or not long
/// before.
struct HeldUp {
    round: Round,
    /// The life of its lock's keys.
    life: Duration,
    since: Instant,
    /// A master that has not answered by then is no longer waited for.
    opens_at: Instant,
}

/// The rounds that wait for masters to confirm.
#[derive(Default)]
pub(crate) struct Barrier {
    held_up: Vec<HeldUp>,
    /// Whether a master has said something, or is gone, since the rounds were last checked.
    stirred: bool,
    /// A round was ever about to begin: notes have to outlast rounds from then on.
    is_passed: bool,
}

impl Barrier {
    pub(crate) const fn stir(&mut self) {
        self.stirred = true;
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) const fn len(&self) -> usize {
        self.held_up.len()
    }
}

impl Masters {
    /// Returns when `handle_caught_up` is next due: masters have then had the time to answer.
    pub fn opens_at(&self) -> Option<Instant> {
        self.barrier.held_up.iter().map(|held_up| held_up.opens_at).min()
    }

    /// Returns whether a round for keys that live for `life` has to wait. If so, it begins by
    /// itself once it may.
    pub(crate) fn is_held_up(&mut self, now: Instant, life: Duration, round: Round) -> bool {
        self.note_for_rounds(now);
        #[cfg(any(test, feature = "testing"))]
        if !self.settings.agreement.keeps(super::Rule::Barrier) {
            return false;
        }
        let held_up = HeldUp { round, life, since: now, opens_at: now };
        let opens_at = self.awaited_until(now, &held_up, false);
        self.barrier.held_up.extend(opens_at.map(|opens_at| HeldUp { opens_at, ..held_up }));
        opens_at.is_some()
    }

    /// Notes for longer from now on: a round is about to begin that rests on the notes. Its commands
    /// follow the questions at once. Only if a master has reported other clients does it wait for the
    /// answers: they decide which masters are shields.
    #[inline]
    pub(crate) fn note_for_rounds(&mut self, now: Instant) {
        self.round_at = now;
        self.sessions.iter_mut().for_each(|session| session.end_rest(now));
        if !std::mem::replace(&mut self.barrier.is_passed, true) {
            let all_again = self.sessions.iter().any(|session| session.report().is_some());
            let each = self.sessions.iter_mut();
            each.for_each(|session| session.note_for_rounds(now, all_again));
        }
    }

    /// Returns until when a round waits for the masters that have not answered, if there are any.
    /// Those that are open are asked. Once all is read, a master that has had the time to answer
    /// counts as silent.
    fn awaited_until(&mut self, now: Instant, held_up: &HeldUp, is_read: bool) -> Option<Instant> {
        // Masters that keep another client away are asked more often. Otherwise they are not
        // shields.
        let (theirs, quarantine) = self.to_be_kept_away();
        let shield_life = agreement::shield_life(held_up.life, quarantine, self.settings.drift);
        let mut latest = None;
        for (node, session) in self.sessions.iter_mut().enumerate() {
            let age = if theirs.contains(node) { shield_life } else { LONGEST_SILENCE };
            let until = session.awaited_until(now, held_up.since, age);
            latest = latest.max(until.filter(|until| !is_read || *until > now));
        }
        latest
    }

    /// Returns the rounds that were held up and whose masters have answered, in their order. Once all `is_read`, one
    /// whose masters have had the time to answer may begin, too.
    pub(crate) fn let_through(&mut self, now: Instant, is_read: bool) -> Vec<Round> {
        let mut through = Vec::new();
        if self.barrier.held_up.is_empty() || !std::mem::take(&mut self.barrier.stirred) {
            return through;
        }
        for held_up in std::mem::take(&mut self.barrier.held_up) {
            match self.awaited_until(now, &held_up, is_read) {
                Some(opens_at) => self.barrier.held_up.push(HeldUp { opens_at, ..held_up }),
                None => through.push(held_up.round),
            }
        }
        through
    }

    /// Returns our masters that are in the lists of the clients that were reported to us. Also
    /// returns the shortest time for which any of these clients does not ask a master that has
    /// started.
    fn to_be_kept_away(&self) -> (NodeSet, Duration) {
        let reports = self.sessions.iter().filter_map(Session::report);
        reports.fold((NodeSet::EMPTY, self.settings.quarantine), |(theirs, quarantine), report| {
            let lists = report.clients.iter().flatten().map(|list| list.ours);
            let other = report.theirs.quarantine(self.settings.drift);
            (lists.fold(theirs, NodeSet::union), quarantine.min(other))
        })
    }

    /// Returns the master whose report of another client bars us: nothing may be sent to any
    /// master, for keys that live for `life`. That client has other lists, and our shields leave it
    /// a quorum.
    pub(crate) fn barred(&self, now: Instant, life: Duration) -> Option<Arc<str>> {
        let reports =
            || self.sessions.iter().filter_map(|session| Some((&session.name, session.report()?)));
        reports().next()?;
        let shields = self.shields(now, life);
        reports().find_map(|(name, report)| {
            let wins = report.clients.iter().any(|lists| agreement::wins_apart(lists, shields));
            wins.then(|| name.clone())
        })
    }

    /// Returns the masters that keep the reported clients away from keys that live for `life`.
    pub(crate) fn shields(&self, now: Instant, life: Duration) -> NodeSet {
        let (_, quarantine) = self.to_be_kept_away();
        let shields = |session: &Session| session.shields(now, life, quarantine);
        NodeSet::places(&self.sessions, shields)
    }

    /// Updates how long masters that have started do not vote, after a master has changed its
    /// report. The time follows from the numbers of all clients together.
    pub(crate) fn weigh_numbers(&mut self, now: Instant) {
        let ours = self.settings.agreement.numbers();
        let theirs = self.sessions.iter().filter_map(|session| Some(session.report()?.theirs));
        let joint = theirs.fold(ours, agreement::Numbers::joint);
        let quarantine = match joint == ours {
            true => self.settings.quarantine,
            false => joint.quarantine(self.settings.drift).max(self.settings.quarantine),
        };
        if self.quarantine != quarantine {
            self.quarantine = quarantine;
            self.sessions.iter_mut().for_each(|session| session.wait_for(now, quarantine));
        }
    }
}
