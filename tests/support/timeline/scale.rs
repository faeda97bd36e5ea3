//! The horizontal time scale.

use super::model::Span;
use std::time::Duration;

/// Left and right end of the time axis.
pub(super) const LEFT: f64 = 150.0;
pub(super) const RIGHT: f64 = 1180.0;
/// Width of the whole picture.
pub(super) const WIDTH: f64 = 1200.0;

/// Possible distances between the marks of the axis, in milliseconds.
const STEPS: [u64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000,
    120_000, 300_000, 600_000, 3_600_000,
];
const MOST_TICKS: u64 = 12;

#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    span: Span,
}

impl Scale {
    pub(super) fn new(span: Span) -> Self {
        Self { span }
    }

    pub(super) fn whole(self) -> Duration {
        self.span.length()
    }

    /// Returns the position of a time; anything outside of the span is at its edge.
    pub(super) fn x(self, at: Duration) -> f64 {
        let whole = self.whole().as_secs_f64();
        let passed = at.clamp(self.span.from, self.span.to).saturating_sub(self.span.from);
        let share = if whole > 0.0 { passed.as_secs_f64() / whole } else { 0.0 };
        LEFT + share * (RIGHT - LEFT)
    }

    /// Returns the left and right end, unless all of it lies outside.
    pub(super) fn ends(self, span: Span) -> Option<(f64, f64)> {
        let seen = span.from <= self.span.to && span.to >= self.span.from;
        seen.then(|| (self.x(span.from), self.x(span.to)))
    }

    pub(super) fn shows(self, at: Duration) -> bool {
        (self.span.from..=self.span.to).contains(&at)
    }

    /// Returns the marks of the axis, with their texts.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let whole = u64::try_from(self.whole().as_millis()).unwrap_or(u64::MAX);
        let fits = |step: &u64| whole / step <= MOST_TICKS;
        let step = STEPS.into_iter().find(fits).unwrap_or_else(|| (whole / MOST_TICKS).max(1));
        let from = u64::try_from(self.span.from.as_millis()).unwrap_or(u64::MAX);
        let first = from.div_ceil(step).saturating_mul(step);
        let within = |at: &u64| self.shows(Duration::from_millis(*at));
        let at = std::iter::successors(Some(first), |at| at.checked_add(step)).take_while(within);
        at.map(|at| (self.x(Duration::from_millis(at)), tick(at, step))).collect()
    }
}

fn tick(at: u64, step: u64) -> String {
    if step >= 15_000 {
        format!("{}:{:02}", at / 60_000, at / 1_000 % 60)
    } else {
        format!("{} s", seconds(at))
    }
}

/// Formats milliseconds as seconds, to the last digit.
fn seconds(millis: u64) -> String {
    let (whole, rest) = (millis / 1_000, millis % 1_000);
    let digits = format!("{whole}.{rest:03}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}
