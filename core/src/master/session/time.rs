//! The timed work of one master.

use super::{State, TIMEOUTS_BEFORE_REPLACEMENT};
use crate::master::{Fault, Session, Wake};
use crate::quorum::agreement::HEARTBEAT;
use crate::quorum::{Instant, LONGEST_SILENCE};
use crate::report::Span;
use crate::shared::Random;
use crate::wire::Packer;
use std::time::Duration;

impl Session {
    /// Returns when this session next has to be woken.
    pub(crate) fn wake_at(&self) -> Instant {
        let of_the_state = match self.state {
            State::Down(redial) => redial.at,
            State::Dialing => Instant::NEVER,
            State::Handshake { until } => until,
            State::Open { heartbeat_at } => {
                let votes = self.warming.then_some(self.votes_from);
                // Each session is asked at each turn of the driver: chained iterators cost more.
                let others = [self.ledger.retry_at, self.silent_until(), votes, self.renewal.due];
                others.into_iter().flatten().fold(heartbeat_at, Instant::min)
            }
        };
        self.report().map_or(of_the_state, |report| of_the_state.min(report.until))
    }

    /// Does the work that is due at `now`, for a client that uses no lock or one that may.
    pub(crate) fn wake(
        &mut self,
        now: Instant,
        may_rest: bool,
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
            State::Down(redial) if now >= redial.at => Wake::Dial,
            State::Handshake { until } if now >= until => {
                let within = Span(self.settings.connect_timeout);
                Wake::Close(Fault::down(format!(
                    "no answer to the handshake within {within}: raise connect_timeout"
                )))
            }
            State::Open { .. } if self.silent_until().is_some_and(|at| now >= at) => {
                let within = Span(self.settings.operation_timeout);
                Wake::Close(Fault::down(format!(
                    "the server has fallen silent for {TIMEOUTS_BEFORE_REPLACEMENT} times {within}: \
                     if it is only slow, raise operation_timeout"
                )))
            }
            State::Open { heartbeat_at } => {
                if now >= heartbeat_at {
                    self.beat(now);
                    self.rests = may_rest;
                    let heartbeat_at = now.after(jittered(self.pace(), random));
                    self.state = State::Open { heartbeat_at };
                }
                if self.ledger.retry_at.is_some_and(|at| now >= at) {
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

    /// Returns the interval until the next heartbeat.
    fn pace(&self) -> Duration {
        if self.rests && !self.is_brief { self.settings.rest.heartbeat } else { HEARTBEAT }
    }

    /// Asks at once again, or soon, since a round begins: the client rests no longer.
    pub(crate) fn end_rest(&mut self, now: Instant) {
        if !std::mem::take(&mut self.rests) {
            return;
        }
        let is_stale = self.heard_at.is_none_or(|at| now.since(at) > LONGEST_SILENCE);
        if let State::Open { heartbeat_at } = &mut self.state {
            *heartbeat_at = now.after(HEARTBEAT).min(*heartbeat_at);
            if is_stale {
                self.beat(now);
            }
        }
    }

    /// Returns how long the server has owed an answer in silence.
    pub(crate) fn silent_for(&self, now: Instant) -> Duration {
        self.pipe.silent_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns until when the server may owe an answer in silence.
    fn silent_until(&self) -> Option<Instant> {
        let since = self.pipe.silent_since()?;
        let longest = self.settings.operation_timeout.saturating_mul(TIMEOUTS_BEFORE_REPLACEMENT);
        Some(since.after(longest))
    }
}

/// Returns `span`, changed by up to a fifth, so that clients and nodes fall out of step.
pub(super) fn jittered(span: Duration, random: &mut dyn Random) -> Duration {
    let fifth = span / 5;
    span.saturating_sub(fifth) + part_of(2 * fifth, random.jitter())
}

/// Returns the longest that [`jittered`] makes of `span`.
pub(super) fn longest_jittered(span: Duration) -> Duration {
    span + span / 5
}

/// Returns the part of `span` that a random number picks.
pub(super) fn part_of(span: Duration, random: u64) -> Duration {
    let picked = (span.as_nanos() * u128::from(random)) >> 64;
    Duration::from_nanos(u64::try_from(picked).unwrap_or(0))
}
