//! No two holds of one resource at any instant unless both read, and of a semaphore no more than it
//! has permits.

use super::{Kind, Violation};
use crate::chaos::clock::{Nanos, between};
use crate::chaos::history::{Claim, most_holders};
use crate::chaos::story::Story;
use std::cmp::Reverse;

/// Returns one violation for each hold that begins before enough others have ended.
pub(super) fn violations(story: &Story) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (resource, holds) in story.holds_by_resource() {
        // Of the holds that have begun, those that have not ended. The one that ends last is first.
        let mut others: Vec<(&str, u64, Nanos, bool)> = Vec::new();
        for (attempt, hold) in holds {
            let reads = attempt.claim == Claim::Shared;
            others.retain(|(_, _, end, _)| hold.from < *end);
            others.sort_by_key(|(_, _, end, _)| Reverse(*end));
            let mut excluded = others.iter().filter(|(_, _, _, other)| !(reads && *other));
            // Until it has ended, there are too many.
            if let Some((task, id, end, _)) = excluded.nth(most_holders(resource) - 1) {
                let until = *end.min(&hold.end());
                let text = format!(
                    "{resource}: {} enters with {} while {task} holds it with {id}, for {:.1?}",
                    attempt.task,
                    attempt.id,
                    between(hold.from, until),
                );
                let until = Some(until);
                violations.push(Violation { at: hold.from, until, kind: Kind::Overlap, text });
            }
            others.push((&attempt.task, attempt.id, hold.end(), reads));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::{story, times};

    /// Checks a history in which the second holder enters at the tenth millisecond, whatever the
    /// first does.
    fn found(first: &str) -> Vec<u64> {
        let second = "5 c2.0 asks 1 r0 - 0 -\n10 c2.0 enters 1 50 -\n20 c2.0 leaves 1";
        times(&super::violations(&story(&format!("0 c1.0 asks 1 r0 - 0 -\n{first}\n{second}"))))
    }

    #[test]
    fn a_hold_ends_at_its_release_or_at_an_earlier_deadline() {
        for (first, expected) in [
            ("1 c1.0 enters 1 100 -\n9 c1.0 leaves 1", &[][..]),
            ("1 c1.0 enters 1 10 -\n90 c1.0 leaves 1", &[]),
            ("1 c1.0 enters 1 100 -\n10 c1.0 leaves 1", &[]),
            ("1 c1.0 enters 1 100 -\n11 c1.0 leaves 1", &[10]),
            ("1 c1.0 enters 1 11 -\n90 c1.0 leaves 1", &[10]),
            // Killed: its lock remains until the deadline.
            ("1 c1.0 enters 1 11 -\n3 c1 killed", &[10]),
            ("1 c1.0 enters 1 9 -\n3 c1 killed", &[]),
            // Extended.
            ("1 c1.0 enters 1 9 -\n8 c1.0 holds 1 30", &[10]),
            ("1 c1.0 enters 1 9 -\n8 c1.0 holds 1 30\n9 c1.0 leaves 1", &[]),
            // Another resource, and none at all.
            ("1 c1.0 fails 1 contended", &[]),
        ] {
            assert_eq!(found(first), expected, "{first}");
        }
    }

    #[test]
    fn a_long_hold_overlaps_with_each_of_several_short_ones() {
        let text = "0 c1.0 asks 1 r0 - 0 -\n1 c1.0 enters 1 100 -\n\
                    2 c2.0 asks 1 r0 - 0 -\n10 c2.0 enters 1 20 -\n\
                    3 c3.0 asks 1 r0 - 0 -\n30 c3.0 enters 1 40 -\n\
                    4 c4.0 asks 1 r1 - 0 -\n35 c4.0 enters 1 40 -\n\
                    5 c5.0 asks 1 r0 - 0 -\n101 c5.0 enters 1 140 -";
        assert_eq!(times(&super::violations(&story(text))), [10, 30]);
    }

    #[test]
    fn of_two_permits_the_third_holder_is_one_too_many() {
        let text = "0 c1.0 asks 1 p0 - 0 -\n1 c1.0 enters 1 100 -\n\
                    2 c2.0 asks 1 p0 - 0 -\n10 c2.0 enters 1 20 -\n\
                    3 c3.0 asks 1 p0 - 0 -\n20 c3.0 enters 1 40 -\n\
                    4 c4.0 asks 1 p0 - 0 -\n39 c4.0 enters 1 200 -\n\
                    5 c5.0 asks 1 p0 - 0 -\n101 c5.0 enters 1 140 -";
        let found = super::violations(&story(text));
        assert_eq!(times(&found), [39]);
        assert!(found[0].text.contains("c4.0 enters with 1 while c3.0"), "{found:?}");
    }

    #[test]
    fn readers_hold_beside_readers_and_beside_no_writer() {
        let text = "0 c1.0 asks 1 w0 shared 0 -\n1 c1.0 enters 1 100 -\n\
                    2 c2.0 asks 1 w0 shared 0 -\n10 c2.0 enters 1 20 -\n\
                    3 c3.0 asks 1 w0 - 0 -\n30 c3.0 enters 1 40 -\n\
                    4 c4.0 asks 1 w0 shared 0 -\n35 c4.0 enters 1 36 -\n\
                    5 c5.0 asks 1 w0 - 0 -\n101 c5.0 enters 1 140 -";
        let found = super::violations(&story(text));
        assert_eq!(times(&found), [30, 35]);
        assert!(found[1].text.contains("c4.0 enters with 1 while c3.0"), "{found:?}");
    }

    #[test]
    fn of_two_resources_locked_together_each_is_held() {
        let text = "0 c1.0 asks 1 r0,r1 - 0 -\n1 c1.0 enters 1 100 -\n\
                    2 c2.0 asks 1 r1,r2 - 0 -\n10 c2.0 enters 1 20 -";
        let found = super::violations(&story(text));
        assert_eq!(times(&found), [10]);
        assert!(found[0].text.starts_with("r1: c2.0 enters with 1 while c1.0"), "{found:?}");
    }
}
