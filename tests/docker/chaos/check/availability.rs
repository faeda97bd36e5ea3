//! While a minority of the masters is away, a client that finds no quorum finds one within a ttl.

use super::{Kind, REDIALLED, Violation};
use crate::chaos::history::Why;
use crate::chaos::story::{Hold, Story, process};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Availability {
    /// Acquires answered while at most a minority was away.
    pub(crate) answered: usize,
    /// Of these, the acquires without a quorum.
    pub(crate) no_quorum: usize,
    /// Of these again, the acquires whose retry found no quorum for a whole ttl either, while other
    /// clients had the lock.
    pub(crate) outlasted: usize,
    /// The same while no client had the lock.
    pub(crate) uncured: usize,
}

pub(crate) fn figures(story: &Story) -> Availability {
    judge(story).0
}

pub(super) fn violations(story: &Story) -> Vec<Violation> {
    judge(story).1
}

fn judge(story: &Story) -> (Availability, Vec<Violation>) {
    let (impaired, mut figures) = (story.impaired(REDIALLED), Availability::default());
    let minority = story.minority();
    let (mut failed, holds) = (BTreeMap::new(), story.holds_by_resource());
    let mut violations = Vec::new();
    // A client that others keep away finds no quorum, for longer than any ttl.
    let judged = if story.at_odds { &[][..] } else { &story.attempts[..] };
    for attempt in judged {
        let (at, is_outage) = match (attempt.hold, attempt.failed) {
            (Some(hold), _) => (hold.from, false),
            (None, Some((at, Why::NoQuorum | Why::Late))) => (at, true),
            (None, Some((at, Why::Contended))) => (at, false),
            (None, Some((_, Why::Overloaded | Why::Cancelled)) | None) => continue,
        };
        if !story.was_well(&impaired, attempt, at) {
            continue;
        }
        let key = (process(&attempt.task), attempt.id);
        figures.answered += 1;
        figures.no_quorum += usize::from(is_outage);
        if is_outage {
            failed.insert(key, at);
        }
        let first = attempt.cures.map(|first| (process(&attempt.task), first));
        if !is_outage || first.is_none_or(|first| !failed.contains_key(&first)) {
            continue;
        }
        let others = attempt.resources.iter().filter_map(|resource| holds.get(&**resource));
        let meanwhile = |hold: &Hold| hold.from <= at && hold.end() >= attempt.asked;
        if others.flatten().any(|(_, hold)| meanwhile(hold)) {
            figures.outlasted += 1;
        } else {
            figures.uncured += 1;
            let text = format!(
                "{}: {} finds no quorum for {:.1?}, while at most {minority} masters are away",
                attempt.resources.join(","),
                attempt.task,
                attempt.wait,
            );
            violations.push(Violation::new(at, Kind::Unavailable, text));
        }
    }
    (figures, violations)
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::story;
    use super::*;

    const FIVE: &str = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 m3 is up\n0 m4 is up\n";
    const TWO_AWAY: &str = "1 m0 is killed\n1 m1 is paused\n";

    fn found(text: &str) -> (usize, usize, usize) {
        let story = story(&format!("{FIVE}{TWO_AWAY}{text}"));
        let (figures, violations) = judge(&story);
        assert_eq!(figures.uncured, violations.len());
        (figures.answered, figures.no_quorum, figures.uncured)
    }

    #[test]
    fn a_retry_that_others_have_forestalled_is_no_outage() {
        let text = "9 c1.0 asks 1 r0 - 0 -\n10 c1.0 fails 1 no-quorum\n11 c1.0 asks 2 r0 - 2000 1\n\
                    12 c2.0 asks 1 r0 - 0 -\n13 c2.0 enters 1 30 -\n2012 c1.0 fails 2 no-quorum";
        let other = text.replace("asks 1 r0 - 0 -\n13", "asks 1 r1 - 0 -\n13");
        for (text, expected) in [(text, (1, 0)), (&other, (0, 1))] {
            let (figures, violations) = judge(&story(&format!("{FIVE}{TWO_AWAY}{text}")));
            assert_eq!((figures.outlasted, violations.len()), expected, "{text}");
        }
    }

    #[test]
    fn an_outage_that_a_retry_does_not_cure_is_found() {
        let first = "9 c1.0 asks 1 r0 - 0 -\n10 c1.0 fails 1 no-quorum\n";
        let retry = "11 c1.0 asks 2 r0 - 2000 1\n";
        for (text, expected) in [
            (format!("{first}{retry}12 c1.0 enters 2 30 -"), (2, 1, 0)),
            (format!("{first}{retry}12 c1.0 fails 2 contended"), (2, 1, 0)),
            (format!("{first}{retry}2012 c1.0 fails 2 no-quorum"), (2, 2, 1)),
            (format!("{first}{retry}2012 c1.0 fails 2 cancelled"), (1, 1, 0)),
            // A fault on a third master: the first failure counts, and its retry does not.
            (format!("{first}{retry}50 m2 is slow\n2012 c1.0 fails 2 no-quorum"), (1, 1, 0)),
            (format!("8 m2 is slow\n{first}{retry}2012 c1.0 fails 2 no-quorum"), (0, 0, 0)),
            (
                format!(
                    "8 m2 is slow\n8 m2 is up\n{first}2600 c1.0 asks 2 r0 - 0 -\n2601 c1.0 fails 2 no-quorum"
                ),
                (1, 1, 0),
            ),
            // The whole machine stands still, and clients redial after that.
            (format!("{first}{retry}20 run froze 1990\n2012 c1.0 fails 2 no-quorum"), (1, 1, 0)),
            (format!("20 run froze 190\n{first}{retry}2012 c1.0 fails 2 no-quorum"), (2, 2, 1)),
            (format!("2 run froze 303\n{first}{retry}2012 c1.0 fails 2 no-quorum"), (0, 0, 0)),
            // The client itself is stopped.
            (format!("{first}{retry}20 c1 stopped\n2012 c1.0 fails 2 no-quorum"), (1, 1, 0)),
        ] {
            assert_eq!(found(&text), expected, "{text}");
        }
    }
}
