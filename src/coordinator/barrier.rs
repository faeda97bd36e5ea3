//! What keeps a round from beginning: other clients that go by something else, or may.
//!
//! A process that was stopped knows nothing of who has come meanwhile. Nor does one behind a cut that
//! has just healed. So no round begins before every open master has answered a question that is young
//! enough, or has left it unanswered for an operation timeout. Heartbeats see to that as a rule, and
//! it costs nothing. The votes of three masters could otherwise win before the two that know better are
//! read. What is then decided is in [`crate::quorum::agreement`].

use super::queue::Phase;
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

struct HeldUp {
    round: Round,
    ttl: Duration,
    /// Who has not answered by then is waited for no longer.
    until: Instant,
}

/// The rounds that wait for masters to confirm.
#[derive(Default)]
pub(super) struct Barrier(Vec<HeldUp>);

impl Barrier {
    /// When the next round begins, whoever has answered by then.
    pub(super) fn opens_at(&self) -> Option<Instant> {
        self.0.iter().map(|held_up| held_up.until).min()
    }

    #[cfg(all(test, feature = "embedded"))]
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }
}

impl Coordinator {
    /// Whether a round for a lock of `ttl` may begin; if not, it begins by itself once it may.
    pub(super) fn is_held_up(&mut self, now: Instant, ttl: Duration, round: Round) -> bool {
        #[cfg(all(test, feature = "embedded"))]
        if !self.settings.agreement.keeps(super::Rule::Barrier) {
            return false;
        }
        let is_held_up = self.awaits_confirmations(now, ttl);
        if is_held_up {
            let until = now.after(self.settings.operation_timeout);
            self.barrier.0.push(HeldUp { round, ttl, until });
        }
        is_held_up
    }

    /// Asks every open master that has not confirmed for too long.
    fn awaits_confirmations(&mut self, now: Instant, ttl: Duration) -> bool {
        // While somebody else has to be kept away, the masters that do it are asked more often.
        let age = match self.sessions.iter().any(|session| session.told().is_some()) {
            true => agreement::shield_life(ttl, self.settings.quarantine),
            false => LONGEST_SILENCE,
        };
        let Self { sessions, settings, .. } = self;
        let mut awaits = false;
        for session in sessions {
            awaits |= session.is_to_confirm(now, age, settings);
        }
        awaits
    }

    /// Lets rounds begin that were held up, in their order: those whose masters have answered, and those
    /// that have waited long enough if time `is_up`. That is for a timer to say, which comes once all
    /// that has arrived is read: after a stop an answer may have been there for long.
    pub(super) fn let_through(&mut self, now: Instant, is_up: bool) {
        let mut place = 0;
        while let Some(held_up) = self.barrier.0.get(place) {
            let (ttl, until) = (held_up.ttl, held_up.until);
            if !(is_up && now >= until) && self.awaits_confirmations(now, ttl) {
                place += 1;
                continue;
            }
            match self.barrier.0.remove(place).round {
                Round::Acquire(request) => {
                    if let Some(acquisition) = self.acquisitions.get(&request)
                        && matches!(acquisition.phase, Phase::Confirming)
                    {
                        self.begin_attempt(now, request);
                    }
                }
                Round::Extend(asker, attempt) => self.begin_extension(now, asker, attempt),
            }
        }
    }

    /// Which master has told of a client because of which nothing may be sent to any, for a lock of `ttl`:
    /// one that goes by other lists, of which our shields leave it a quorum.
    pub(super) fn barred(&self, now: Instant, ttl: Duration) -> Option<Arc<str>> {
        let told = || self.sessions.iter().filter_map(|one| Some((&one.name, one.told()?)));
        told().next()?;
        let shields = |(node, session): (usize, &super::Session)| {
            session.shields(now, ttl, &self.settings).then_some(node)
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
        let told = self.sessions.iter().filter_map(|session| Some(session.told()?.numbers));
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
