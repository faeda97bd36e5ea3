//! Fenced acquires: what they propose, and what they learn from refusals.

use super::Masters;
use crate::quorum::{Instant, fence};
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{Keys, Settings};
use crate::wire::{Ballot, Reply};
use std::sync::Arc;
use std::time::Duration;

/// The extra time for which a fence is kept. The fence is kept for as long as a master that has
/// lost it does not vote, and for this much longer. Expiry and TIME use clocks of different
/// granularity.
const KEPT_LONGER: Duration = Duration::from_secs(1);

impl Masters {
    /// Returns the ballot of the next attempt at the keys of these fences. If its hold may go from guard to
    /// guard, it ends a block of numbers for them.
    pub(crate) fn propose(&mut self, now: Instant, fences: Arc<Keys>, is_warm: bool) -> Ballot {
        let wall_us = self.wall_us(now);
        let wanted = if is_warm { fence::BLOCK } else { 1 };
        let (number, last) = self.ballots.propose_block(wall_us, wanted).into_inner();
        Ballot { last, greatest: last, ..self.ballot(fences, number) }
    }

    /// Returns a ballot with this number, by this client's settings.
    pub(crate) fn ballot(&self, fences: Arc<Keys>, number: u64) -> Ballot {
        let kept = self.settings.quarantine.saturating_add(KEPT_LONGER);
        let window = self.settings.window;
        Ballot { fences, number, last: number, greatest: number, window, kept }
    }

    /// Learns a fence for the next ballot from a refusal. Returns the time on the node's clock.
    pub(crate) fn learn_fence(&mut self, parts: &[Reply]) -> Option<u64> {
        let (fence, clock_us) = lesson(parts)?;
        self.ballots.learn_fence(fence);
        Some(clock_us)
    }

    /// Returns the time on our wall clock, in microseconds since 1970.
    pub(crate) fn wall_us(&self, now: Instant) -> u64 {
        let (read_at, wall_us) = self.wall;
        wall_us.saturating_add(fence::micros(now.since(read_at)))
    }
}

/// Returns whether a master had forgotten the script that it was asked to run.
pub(crate) fn has_no_script(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(Refusal::Server(error)) if error.starts_with("NOSCRIPT"))
}

/// Reads the fence and the node's clock in `{why, ms until it may be free, fence, us of the node's clock}`, as
/// `scripts/acquire.lua` returns it.
fn lesson(parts: &[Reply]) -> Option<(u64, u64)> {
    let [_, _, fence, clock, ..] = parts else { return None };
    let number = |part: &Reply| part.text()?.parse().ok();
    let (fence, clock_us) = (number(fence)?, number(clock)?);
    // Without a ballot, the script does not read its clock.
    (1..=fence::GREATEST).contains(&clock_us).then_some((fence, clock_us))
}

/// Returns the number with which a top-up is repeated that a fence has refused. It is above that fence
/// by a margin, in which others may raise the fence again, and within what the window lets in.
pub(crate) fn number_above(reply: &Reply, settings: &Settings) -> Option<u64> {
    let Reply::Array(parts) = reply else { return None };
    let is_stale = matches!(parts.first(), Some(Reply::Int(-1)));
    let (fence, clock_us) = lesson(parts).filter(|_| is_stale)?;
    let ahead = settings.window.ahead;
    let margin = fence::micros(settings.operation_timeout.min(ahead / 2));
    let greatest = clock_us.saturating_add(fence::micros(ahead));
    Some(fence.saturating_add(margin).min(greatest).max(fence.saturating_add(1)))
}

/// Reads a refusal of the acquire's script.
pub(crate) fn refusal(parts: &[Reply]) -> Answer {
    match parts {
        [Reply::Int(0), Reply::Int(left), ..] => {
            // -1: a key that never expires.
            let remaining = u64::try_from(*left).ok().map(Duration::from_millis);
            Answer::Refused(Refusal::Held { remaining })
        }
        [Reply::Int(1), Reply::Int(left), ..] => {
            let remaining = Duration::from_millis(u64::try_from(*left).unwrap_or_default());
            Answer::Refused(Refusal::Wanted { remaining })
        }
        [Reply::Int(-1), ..] => Answer::Refused(Refusal::Stale),
        [Reply::Int(-2), ..] => {
            let shows_us = lesson(parts).map_or(0, |(_, clock_us)| clock_us);
            Answer::Refused(Refusal::Clock { shows_us })
        }
        _ => Answer::Unknown(UnknownCause::Server("an answer that an acquire cannot have".into())),
    }
}
