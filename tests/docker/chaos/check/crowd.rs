//! How long a client of a crowd waits, and how many go before it.

use super::REDIALLED;
use crate::chaos::clock::{Nanos, between};
use crate::chaos::history::{CROWDED, Why};
use crate::chaos::story::{Attempt, Story};
use crate::support::samples::Samples;

#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    pub(crate) won: usize,
    /// Waited to the end of their patience, in vain.
    pub(crate) in_vain: usize,
    /// From the request to the win, while at most a minority was away and its own process was not stopped.
    pub(crate) waits: Samples,
    /// The greatest number of holds that began during one such wait, won or not.
    pub(crate) most_before: usize,
}

pub(crate) fn figures(story: &Story) -> Crowd {
    let (impaired, mut found) = (story.impaired(REDIALLED), Crowd::default());
    let holds = story.holds_by_resource();
    for resource in CROWDED {
        let entered: Vec<Nanos> =
            holds.get(resource).into_iter().flatten().map(|(_, hold)| hold.from).collect();
        let wants_it = |attempt: &&Attempt| attempt.resources[0] == resource;
        let mut waits = Vec::new();
        for attempt in story.attempts.iter().filter(wants_it) {
            let end = match (attempt.hold, attempt.failed) {
                (Some(hold), _) => hold.from,
                (None, Some((at, Why::Contended))) => at,
                (None, _) => continue,
            };
            let is_won = attempt.hold.is_some();
            found.won += usize::from(is_won);
            found.in_vain += usize::from(!is_won);
            if story.was_well(&impaired, attempt, end) {
                waits.extend(is_won.then(|| between(attempt.asked, end)));
                let before = |at: Nanos| entered.partition_point(|entered| *entered < at);
                let meanwhile = before(end) - before(attempt.asked);
                found.most_before = found.most_before.max(meanwhile);
            }
        }
        found.waits.extend(waits);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::story;

    #[test]
    fn a_wait_counts_where_a_quorum_is_well() {
        let well = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 c1.0 asks 1 x0 - 0 -\n\
                    1 c1.0 enters 1 900 -\n2 c2.0 asks 1 x0 - 9000 -\n3 c3.0 asks 1 x0 - 9000 -\n";
        let all = "9 c1.0 leaves 1\n10 c3.0 enters 1 900 -\n12 c3.0 leaves 1\n";
        for (lines, expected) in [
            ("15 c2.0 enters 1 900 -", (3, 0, 3, 1)),
            ("5000 c2.0 fails 1 contended", (2, 1, 2, 1)),
            ("13 m0 is paused\n15 c2.0 enters 1 900 -", (3, 0, 3, 1)),
            ("13 m0 is paused\n13 m1 is slow\n15 c2.0 enters 1 900 -", (3, 0, 2, 0)),
            ("13 c2 stopped\n14 c2 continued\n15 c2.0 enters 1 900 -", (3, 0, 2, 0)),
        ] {
            let found = super::figures(&story(&format!("{well}{all}{lines}")));
            let figures = (found.won, found.in_vain, found.waits.len(), found.most_before);
            assert_eq!(figures, expected, "{lines}");
        }
    }
}
