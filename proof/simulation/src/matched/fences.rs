//! What pages `warm`, `joint` and `several` have: clocks of masters, fences, and blocks of numbers.

use super::lock::{Asked, Kind, Lock};
use crate::clock::{Time, WallClock};
use evaluator::{Change, Element};
use quorumlock_core::quorum::{FencingWindow, NodeSet};
use std::time::Duration;

/// The first and the last number that a fenced acquire asks for, in nanoseconds as a clock would show them.
pub(super) type Block = (i64, i64);

/// The clocks of masters, and what they are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    pub(crate) of_masters: Vec<WallClock>,
    /// They may be set, of which no page speaks that has fences: to it, no acquire is fenced then.
    pub(crate) are_set: bool,
    pub(crate) window: FencingWindow,
    /// How long a fence is kept.
    pub(crate) kept: Duration,
    /// The lists of them that clients have.
    pub(crate) lists: Vec<NodeSet>,
}

impl Clocks {
    pub(super) fn masters(&self) -> usize {
        self.of_masters.len()
    }

    /// Returns what the clock of a master shows, as its scripts see it.
    fn shows(&self, node: Element, now: i64) -> i64 {
        let time = self.of_masters[node as usize].at(now as Time);
        nanos_of_micros(time.as_micros())
    }
}

/// Returns a number of microseconds, such as a fence, as the nanoseconds of a page.
pub(super) fn nanos_of_micros(micros: u128) -> i64 {
    i64::try_from(micros.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

impl Lock {
    fn has_fences(&self) -> bool {
        self.kind.has_fences() && !self.clocks.are_set
    }

    /// Sets what the page knows of clocks in the first state, in which masters have been up since `boot`.
    pub(super) fn sets_clocks(&mut self, boot: i64) {
        if !self.kind.has_fences() {
            return;
        }
        let nanos = |span: Duration| nanos_of_micros(span.as_micros());
        let (ahead, back) = (nanos(self.clocks.window.ahead), nanos(self.clocks.window.back));
        let kept = nanos(self.clocks.kept);
        let state = &mut self.steps.state;
        let spans = [("ahead", ahead), ("back", back), ("kept", kept)];
        spans.into_iter().for_each(|(name, span)| state.set(name, &[], span));
        if self.kind == Kind::Joint {
            // No world plays the end of a joint phase: these say nothing.
            state.set("apart", &[], i64::MAX / 4);
            state.set("phase", &[], 1);
        }
        for node in state.live("Node").to_vec() {
            let shows = self.clocks.shows(node, 0);
            state.set("shows", &[node], shows);
            state.set("booted", &[node], shows + boot);
            for at in Self::places(self.kind, node) {
                state.set("fenced_at", &at, shows + boot);
                state.set("lost", &at, shows + boot);
            }
        }
    }

    pub(super) fn tick_of_clocks(&mut self, now: i64) -> Result<(), String> {
        let Self { steps, clocks, .. } = self;
        if steps.state.value("now", &[]) == now {
            return Ok(());
        }
        let mut changes = vec![steps.state.to("now", &[], now)];
        for node in steps.state.live("Node").to_vec() {
            let shows = clocks.shows(node, now);
            steps.state.set("shown", &[node], shows);
            changes.push(steps.state.to("shows", &[node], shows));
        }
        steps.advance("tick", &[("d0", now)], &changes)
    }

    /// Notes the numbers that an acquire asks for, if it does.
    pub(super) fn takes_block(&mut self, token: Element, round: Element, block: Option<Block>) {
        if self.has_fences()
            && let Some((first, last)) = block
        {
            let state = &mut self.steps.state;
            state.set("fenced", &[token], 1);
            state.set("ballot", &[round], first);
            state.set("block", &[token], last - first);
        }
    }

    // Fences.

    /// Returns what changes where a master has come back empty.
    pub(super) fn has_no_fence(&self, node: Element) -> Vec<Change> {
        let state = &self.steps.state;
        let shows = state.value("shows", &[node]);
        let mut changes = vec![state.to("booted", &[node], shows)];
        for at in Self::places(self.kind, node) {
            let gone = [("fenced_at", shows), ("lost", shows), ("fence", 0)];
            changes.extend(gone.map(|(name, value)| state.to(name, &at, value)));
        }
        changes
    }

    /// The fence at this place is over, if it is another one now and its time has come.
    pub(super) fn fence_lapses(
        &mut self,
        now: i64,
        at: &[Element],
        fence: i64,
    ) -> Result<(), String> {
        if !self.has_fences() {
            return Ok(());
        }
        let known = self.steps.state.value("fence", at);
        if known == 0 || known == fence {
            return Ok(());
        }
        let state = &self.steps.state;
        let since = state.value("fenced_at", at);
        let lasts = self.clocks.shows(at[0], now) < since + state.value("kept", &[]);
        if lasts && fence > known {
            return Ok(());
        }
        self.tick(now)?;
        let state = &self.steps.state;
        let changes = [state.to("fence", at, 0), state.to("lost", at, since)];
        self.steps.step("fence_expires", &parameters(at, 0), &changes)
    }

    /// Returns whether a key was set whose grant sets the fence, too.
    pub(super) fn is_granted_fenced(
        &self,
        node: Element,
        asked: Asked,
        after: Option<(Element, i64)>,
    ) -> bool {
        let Some((token, _)) = after.filter(|_| asked == Asked::Acquire) else { return false };
        let state = &self.steps.state;
        let was_there = self.is_under(&[node], token);
        state.is("fenced", &[token]) && !was_there
    }

    /// Adds what a grant changes of the fence.
    pub(super) fn sets_fence(
        &self,
        at: &[Element],
        token: Element,
        fence: i64,
        changes: &mut Vec<Change>,
    ) {
        let state = &self.steps.state;
        if self.has_fences() && state.is("fenced", &[token]) {
            changes.push(state.to("fence", at, fence));
            changes.push(state.to("fenced_at", at, state.value("shows", &at[..1])));
        }
    }

    /// The fence at this place is greater than before.
    pub(super) fn raises_fence(
        &mut self,
        now: i64,
        at: &[Element],
        fence: i64,
    ) -> Result<(), String> {
        if !self.has_fences() || self.steps.state.value("fence", at) == fence {
            return Ok(());
        }
        self.tick(now)?;
        let state = &self.steps.state;
        let shows = state.value("shows", &at[..1]);
        let changes = [state.to("fence", at, fence), state.to("fenced_at", at, shows)];
        self.steps.step("raise_fence", &parameters(at, fence), &changes)
    }
}

/// Returns the parameters of a step at one place.
fn parameters(at: &[Element], value: i64) -> [(&'static str, i64); 3] {
    [("n0", at[0]), ("k0", at.get(1).copied().unwrap_or(0)), ("d0", value)]
}
