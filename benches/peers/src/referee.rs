//! Has a cell played again if other processes have disturbed it, while there is time for that.

use crate::watch::Watch;
use crate::worker::Failed;
use std::fmt;
use std::time::{Duration, Instant};

/// Share of the machine used by other processes above which a cell is disturbed.
const DISTURBED: f64 = 0.06;

/// Most replays of a cell; after that it is marked.
const REPLAYS: usize = 3;

type Turn = Result<Vec<f64>, Failed>;

pub(crate) struct Referee {
    began: Instant,
    /// Time limit for everything.
    limit: Duration,
    /// Expected time of everything that is still to come, each cell once.
    ahead: Duration,
    cells: usize,
    replays: usize,
    disturbed: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    Keep,
    PlayAgain,
    /// Keeps the least disturbed turn.
    KeepMarked,
}

/// Decides; `others` is the share of the machine that other processes had, if that is known.
fn decide(others: Option<f64>, replays: usize, has_time: bool) -> Decision {
    match others {
        Some(share) if share > DISTURBED => match replays < REPLAYS && has_time {
            true => Decision::PlayAgain,
            false => Decision::KeepMarked,
        },
        _ => Decision::Keep,
    }
}

impl Referee {
    pub(crate) fn new(limit: Duration, ahead: Duration) -> Self {
        Self { began: Instant::now(), limit, ahead, cells: 0, replays: 0, disturbed: 0 }
    }

    /// Plays one cell that was expected to take this long. Returns its result, and whether it was
    /// still disturbed.
    pub(crate) fn play(
        &mut self,
        expected: Duration,
        mut cell: impl FnMut() -> Turn,
    ) -> (Turn, bool) {
        self.cells += 1;
        self.ahead = self.ahead.saturating_sub(expected);
        let mut best: Option<(Turn, f64)> = None;
        for replays in 0.. {
            let (began, watch) = (Instant::now(), Watch::start());
            let figures = cell();
            let others = watch.others();
            let decision = decide(others, replays, self.has_time(began.elapsed()));
            let share = others.unwrap_or(0.0);
            if decision == Decision::Keep {
                return (figures, false);
            }
            // A failed turn is used only if there is no other.
            let rank = |(figures, share): &(Turn, f64)| (figures.is_err(), *share);
            let this = (figures, share);
            best = match best {
                Some(best) if rank(&best) <= rank(&this) => Some(best),
                _ => Some(this),
            };
            let what = if decision == Decision::PlayAgain { "played again" } else { "marked" };
            eprintln!("  others had {:.0} % of the machine: {what}", 100.0 * share);
            if decision == Decision::KeepMarked {
                break;
            }
            self.replays += 1;
        }
        self.disturbed += 1;
        let (figures, _) = best.expect("a cell that was played");
        (figures, true)
    }

    /// Plays one cell that other processes cannot disturb.
    pub(crate) fn pass(&mut self, expected: Duration, cell: impl FnOnce() -> Turn) -> Turn {
        self.cells += 1;
        self.ahead = self.ahead.saturating_sub(expected);
        cell()
    }

    /// Checks whether a cell that takes this long can be played again, and everything that is still
    /// to come once.
    fn has_time(&self, took: Duration) -> bool {
        self.began.elapsed() + took + self.ahead <= self.limit
    }
}

impl fmt::Display for Referee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { began, cells, replays, disturbed, .. } = self;
        let minutes = began.elapsed().as_secs_f64() / 60.0;
        write!(
            f,
            "{cells} cells in {minutes:.0} minutes. In one that is disturbed, other processes had more \
             than {:.0} % of the machine: {replays} times one was played again, and {disturbed} were \
             disturbed all the same and are marked.",
            100.0 * DISTURBED
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_cell_is_kept_and_so_is_one_of_which_nothing_is_known() {
        assert_eq!(decide(Some(0.0), 0, true), Decision::Keep);
        assert_eq!(decide(Some(DISTURBED), 3, false), Decision::Keep);
        assert_eq!(decide(None, 0, true), Decision::Keep);
    }

    #[test]
    fn a_disturbed_cell_is_played_again_three_times_at_most() {
        for replays in 0..REPLAYS {
            assert_eq!(decide(Some(0.07), replays, true), Decision::PlayAgain);
        }
        assert_eq!(decide(Some(0.07), REPLAYS, true), Decision::KeepMarked);
    }

    #[test]
    fn without_time_a_disturbed_cell_is_marked_at_once() {
        assert_eq!(decide(Some(0.5), 0, false), Decision::KeepMarked);
    }

    #[test]
    fn what_is_to_come_has_its_time_before_anything_is_played_again() {
        let (hour, cell) = (Duration::from_secs(3600), Duration::from_secs(2));
        assert!(Referee::new(hour, hour - 2 * cell).has_time(cell));
        assert!(!Referee::new(hour, hour - cell / 2).has_time(cell));
    }
}
