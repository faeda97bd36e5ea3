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

/// Counts only what is promised: since the earlier one came, all clients could agree on the master of their list, for
/// which all masters were up, and no process of the two was stopped or killed. The earlier one was the only one of its
/// process, whose tasks have a queue of their own.
pub(crate) fn figures(story: &Story) -> Turns {
    let (impaired, mut turns) = (story.impaired(REDIALLED), Turns::default());
    for (resource, holds) in story.holds_by_resource() {
        let is_for_it = |attempt: &&Attempt| attempt.resources.iter().any(|name| name == resource);
        let asked: Vec<&Attempt> = story.attempts.iter().filter(is_for_it).collect();
        for two in holds.windows(2) {
            let ((last, before), (next, hold)) = (two[0], two[1]);
            let is_released = before.left.is_some_and(|left| left <= before.until);
            let has_waited = next.asked < before.end() && hold.from >= before.end();
            if !(last.claim.is_fair() && next.claim.is_fair() && is_released && has_waited) {
                continue;
            }
            let is_passed = |wait: &&&Attempt| {
                is_first(wait, next)
                    && waits_alone(wait, &asked, hold.from)
                    && story.lives.get(process(&wait.task)).is_none_or(|life| life.killed.is_none())
                    && most_impaired(&impaired, wait.asked, hold.from) == 0
                    && ![wait, next]
                        .iter()
                        .any(|attempt| story.was_stopped(&attempt.task, wait.asked, hold.from))
            };
            turns.served += 1;
            turns.passed += usize::from(asked.iter().any(|wait| is_passed(&wait)));
        }
    }
    turns
}

/// Returns whether the first had its place before the other came, from another process.
fn is_first(first: &Attempt, other: &Attempt) -> bool {
    first.claim.is_fair()
        && process(&first.task) != process(&other.task)
        && first.asked + nanos(PLACED) < other.asked
}

/// Returns whether the wait still lasts at that instant, and no other of its process has asked for
/// the same all along.
fn waits_alone(wait: &Attempt, asked: &[&Attempt], at: Nanos) -> bool {
    let failed = |other: &Attempt| other.failed.map(|(at, _)| at);
    let entered = wait.hold.map(|hold| hold.from).or(failed(wait));
    let mut of_its_process = asked
        .iter()
        .filter(|other| process(&other.task) == process(&wait.task) && other.id != wait.id);
    entered.is_none_or(|entered| entered > at)
        && of_its_process.all(|other| {
            let over = other.hold.map(|hold| hold.end()).or(failed(other));
            other.asked > at || over.is_some_and(|over| over < wait.asked)
        })
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::story;
    use super::Turns;

    const TWO_WAIT: &str = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 c1.0 asks 1 t0 fair 0 -\n\
                            1 c1.0 enters 1 2000 -\n2 c2.0 asks 1 t0 fair 9000 -\n\
                            400 c3.0 asks 1 t0 fair 9000 -\n500 c1.0 leaves 1\n";

    fn found(text: &str) -> (usize, usize) {
        let Turns { served, passed } = super::figures(&story(&format!("{TWO_WAIT}{text}")));
        (served, passed)
    }

    #[test]
    fn a_waiter_that_enters_before_an_earlier_one_passes_it() {
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
    fn a_waiter_without_a_place_is_not_passed() {
        for before in [
            "499 c2.0 fails 1 contended",
            "499 m1 is paused",
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
