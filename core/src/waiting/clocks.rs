//! What a fenced acquire learns from refusals: the masters' clocks, and whether its next ballot will do.

use super::{Contention, Waiters};
use crate::master::fencing::has_no_script;
use crate::quorum::{Instant, Membership, NodeSet, fence};
use crate::report::{Answer, NodeReport, Span};
use crate::shared::{Cx, FailureKind, RequestId};
use crate::waiting::tuning::HURRIES;
use std::num::NonZeroU64;
use std::sync::Arc;

impl Waiters {
    /// Learns one node's clock from a refusal.
    pub(crate) fn learn_clock(&mut self, cx: &Cx, request: RequestId, node: usize, clock_us: u64) {
        if let Some(contention) = self.acquisitions.contention_mut(request) {
            contention.clocks.record(node, clock_us, cx.masters.wall_us(cx.now));
        }
    }

    /// Learns the nodes' clocks from a lost round with this ballot. Returns a cause if they are too
    /// far apart for any ballot.
    pub(crate) fn learn_clocks(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        reports: &[NodeReport],
        started: Instant,
        ballot: Option<NonZeroU64>,
    ) -> Option<Arc<str>> {
        let wall_us = cx.masters.wall_us(cx.now);
        let asked_us = wall_us.saturating_sub(fence::micros(cx.now.since(started)));
        let settings = &cx.masters.settings;
        let (membership, window) = (settings.membership, settings.window);
        let clocks = &mut self.acquisitions.contention_mut(request)?.clocks;
        let is_refused = reports.iter().any(|report| report.answer.refuses_ballot());
        let refused = ballot.filter(|_| is_refused);
        if let Some(ballot) = refused {
            for node in NodeSet::places(reports, |report| report.answer == Answer::Granted).iter() {
                clocks.record_grant(node, ballot.get(), window, asked_us..=wall_us);
            }
        }
        cx.masters.ballots.learn_clocks(clocks, membership, wall_us);
        clocks.apart(membership, window).filter(|_| refused.is_some()).map(|apart| {
            let (spread, width) = (Span(apart.spread), Span(window.width()));
            format!("the masters' clocks are {spread} apart, the fencing window is {width} wide")
                .into()
        })
    }
}

impl Contention {
    /// Returns whether a refused ballot will soon be corrected. If ballots are refused again and
    /// again, the masters' clocks have to change, and it is unknown when they will.
    pub(crate) fn may_hurry(&mut self, reports: &[NodeReport]) -> bool {
        let is_refused = reports.iter().any(|report| report.answer.refuses_ballot());
        self.ballots_refused = if is_refused { self.ballots_refused.saturating_add(1) } else { 0 };
        self.hurries()
    }

    /// Returns whether the last ballots were not refused again and again.
    pub(crate) const fn hurries(&self) -> bool {
        self.ballots_refused <= HURRIES
    }

    /// Returns whether only our ballot, or scripts that the masters had forgotten, prevented the
    /// win, and this for the first time. If so, this is noted.
    pub(crate) fn is_mended(
        &mut self,
        membership: Membership,
        kind: &FailureKind,
        reports: &[NodeReport],
    ) -> bool {
        let mended = |answer: &Answer| answer.refuses_ballot() || has_no_script(answer);
        let willing = NodeSet::places(reports, |NodeReport { answer, .. }| {
            matches!(answer, Answer::Granted | Answer::Outstanding) || mended(answer)
        });
        let is_mended = !self.mended
            && self.hurries()
            && !matches!(kind, FailureKind::Disagreement(_))
            && reports.iter().any(|report| mended(&report.answer))
            && membership.is_quorum(willing);
        self.mended |= is_mended;
        is_mended
    }
}
