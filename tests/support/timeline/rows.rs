//! The row of each bar, and the bars that are too thin for a row of their own.

use super::model::{Ended, Hold, Span};
use super::scale::Scale;
use std::time::Duration;

/// Most rows of a client; a hold that finds no free row goes into the last.
const MOST_ROWS: usize = 8;

/// One bar of the picture.
#[derive(Clone, Debug)]
pub(super) struct Bar<'a> {
    pub(super) row: usize,
    /// Left and right edge.
    pub(super) x: (f64, f64),
    /// More than one if each is too thin to be seen.
    pub(super) holds: Vec<&'a Hold>,
}

/// Returns how long the bar occupies its row: the keys of a killed client remain.
fn taken(hold: &Hold) -> Span {
    let keys = hold.deadline.filter(|_| hold.ended == Ended::Killed);
    Span::new(hold.span.from, hold.span.to.max(keys.unwrap_or_default()))
}

/// Assigns each hold the first row that is free.
pub(super) fn stacked<'a>(holds: impl IntoIterator<Item = &'a Hold>) -> Vec<(usize, &'a Hold)> {
    let mut holds: Vec<&Hold> = holds.into_iter().collect();
    holds.sort_by_key(|hold| (hold.span, &hold.resource));
    let mut free_from: Vec<Duration> = Vec::new();
    let mut placed = Vec::with_capacity(holds.len());
    for hold in holds {
        let taken = taken(hold);
        let free = free_from.iter().position(|free| *free <= taken.from);
        let row = free.unwrap_or_else(|| free_from.len().min(MOST_ROWS - 1));
        if row == free_from.len() {
            free_from.push(taken.to);
        } else {
            free_from[row] = free_from[row].max(taken.to);
        }
        placed.push((row, hold));
    }
    placed
}

/// Makes the bars of these holds. Holds that are thinner than `thin`, and no farther than that from
/// their neighbour, share one bar with it. No hold is left out, except those outside of the scale.
pub(super) fn bars<'a>(placed: &[(usize, &'a Hold)], scale: Scale, thin: f64) -> Vec<Bar<'a>> {
    let rows = placed.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
    let mut bars: Vec<Bar<'a>> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; rows];
    for (row, hold) in placed {
        let Some(x) = scale.ends(hold.span) else { continue };
        let is_thin = |x: (f64, f64)| x.1 - x.0 < thin;
        if let Some(before) = last[*row].and_then(|last| bars.get_mut(last))
            && is_thin(x)
            && (before.holds.len() > 1 || is_thin(before.x))
            && x.0 - before.x.1 < thin
            // A merged bar is bounded, so that its time can still be read.
            && x.1 - before.x.0 < 4.0 * thin
        {
            before.x.1 = before.x.1.max(x.1);
            before.holds.push(hold);
        } else {
            last[*row] = Some(bars.len());
            bars.push(Bar { row: *row, x, holds: vec![hold] });
        }
    }
    bars
}
