//! Waiters in turn that were served before one that had come earlier.

use super::REDIALLED;
use crate::chaos::clock::{Nanos, nanos};
use crate::chaos::story::{Attempt, Story, most_impaired, process};
use std::time::Duration;

/// Longest time until a waiter has a place, while all masters are up.
const PLACED: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Waiters that waited until a holder released that had itself waited in turn.
    pub(crate) served: usize,
    /// Of these, the waiters that entered while one waited that had come earlier.
    pub(crate) passed: usize,
}

/// Counts only what is promised: since the earlier one came, no more than a minority of the masters
/// was away, and no process of the two was stopped or killed. The earlier one was the only one of
/// its process, whose tasks have a queue of their own.
pub(crate) fn figures(story: &Story) -> Turns {
    let (impaired, mut turns) = (story.impaired(REDIALLED), Turns::default());
    let minority = story.minority();
    for (resource, holds) in story.holds_by_resource() {
        let is_for_it = |it: &&Attempt| it.resources.iter().any(|it| it == resource);
        let asked: Vec<&Attempt> = story.attempts.iter().filter(is_for_it).collect();
        for two in holds.windows(2) {
            let ((last, before), (next, hold)) = (two[0], two[1]);
            let is_released = before.left.is_some_and(|left| left <= before.until);
            let has_waited = next.asked < before.end() && hold.from >= before.end();
            if !(last.claim.is_fair() && next.claim.is_fair() && is_released && has_waited) {
                continue;
            }
            let is_passed = |one: &&&Attempt| {
                is_first(one, next)
                    && waits_alone(one, &asked, hold.from)
                    && story.lives.get(process(&one.task)).is_none_or(|it| it.killed.is_none())
                    && most_impaired(&impaired, one.asked, hold.from) <= minority
                    && ![one, next]
                        .iter()
                        .any(|it| story.was_stopped(&it.task, one.asked, hold.from))
            };
            turns.served += 1;
            turns.passed += usize::from(asked.iter().any(|one| is_passed(&one)));
        }
    }
    turns
}

/// Returns whether one had its place before the other came, from another process.
fn is_first(one: &Attempt, other: &Attempt) -> bool {
    one.claim.is_fair()
        && process(&one.task) != process(&other.task)
        && one.asked + nanos(PLACED) < other.asked
}

/// Returns whether one still waits at that instant, and no other of its process has asked for it
/// all along.
fn waits_alone(one: &Attempt, asked: &[&Attempt], at: Nanos) -> bool {
    let failed = |it: &Attempt| it.failed.map(|(at, _)| at);
    let entered = one.hold.map(|hold| hold.from).or(failed(one));
    let mut of_its_process =
        asked.iter().filter(|it| process(&it.task) == process(&one.task) && it.id != one.id);
    entered.is_none_or(|entered| entered > at)
        && of_its_process.all(|it| {
            let over = it.hold.map(|hold| hold.end()).or(failed(it));
            it.asked > at || over.is_some_and(|over| over < one.asked)
        })
}

#[cfg(test)]
mod tests {
    use super::super::told::story;
    use super::Turns;

    const TWO_WAIT: &str = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 c1.0 asks 1 t0 fair 0 -\n\
                            1 c1.0 enters 1 2000 -\n2 c2.0 asks 1 t0 fair 9000 -\n\
                            400 c3.0 asks 1 t0 fair 9000 -\n500 c1.0 leaves 1\n";

    fn found(told: &str) -> (usize, usize) {
        let Turns { served, passed } = super::figures(&story(&format!("{TWO_WAIT}{told}")));
        (served, passed)
    }

    #[test]
    fn one_that_enters_before_one_that_came_earlier_passes_it() {
        assert_eq!(
            found("502 c2.0 enters 1 900 -\n600 c2.0 leaves 1\n601 c3.0 enters 1 900 -"),
            (2, 0)
        );
        assert_eq!(
            found("502 c3.0 enters 1 900 -\n600 c3.0 leaves 1\n601 c2.0 enters 1 900 -"),
            (2, 1)
        );
        assert_eq!(found("502 c3.0 enters 1 900 -"), (1, 1), "it still waits");
    }

    #[test]
    fn one_that_has_no_place_is_not_passed() {
        for before in [
            "499 c2.0 fails 1 contended",
            "499 m1 is paused\n499 m2 is paused",
            "490 c2 killed",
            "450 c2 stopped\n460 c2 continued",
            "3 c2.1 asks 2 t0 fair 9000 -",
        ] {
            let waits = TWO_WAIT.replace("500 c1.0", &format!("{before}\n500 c1.0"));
            let story = story(&format!("{waits}502 c3.0 enters 1 900 -"));
            assert_eq!(super::figures(&story), Turns { served: 1, passed: 0 }, "{before}");
        }
    }
}
