//! Fenced acquires: what they propose, and what they learn from refusals.

use super::contention::Contention;
use super::round::Round;
use super::wire::{Ballot, Reply};
use super::{Coordinator, FailureKind, Keys, RequestId, RoundId, Settings};
use crate::quorum::{Instant, Membership, NodeSet, fence};
use crate::report::{Answer, NodeReport, Refusal, Span, UnknownCause};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The extra time for which a fence is kept. The fence is kept for as long as a master that has
/// lost it does not vote, and for this much longer. Expiry and TIME use clocks of different
/// granularity.
pub(super) const KEPT_LONGER: Duration = Duration::from_secs(1);

/// The values that a script returns with its refusal.
struct Lesson {
    fence: u64,
    clock_us: u64,
}

impl Coordinator {
    /// Returns the ballot of the next attempt at the keys of these fences.
    pub(super) fn propose(&mut self, now: Instant, fences: Arc<Keys>) -> Box<Ballot> {
        let wall_us = self.wall_us(now);
        let number = self.ballots.propose(wall_us);
        let kept = self.settings.quarantine.saturating_add(KEPT_LONGER);
        let window = self.settings.window;
        Box::new(Ballot { fences, number, greatest: number, window, kept })
    }

    /// Learns from one refusal: a fence for the next ballot, and one node's clock.
    pub(super) fn learn(&mut self, now: Instant, id: RoundId, node: usize, reply: &Reply) {
        let Reply::Array(parts) = reply else { return };
        let Some(Lesson { fence, clock_us }) = lesson(parts) else { return };
        self.ballots.learn_fence(fence);
        let wall_us = self.wall_us(now);
        let request = self.rounds.get(id).and_then(|round| round.kind.acquirer());
        if let Some(one) = request.and_then(|request| self.acquisitions.contention_mut(request)) {
            one.clocks.record(node, clock_us, wall_us);
        }
    }

    /// Learns the nodes' clocks from a lost round with this ballot. Returns a cause if they are too
    /// far apart for any ballot.
    pub(super) fn learn_clocks(
        &mut self,
        now: Instant,
        request: RequestId,
        round: &Round,
        ballot: Option<NonZeroU64>,
    ) -> Option<Arc<str>> {
        let wall_us = self.wall_us(now);
        let asked_us = wall_us.saturating_sub(fence::micros(now.since(round.started)));
        let (membership, window) = (self.settings.membership, self.settings.window);
        let clocks = &mut self.acquisitions.contention_mut(request)?.clocks;
        let refused = ballot.filter(|_| round.refuses_ballots());
        if let Some(ballot) = refused {
            for node in (0..self.sessions.len()).filter(|&node| round.has_granted(node)) {
                clocks.record_grant(node, ballot.get(), window, asked_us..=wall_us);
            }
        }
        self.ballots.learn_clocks(clocks, membership, wall_us);
        clocks.apart(membership, window).filter(|_| refused.is_some()).map(|apart| {
            let (spread, width) = (Span(apart.spread), Span(self.settings.window.width()));
            format!("the masters' clocks are {spread} apart, the fencing window is {width} wide")
                .into()
        })
    }

    fn wall_us(&self, now: Instant) -> u64 {
        let (read_at, wall_us) = self.wall;
        wall_us.saturating_add(fence::micros(now.since(read_at)))
    }
}

/// The number of attempts in a row that may hurry after a refused ballot. Each refusal teaches
/// something. This many correct for a ballot of a neighbour in between, and after it for a clock.
const BALLOTS_IN_A_HURRY: u32 = 4;

impl Contention {
    /// Returns whether a refused ballot will soon be corrected. If ballots are refused again and
    /// again, the masters' clocks have to change, and it is unknown when they will.
    pub(super) fn may_hurry(&mut self, reports: &[NodeReport]) -> bool {
        let refused = |report: &NodeReport| {
            matches!(report.answer, Answer::Refused(Refusal::Stale | Refusal::Clock { .. }))
        };
        self.ballots_refused =
            if reports.iter().any(refused) { self.ballots_refused.saturating_add(1) } else { 0 };
        self.hurries()
    }

    /// Returns whether the last ballots were not refused again and again.
    pub(super) const fn hurries(&self) -> bool {
        self.ballots_refused <= BALLOTS_IN_A_HURRY
    }

    /// Returns whether only our ballot, or scripts that the masters had forgotten, prevented the
    /// win, and this for the first time. If so, this is noted.
    pub(super) fn is_mended(
        &mut self,
        membership: Membership,
        kind: &FailureKind,
        reports: &[NodeReport],
    ) -> bool {
        let mended = |answer: &Answer| match answer {
            Answer::Refused(Refusal::Stale | Refusal::Clock { .. }) => true,
            other => has_no_script(other),
        };
        let willing = reports.iter().enumerate().filter_map(|(node, report)| {
            let willing = matches!(report.answer, Answer::Granted | Answer::Outstanding);
            (willing || mended(&report.answer)).then_some(node)
        });
        let is_mended = !self.mended
            && self.ballots_refused <= BALLOTS_IN_A_HURRY
            && !matches!(kind, FailureKind::Disagreement(_))
            && reports.iter().any(|report| mended(&report.answer))
            && membership.is_quorum(willing.collect::<NodeSet>());
        self.mended |= is_mended;
        is_mended
    }
}

/// Returns whether a master had forgotten the script that it was asked to run.
pub(super) fn has_no_script(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(Refusal::Server(error)) if error.starts_with("NOSCRIPT"))
}

/// Reads `{why, ms until it may be free, fence, us of the node's clock}`, as `scripts/acquire.lua`
/// returns it.
fn lesson(parts: &[Reply]) -> Option<Lesson> {
    let [_, _, fence, clock, ..] = parts else { return None };
    let number = |part: &Reply| part.text()?.parse().ok();
    let lesson = Lesson { fence: number(fence)?, clock_us: number(clock)? };
    // Without a ballot, the script does not read its clock.
    (1..=fence::GREATEST).contains(&lesson.clock_us).then_some(lesson)
}

/// Returns the number with which a top-up is repeated that a fence has refused. It is above that fence
/// by a margin, in which others may raise the fence again, and within what the window lets in.
pub(super) fn number_above(reply: &Reply, settings: &Settings) -> Option<u64> {
    let Reply::Array(parts) = reply else { return None };
    let is_stale = matches!(parts.first(), Some(Reply::Int(-1)));
    let Lesson { fence, clock_us } = lesson(parts).filter(|_| is_stale)?;
    let ahead = settings.window.ahead;
    let margin = fence::micros(settings.operation_timeout.min(ahead / 2));
    let greatest = clock_us.saturating_add(fence::micros(ahead));
    Some(fence.saturating_add(margin).min(greatest).max(fence.saturating_add(1)))
}

/// Reads a refusal of the acquire's script.
pub(super) fn refusal(parts: &[Reply]) -> Answer {
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
        [Reply::Int(2), _, _, _, _, Reply::Int(ahead), ..] => {
            let ahead = usize::try_from(*ahead).unwrap_or_default();
            Answer::Refused(Refusal::Behind { ahead })
        }
        [Reply::Int(-1), ..] => Answer::Refused(Refusal::Stale),
        [Reply::Int(-2), ..] => {
            let shows_us = lesson(parts).map_or(0, |lesson| lesson.clock_us);
            Answer::Refused(Refusal::Clock { shows_us })
        }
        _ => Answer::Unknown(UnknownCause::Server("an answer that an acquire cannot have".into())),
    }
}
