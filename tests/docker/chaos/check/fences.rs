//! Fencing tokens rise from win to win, and the store that checks them is written to in order.

use super::{Kind, Violation};
use crate::chaos::story::{Story, process};
use std::collections::BTreeMap;

pub(super) fn violations(story: &Story) -> Vec<Violation> {
    let mut violations = wins(story);
    violations.extend(accepted(story));
    violations.extend(refused(story));
    violations
}

/// Checks that holds that don't overlap were won in the order in which they began.
fn wins(story: &Story) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (resource, holds) in story.holds_by_resource() {
        let mut greatest = None;
        for (attempt, hold) in holds {
            let Some(token) = hold.token else {
                if attempt.claim.is_fenced() {
                    let text = format!("{resource}: {} won without a token", attempt.task);
                    violations.push(Violation::new(hold.from, Kind::FenceOrder, text));
                }
                continue;
            };
            if let Some(before) = greatest.filter(|before| token <= *before) {
                let (task, id) = (&attempt.task, attempt.id);
                let text =
                    format!("{resource}: {task} wins with {id}, token {token} after {before}");
                violations.push(Violation::new(hold.from, Kind::FenceOrder, text));
            }
            greatest = greatest.max(Some(token));
        }
    }
    violations
}

/// Checks that an accepted write has the greatest token so far.
fn accepted(story: &Story) -> Vec<Violation> {
    let mut greatest: BTreeMap<&str, u64> = BTreeMap::new();
    let mut violations = Vec::new();
    for write in story.writes.iter().filter(|write| write.accepted) {
        let seen = greatest.entry(&write.resource).or_default();
        if write.token < *seen {
            let (resource, by, token) = (&write.resource, &write.by, write.token);
            let text = format!("{resource}: the store accepts {token} of {by} after {seen}");
            violations.push(Violation::new(write.at, Kind::Accepted, text));
        }
        *seen = write.token.max(*seen);
    }
    violations
}

/// Checks that a client that writes while it holds the lock is not refused.
fn refused(story: &Story) -> Vec<Violation> {
    let attempts = story.attempts.iter();
    let holds: BTreeMap<(&str, u64), _> = attempts
        .filter_map(|attempt| Some(((process(&attempt.task), attempt.id), attempt.hold?)))
        .collect();
    let refused = story.writes.iter().filter(|write| !write.accepted);
    let wrong = refused.filter(|write| {
        let hold = holds.get(&(process(&write.by), write.id));
        hold.is_none_or(|hold| hold.from <= write.at && write.at < hold.end())
    });
    let violation = |write: &crate::chaos::story::Write| {
        let (resource, by, token) = (&write.resource, &write.by, write.token);
        let text = format!("{resource}: the store refuses {token} of {by}, who holds the lock");
        Violation::new(write.at, Kind::Refused, text)
    };
    wrong.map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::{story, times};

    const TWO: &str = "0 c1.0 asks 1 r0 fenced 0 -\n0 c2.0 asks 1 r0 fenced 0 -\n";

    fn found(text: &str) -> Vec<u64> {
        times(&super::violations(&story(&format!("{TWO}{text}"))))
    }

    #[test]
    fn a_later_win_has_a_greater_token() {
        for (token, expected) in [("8", &[][..]), ("7", &[5]), ("6", &[5]), ("-", &[5])] {
            let text = format!(
                "1 c1.0 enters 1 9 7\n3 c1.0 leaves 1\n5 c2.0 enters 1 9 {token}\n7 c2.0 leaves 1"
            );
            assert_eq!(found(&text), expected, "{token}");
        }
    }

    #[test]
    fn a_token_that_fell_and_rose_again_is_below_the_greatest() {
        let text = "1 c1.0 enters 1 2 7\n2 c2.0 enters 1 3 3\n\
                    3 c3.0 asks 1 r0 fenced 0 -\n4 c3.0 enters 1 5 5";
        assert_eq!(found(text), [2, 4]);
    }

    #[test]
    fn each_resource_has_its_own_order() {
        let text = "1 c1.0 enters 1 2 7\n2 c3.0 asks 1 r1 fenced 0 -\n3 c3.0 enters 1 5 5";
        assert!(found(text).is_empty());
    }

    #[test]
    fn a_smaller_token_is_not_accepted_after_a_greater_one() {
        let won = "1 c1.0 enters 1 4 7\n5 c2.0 enters 1 9 8\n";
        for (writes, expected) in [
            ("2 store accepts c1.0 1 r0 7\n3 store accepts c1.0 1 r0 7", &[][..]),
            ("6 store accepts c2.0 1 r0 8\n7 store accepts c1.0 1 r0 7", &[7]),
            // Late, but no other holder wrote before: no harm is done.
            ("6 store accepts c1.0 1 r0 7\n7 store accepts c2.0 1 r0 8", &[]),
            ("6 store accepts c2.0 1 r0 8\n7 store refuses c1.0 1 r0 7", &[]),
            // The store must not refuse the holder, nor a client that never entered.
            ("6 store refuses c2.0 1 r0 8", &[6]),
            ("6 store refuses c9.0 1 r0 8", &[6]),
        ] {
            assert_eq!(found(&format!("{won}{writes}")), expected, "{writes}");
        }
    }
}
