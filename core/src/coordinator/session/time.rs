//! The timed work of one master.

use super::{HEARTBEAT, Session, State, TIMEOUTS_BEFORE_REPLACEMENT, Wake};
use crate::coordinator::fault::Fault;
use crate::coordinator::wire::Packer;
use crate::coordinator::{Random, Settings};
use crate::quorum::Instant;
use std::time::Duration;

impl Session {
    /// Returns when this session next has to be woken.
    pub(in crate::coordinator) fn wake_at(&self, settings: &Settings) -> Option<Instant> {
        let forgets_at = self.told().map(|told| told.until);
        let of_the_state = match self.state {
            State::Down { redial_at } => Some(redial_at),
            State::Dialing => None,
            State::Handshake { until } => Some(until),
            State::Open { heartbeat_at } => {
                let votes = self.warming.then_some(self.votes_from);
                // Each session is asked at each turn of the driver: chained iterators cost more.
                let others = [self.ledger.retry_at(), self.silent_until(settings), votes];
                Some(others.into_iter().flatten().fold(heartbeat_at, Instant::min))
            }
        };
        match (of_the_state, forgets_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Does the work that is due at `now`.
    pub(in crate::coordinator) fn wake(
        &mut self,
        now: Instant,
        settings: &Settings,
        random: &mut dyn Random,
        packer: &mut Packer,
    ) -> Wake {
        if self.forget(now) {
            return Wake::Changed;
        }
        match self.state {
            State::Down { redial_at } if now >= redial_at => Wake::Dial,
            State::Handshake { until } if now >= until => {
                Wake::Close(Fault::down("no answer to the handshake"))
            }
            State::Open { .. } if self.silent_until(settings).is_some_and(|at| now >= at) => {
                Wake::Close(Fault::down("the server has fallen silent"))
            }
            State::Open { heartbeat_at } => {
                if now >= heartbeat_at {
                    self.beat(now, settings);
                    let heartbeat_at = now.after(jittered(HEARTBEAT, random));
                    self.state = State::Open { heartbeat_at };
                }
                if self.ledger.retry_at().is_some_and(|at| now >= at) {
                    self.pay(now, packer);
                }
                if self.warming && now >= self.votes_from {
                    self.warming = false;
                    return Wake::Changed;
                }
                Wake::Nothing
            }
            _ => Wake::Nothing,
        }
    }

    /// Returns how long the server has owed an answer in silence.
    pub(in crate::coordinator) fn silent_for(&self, now: Instant) -> Duration {
        self.pipe.silent_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns until when the server may owe an answer in silence.
    fn silent_until(&self, settings: &Settings) -> Option<Instant> {
        let patience = settings.operation_timeout.saturating_mul(TIMEOUTS_BEFORE_REPLACEMENT);
        self.pipe.silent_since().map(|since| since.after(patience))
    }
}

/// Returns `span`, changed by up to a fifth, so that clients and nodes fall out of step.
pub(super) fn jittered(span: Duration, random: &mut dyn Random) -> Duration {
    let fifth = span / 5;
    let picked = (fifth.as_nanos() * 2 * u128::from(random.jitter())) >> 64;
    span.saturating_sub(fifth) + Duration::from_nanos(u64::try_from(picked).unwrap_or(0))
}
