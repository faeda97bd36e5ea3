//! What keeps a round from beginning: other clients that go by something else, or may.
//!
//! A process that was stopped knows nothing of who has come meanwhile. Nor does one behind a cut that
//! has just healed. So no round begins before every master has answered a question that is young
//! enough, or has left it unanswered for an operation timeout. That goes for a master whose connection
//! has just been lost, too, until the first redial of it has failed. Heartbeats see to it as a rule, and
//! it costs nothing. The votes of three masters could otherwise win before the two that know better are
//! read. What is then decided is in [`crate::quorum::agreement`].

use super::contention::Phase;
use super::round::Asker;
use super::{AttemptId, Coordinator, RequestId};
use crate::quorum::{Instant, LONGEST_SILENCE, NodeSet, agreement};
use std::sync::Arc;
use std::time::Duration;

/// What waits to send a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Acquire(RequestId),
    Extend(Asker, AttemptId),
}

/// A round that waits for answers to questions that are asked from `since` on, or not long before.
struct HeldUp {
    round: Round,
    /// For how long the keys of its lock live.
    life: Duration,
    since: Instant,
    /// Who has not answered by then is waited for no longer.
    opens_at: Instant,
}

/// The rounds that wait for masters to confirm.
#[derive(Default)]
pub(super) struct Barrier {
    held_up: Vec<HeldUp>,
    /// A master has said something since they were looked at, or is gone.
    stirred: bool,
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
    /// When [`Coordinator::handle_caught_up`] is next due: masters have then had the time to answer.
    pub fn opens_at(&self) -> Option<Instant> {
        self.barrier.held_up.iter().map(|held_up| held_up.opens_at).min()
    }

    /// All that has arrived by `now` has been read. Time alone is no reason to go on without a master:
    /// after a stop its answer may have been there for long.
    pub fn handle_caught_up(&mut self, now: Instant) {
        if self.opens_at().is_none_or(|at| at > now) {
            return;
        }
        self.barrier.stir();
        self.let_through(now, true);
        self.serve_waiting(now);
    }

    /// Whether a round for keys that live for `life` has to wait; if so, it begins by itself once it may.
    pub(super) fn is_held_up(&mut self, now: Instant, life: Duration, round: Round) -> bool {
        #[cfg(any(test, feature = "testing"))]
        if !self.settings.agreement.keeps(super::Rule::Barrier) {
            return false;
        }
        let opens_at = self.awaited_until(now, now, life, false);
        let held_up = opens_at.map(|opens_at| HeldUp { round, life, since: now, opens_at });
        self.barrier.held_up.extend(held_up);
        opens_at.is_some()
    }

    /// Until when the masters that have not answered are waited for, if there are any. Those that are
    /// open are asked. Whoever has had the time to answer counts as silent once all is read.
    fn awaited_until(
        &mut self,
        now: Instant,
        since: Instant,
        life: Duration,
        is_read: bool,
    ) -> Option<Instant> {
        // Masters that keep somebody else away are asked more often, or they are no shields.
        let (theirs, quarantine) = self.to_be_kept_away();
        let shield_life = agreement::shield_life(life, quarantine);
        let Self { sessions, settings, .. } = self;
        let mut latest = None;
        for (node, session) in sessions.iter_mut().enumerate() {
            let age = if theirs.contains(node) { shield_life } else { LONGEST_SILENCE };
            let until = session.awaited_until(now, since, age, settings);
            latest = latest.max(until.filter(|until| !is_read || *until > now));
        }
        latest
    }

    /// Lets rounds begin that were held up, in their order: those whose masters have answered, and, once
    /// all `is_read`, those whose masters have had the time to.
    pub(super) fn let_through(&mut self, now: Instant, is_read: bool) {
        if self.barrier.held_up.is_empty() || !std::mem::take(&mut self.barrier.stirred) {
            return;
        }
        // After a stop there may be thousands of the same.
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
            Round::Extend(asker, attempt) => self.begin_extension(now, asker, attempt),
        }
    }

    /// Our masters that are in the lists of the clients of which we were told, and the shortest time for
    /// which any of these clients does not ask a master that has started.
    fn to_be_kept_away(&self) -> (NodeSet, Duration) {
        let told = self.sessions.iter().filter_map(super::Session::told);
        told.fold((NodeSet::EMPTY, self.settings.quarantine), |(theirs, quarantine), told| {
            let lists = told.clients.iter().flatten().map(|list| list.ours);
            let other = told.theirs.quarantine(self.settings.drift);
            (lists.fold(theirs, NodeSet::union), quarantine.min(other))
        })
    }

    /// Which master has told of a client because of which nothing may be sent to any, for keys that live
    /// for `life`: one that goes by other lists, of which our shields leave it a quorum.
    pub(super) fn barred(&self, now: Instant, life: Duration) -> Option<Arc<str>> {
        let told = || self.sessions.iter().filter_map(|one| Some((&one.name, one.told()?)));
        told().next()?;
        let (_, quarantine) = self.to_be_kept_away();
        let shields = |(node, session): (usize, &super::Session)| {
            session.shields(now, life, quarantine).then_some(node)
        };
        let shields: NodeSet = self.sessions.iter().enumerate().filter_map(shields).collect();
        told().find_map(|(name, told)| {
            let wins = told.clients.iter().any(|lists| agreement::wins_apart(lists, shields));
            wins.then(|| name.clone())
        })
    }

    /// A master has told something else than before: for how long do masters that have started not
    /// vote? For all numbers together that anybody goes by.
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
