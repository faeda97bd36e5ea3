//! The timed work of one master.

use super::{HEARTBEAT, State, TIMEOUTS_BEFORE_REPLACEMENT};
use crate::master::{Fault, Session, Wake};
use crate::quorum::Instant;
use crate::shared::Random;
use crate::wire::Packer;
use std::time::Duration;

impl Session {
    /// Returns when this session next has to be woken.
    pub(crate) fn wake_at(&self) -> Instant {
        let of_the_state = match self.state {
            State::Down { redial_at } => redial_at,
            State::Dialing => Instant::NEVER,
            State::Handshake { until } => until,
            State::Open { heartbeat_at } => {
                let votes = self.warming.then_some(self.votes_from);
                // Each session is asked at each turn of the driver: chained iterators cost more.
                let others = [self.ledger.retry_at(), self.silent_until(), votes];
                let own = heartbeat_at.min(self.renewal.due_at());
                others.into_iter().flatten().fold(own, Instant::min)
            }
        };
        self.told().map_or(of_the_state, |told| of_the_state.min(told.until))
    }

    /// Does the work that is due at `now`.
    pub(crate) fn wake(
        &mut self,
        now: Instant,
        random: &mut dyn Random,
        packer: &mut Packer,
    ) -> Wake {
        if self.forget(now) {
            return Wake::Changed;
        }
        if self.is_to_renew(now) {
            return Wake::Renew;
        }
        match self.state {
            State::Down { redial_at } if now >= redial_at => Wake::Dial,
            State::Handshake { until } if now >= until => {
                Wake::Close(Fault::down("no answer to the handshake"))
            }
            State::Open { .. } if self.silent_until().is_some_and(|at| now >= at) => {
                Wake::Close(Fault::down("the server has fallen silent"))
            }
            State::Open { heartbeat_at } => {
                if now >= heartbeat_at {
                    self.beat(now);
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
    pub(crate) fn silent_for(&self, now: Instant) -> Duration {
        self.pipe.silent_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns until when the server may owe an answer in silence.
    fn silent_until(&self) -> Option<Instant> {
        let since = self.pipe.silent_since()?;
        Some(
            since
                .after(self.settings.operation_timeout.saturating_mul(TIMEOUTS_BEFORE_REPLACEMENT)),
        )
    }
}

/// Returns `span`, changed by up to a fifth, so that clients and nodes fall out of step.
pub(super) fn jittered(span: Duration, random: &mut dyn Random) -> Duration {
    let fifth = span / 5;
    let picked = (fifth.as_nanos() * 2 * u128::from(random.jitter())) >> 64;
    span.saturating_sub(fifth) + Duration::from_nanos(u64::try_from(picked).unwrap_or(0))
}
