//! The barrier: other clients that have, or may have, different settings keep a round from
//! beginning.
//!
//! A process that was stopped does not know which clients have come in the meantime. Nor does a
//! process behind a partition that has just healed. So no round begins before every master has
//! answered a question that is recent enough, or has left it unanswered for an operation timeout.
//! That also applies to a master whose connection has just been lost, until the first redial of it
//! has failed. Heartbeats usually ensure this, and it costs nothing. Otherwise the votes of three
//! masters could win before the answers of the two that know better are read. What is then decided
//! is in [`crate::quorum::agreement`].

use super::contention::Phase;
use super::purpose::Purpose;
use super::{AttemptId, Coordinator, RequestId};
use crate::quorum::{Instant, LONGEST_SILENCE, NodeSet, agreement};
use std::sync::Arc;
use std::time::Duration;

/// A round that waits to be sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
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
pub(super) struct Barrier {
    held_up: Vec<HeldUp>,
    /// Whether a master has said something, or is gone, since the rounds were last checked.
    stirred: bool,
    /// A round was ever about to begin: notes have to outlast rounds from then on.
    is_passed: bool,
}

impl Barrier {
    pub(super) const fn stir(&mut self) {
        self.stirred = true;
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) const fn len(&self) -> usize {
        self.held_up.len()
    }
}

impl Coordinator {
    /// Returns when [`Coordinator::handle_caught_up`] is next due: masters have then had the time
    /// to answer.
    pub fn opens_at(&self) -> Option<Instant> {
        self.barrier.held_up.iter().map(|held_up| held_up.opens_at).min()
    }

    /// Handles the end of reading: all that has arrived by `now` has been read. Time alone is not a
    /// reason to go on without a master: after a stop, its answer may have been there for a long
    /// time.
    pub fn handle_caught_up(&mut self, now: Instant) {
        if self.opens_at().is_none_or(|at| at > now) {
            return;
        }
        self.barrier.stir();
        self.let_through(now, true);
        self.serve_waiting(now);
    }

    /// Returns whether a round for keys that live for `life` has to wait. If so, it begins by
    /// itself once it may.
    pub(super) fn is_held_up(&mut self, now: Instant, life: Duration, round: Round) -> bool {
        self.note_for_rounds(now);
        #[cfg(any(test, feature = "testing"))]
        if !self.settings.agreement.keeps(super::Rule::Barrier) {
            return false;
        }
        let opens_at = self.awaited_until(now, now, life, false);
        let held_up = opens_at.map(|opens_at| HeldUp { round, life, since: now, opens_at });
        self.barrier.held_up.extend(held_up);
        opens_at.is_some()
    }

    /// Notes for longer from now on: a round is about to begin that rests on the notes. Its commands
    /// follow the questions at once. Only if a master has reported other clients does it wait for the
    /// answers: they decide which masters are shields.
    #[inline]
    pub(super) fn note_for_rounds(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.barrier.is_passed, true) {
            let Self { sessions, settings, .. } = self;
            let all_again = sessions.iter().any(|session| session.told().is_some());
            let each = sessions.iter_mut();
            each.for_each(|session| session.note_for_rounds(now, settings, all_again));
        }
    }

    /// Returns until when the masters that have not answered are waited for, if there are any.
    /// Those that are open are asked. Once all is read, a master that has had the time to answer
    /// counts as silent.
    fn awaited_until(
        &mut self,
        now: Instant,
        since: Instant,
        life: Duration,
        is_read: bool,
    ) -> Option<Instant> {
        // Masters that keep another client away are asked more often. Otherwise they are not
        // shields.
        let (theirs, quarantine) = self.to_be_kept_away();
        let shield_life = agreement::shield_life(life, quarantine, self.settings.drift);
        let Self { sessions, settings, .. } = self;
        let mut latest = None;
        for (node, session) in sessions.iter_mut().enumerate() {
            let age = if theirs.contains(node) { shield_life } else { LONGEST_SILENCE };
            let until = session.awaited_until(now, since, age, settings);
            latest = latest.max(until.filter(|until| !is_read || *until > now));
        }
        latest
    }

    /// Begins rounds that were held up, in their order: those whose masters have answered. Once all
    /// `is_read`, those whose masters have had the time to answer begin, too.
    pub(super) fn let_through(&mut self, now: Instant, is_read: bool) {
        if self.barrier.held_up.is_empty() || !std::mem::take(&mut self.barrier.stirred) {
            return;
        }
        // After a stop there may be thousands with the same values.
        let mut last: Option<(Duration, Instant, Option<Instant>)> = None;
        for one in std::mem::take(&mut self.barrier.held_up) {
            let opens_at = match last {
                Some((life, since, opens_at)) if (life, since) == (one.life, one.since) => opens_at,
                _ => self.awaited_until(now, one.since, one.life, is_read),
            };
            last = Some((one.life, one.since, opens_at));
            match opens_at {
                Some(opens_at) => self.barrier.held_up.push(HeldUp { opens_at, ..one }),
                None => self.begin(now, one.round),
            }
        }
    }

    fn begin(&mut self, now: Instant, round: Round) {
        match round {
            Round::Acquire(request) => {
                if let Some(contention) = self.acquisitions.contention(request)
                    && matches!(contention.phase, Phase::Confirming)
                {
                    self.begin_attempt(now, request);
                }
            }
            Round::Extend(attempt, purpose) => self.send_extension(now, attempt, purpose),
        }
    }

    /// Returns our masters that are in the lists of the clients that were reported to us. Also
    /// returns the shortest time for which any of these clients does not ask a master that has
    /// started.
    fn to_be_kept_away(&self) -> (NodeSet, Duration) {
        let told = self.sessions.iter().filter_map(super::Session::told);
        told.fold((NodeSet::EMPTY, self.settings.quarantine), |(theirs, quarantine), told| {
            let lists = told.clients.iter().flatten().map(|list| list.ours);
            let other = told.theirs.quarantine(self.settings.drift);
            (lists.fold(theirs, NodeSet::union), quarantine.min(other))
        })
    }

    /// Returns the master whose report of another client bars us: nothing may be sent to any
    /// master, for keys that live for `life`. That client has other lists, and our shields leave it
    /// a quorum.
    pub(super) fn barred(&self, now: Instant, life: Duration) -> Option<Arc<str>> {
        let told = || self.sessions.iter().filter_map(|one| Some((&one.name, one.told()?)));
        told().next()?;
        let ((_, quarantine), drift) = (self.to_be_kept_away(), self.settings.drift);
        let shields = |(node, session): (usize, &super::Session)| {
            session.shields(now, life, quarantine, drift).then_some(node)
        };
        let shields: NodeSet = self.sessions.iter().enumerate().filter_map(shields).collect();
        told().find_map(|(name, told)| {
            let wins = told.clients.iter().any(|lists| agreement::wins_apart(lists, shields));
            wins.then(|| name.clone())
        })
    }

    /// Updates how long masters that have started do not vote, after a master has changed its
    /// report. The time follows from the numbers of all clients together.
    pub(super) fn weigh_numbers(&mut self, now: Instant) {
        let ours = self.settings.agreement.numbers();
        let told = self.sessions.iter().filter_map(|session| Some(session.told()?.theirs));
        let joint = told.fold(ours, agreement::Numbers::joint);
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
