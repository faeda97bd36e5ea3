//! Time from one holder to the next, where the next one is already waiting.

use super::REDIALLED;
use crate::chaos::clock::{Nanos, between};
use crate::chaos::history::{Claim, most_holders};
use crate::chaos::story::{Attempt, Hold, Story, most_impaired, process};
use crate::support::samples::Samples;

#[derive(Clone, Debug, Default)]
pub(crate) struct HandOvers {
    /// From the call of the release, with all masters up.
    pub(crate) well: Samples,
    /// The same from one that waited in turn to the next.
    pub(crate) in_turn: Samples,
    /// To the next holder of a lock that is kept warm, from the end of the hold before or from its request,
    /// whichever is later: in the same process, of its hold or of a new one; and in
    /// another process, which has to ask for what is idle.
    pub(crate) reused: Samples,
    pub(crate) anew: Samples,
    pub(crate) elsewhere: Samples,
    /// From the call of the release, with a minority of the masters away.
    pub(crate) minority: Samples,
    /// From the deadline of a holder that was killed or stopped, or stayed too long.
    pub(crate) lapsed: Samples,
}

/// Counts a hand-over only if the next holder had asked before and was not stopped, and no majority
/// was away.
pub(crate) fn figures(story: &Story) -> HandOvers {
    let (impaired, mut found) = (story.impaired(REDIALLED), HandOvers::default());
    let minority = story.minority();
    // Of several permits, the one that is free is rarely the last that was held.
    let locks = story.holds_by_resource();
    // Of several readers, the last to leave is rarely the last that came.
    let is_shared = |holds: &[(&Attempt, Hold)]| {
        holds.iter().any(|(attempt, _)| attempt.claim == Claim::Shared)
    };
    let locks =
        locks.iter().filter(|(resource, holds)| most_holders(resource) == 1 && !is_shared(holds));
    for (_, holds) in locks {
        for two in holds.windows(2) {
            let ((last, before), (next, hold)) = (two[0], two[1]);
            let (end, from): (Nanos, Nanos) = (before.end(), hold.from);
            let away = most_impaired(&impaired, end, from);
            let waited = next.asked < end && from >= end;
            // If it was locked together with another resource, the client may have waited for that
            // one.
            let alone = next.resources.len() == 1;
            let is_warm =
                [last, next].iter().all(|attempt| attempt.claim == Claim::Warm) && from >= end;
            if !(waited || is_warm)
                || !alone
                || away > minority
                || story.was_stopped(&next.task, end, from)
            {
                continue;
            }
            let lapsed = before.left.is_none_or(|left| left > before.until);
            match (lapsed, away) {
                (true, _) => found.lapsed.record(between(end, from)),
                (false, 0) if last.claim.is_fair() && next.claim.is_fair() => {
                    found.in_turn.record(between(end, from));
                }
                (false, _) if is_warm => {
                    let is_here = process(&last.task) == process(&next.task);
                    let samples = match is_here {
                        true if is_reused(before, hold) => &mut found.reused,
                        true => &mut found.anew,
                        false => &mut found.elsewhere,
                    };
                    samples.record(between(end.max(next.asked), from));
                }
                (false, 0) => found.well.record(between(end, from)),
                (false, _) => found.minority.record(between(end, from)),
            }
        }
    }
    found
}

/// Checks whether the next holder has the hold of the one before: the deadline is the same, and would have moved
/// on with the time in which a new one began.
fn is_reused(before: Hold, hold: Hold) -> bool {
    hold.until.saturating_sub(before.until) < hold.from.saturating_sub(before.from) / 2
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::story;

    const WELL: &str = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 c1.0 asks 1 r0 - 0 -\n\
                        0 c2.0 asks 1 r0 - 0 -\n1 c1.0 enters 1 100 -\n";

    fn found(text: &str) -> [usize; 3] {
        let found = super::figures(&story(&format!("{WELL}{text}")));
        [found.well.len(), found.minority.len(), found.lapsed.len()]
    }

    #[test]
    fn a_hand_over_counts_where_a_client_waited() {
        for (text, expected) in [
            ("50 c1.0 leaves 1\n60 c2.0 enters 1 99 -", [1, 0, 0]),
            ("110 c2.0 enters 1 200 -", [0, 0, 1]),
            ("40 m0 is paused\n50 c1.0 leaves 1\n60 c2.0 enters 1 99 -", [0, 1, 0]),
            ("40 m0 is slow\n41 m1 is slow\n50 c1.0 leaves 1\n60 c2.0 enters 1 99 -", [0; 3]),
            ("50 c1.0 leaves 1\n52 c2 stopped\n55 c2 continued\n60 c2.0 enters 1 99 -", [0; 3]),
            ("50 c1.0 leaves 1\n55 c3.0 asks 1 r0 - 0 -\n60 c3.0 enters 1 99 -", [0; 3]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn waiters_in_turn_count_apart() {
        let text = WELL.replace("r0 -", "t0 fair") + "50 c1.0 leaves 1\n60 c2.0 enters 1 99 -";
        let found = super::figures(&story(&text));
        assert_eq!((found.well.len(), found.in_turn.p50().as_millis()), (0, 10));
    }

    #[test]
    fn what_is_kept_warm_counts_apart_by_where_it_goes() {
        let found = |lines: &str| {
            let well = WELL
                .replace("r0 -", "k0 warm")
                .replace("0 c2.0", "0 c1.1 asks 2 k0 warm 0 -\n0 c2.0");
            let found = super::figures(&story(&format!("{well}{lines}")));
            [found.reused.len(), found.anew.len(), found.elsewhere.len(), found.well.len()]
        };
        for (lines, expected) in [
            ("50 c1.0 leaves 1\n51 c1.1 enters 2 100 -", [1, 0, 0, 0]),
            ("50 c1.0 leaves 1\n51 c1.1 enters 2 150 -", [0, 1, 0, 0]),
            ("50 c1.0 leaves 1\n51 c2.0 enters 1 150 -", [0, 0, 1, 0]),
            ("50 c1.0 leaves 1\n55 c1.2 asks 3 k0 warm 0 -\n55 c1.2 enters 3 100 -", [1, 0, 0, 0]),
            ("50 c1.0 leaves 1\n55 c3.0 asks 1 k0 warm 0 -\n58 c3.0 enters 1 158 -", [0, 0, 1, 0]),
            ("50 c1.0 leaves 1\n55 c3.0 asks 1 k0 - 0 -\n58 c3.0 enters 1 158 -", [0; 4]),
        ] {
            assert_eq!(found(lines), expected, "{lines}");
        }
    }

    #[test]
    fn it_lasts_from_the_release_to_the_next_entry() {
        let text = format!("{WELL}50 c1.0 leaves 1\n60 c2.0 enters 1 99 -");
        assert_eq!(super::figures(&story(&text)).well.p50().as_millis(), 10);
    }
}
