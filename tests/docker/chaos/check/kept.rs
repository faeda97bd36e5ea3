//! Locks that a client keeps alive while it begins bursts: none is lost while a quorum of its masters answers.

use super::{Kind, REDIALLED, Violation};
use crate::chaos::clock::{Nanos, between, nanos};
use crate::chaos::history::{KEPT_ALIVE, KEPT_TTL};
use crate::chaos::story::{Attempt, Burst, FROZEN, Hold, Story, most_impaired, process};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bursts {
    pub(crate) begun: usize,
    /// Of these, the bursts of which every acquire was won.
    pub(crate) whole: usize,
    pub(crate) asked: u64,
    pub(crate) served: u64,
    /// Holds that were kept alive while their client began one.
    pub(crate) kept: usize,
    /// Of these, the holds that were lost as masters, the process or the machine failed.
    pub(crate) lost: usize,
}

pub(crate) fn figures(story: &Story) -> Bursts {
    let bursts = &story.bursts;
    let kept = || kept(story).filter(|(attempt, hold)| has_burst(bursts, attempt, hold));
    Bursts {
        begun: bursts.len(),
        whole: bursts.iter().filter(|burst| burst.asked == burst.served).count(),
        asked: bursts.iter().map(|burst| burst.asked).sum(),
        served: bursts.iter().map(|burst| burst.served).sum(),
        kept: kept().count(),
        lost: kept().filter(|(_, hold)| hold.lapsed.is_some()).count(),
    }
}

fn kept(story: &Story) -> impl Iterator<Item = (&Attempt, Hold)> {
    let is_kept = |attempt: &&Attempt| KEPT_ALIVE.contains(&attempt.resources[0].as_str());
    story.attempts.iter().filter(is_kept).filter_map(|attempt| Some((attempt, attempt.hold?)))
}

fn has_burst(bursts: &[Burst], attempt: &Attempt, hold: &Hold) -> bool {
    let until = hold.lapsed.unwrap_or_else(|| hold.end());
    bursts.iter().any(|burst| {
        process(&burst.task) == process(&attempt.task)
            && burst.from <= until
            && burst.until.is_none_or(|ended| ended >= hold.from)
    })
}

/// Judges holds that were extended, since only an extension that is won brings the key to masters that lack it. One that is
/// lost is excused by what failed since the last extension that its task has seen: so many of the masters that the others
/// are no quorum, whether by a fault or under load, the process, or the machine.
pub(super) fn violations(story: &Story) -> Vec<Violation> {
    let impaired = story.impaired(REDIALLED);
    let lost = kept(story).filter_map(|(attempt, hold)| {
        // Masters that remember other settings are not among those of a client at odds.
        let at = hold.lapsed.filter(|_| hold.extended && !story.at_odds)?;
        let since = hold.from.max(hold.until.saturating_sub(nanos(KEPT_TTL)));
        // A process that was stopped redials.
        let well_since = since.saturating_sub(nanos(REDIALLED));
        let is_excused = most_impaired(&impaired, since, at) > story.minority()
            || story.was_stopped(&attempt.task, well_since, at)
            || was_starved(story, &attempt.task, well_since, at);
        let text = format!(
            "{} of {} is lost, and a quorum of its masters was well",
            attempt.resources[0], attempt.task
        );
        (!is_excused).then(|| Violation::new(at, Kind::Lost, text))
    });
    lost.collect()
}

/// Returns whether the process of a task, or the run, was not woken for too long between the two, all times together.
fn was_starved(story: &Story, task: &str, from: Nanos, to: Nanos) -> bool {
    let starved = story.lives.get(process(task)).map_or(&[][..], |life| &life.starved);
    [starved, &story.frozen].into_iter().any(|spans| {
        let lost = spans.iter().map(|(began, ended)| between(from.max(*began), to.min(*ended)));
        lost.sum::<Duration>() > FROZEN
    })
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::{story, times};
    use super::Bursts;

    const KEPT: &str = "0 m0 is up\n0 m1 is up\n0 m2 is up\n0 c1 born\n0 c1.3 asks 1 b0 - 0 -\n\
                        1 c1.3 enters 1 1500 -\n1000 c1.3 holds 1 2500\n1500 c1.5 bursts 9\n";

    #[test]
    fn a_hold_that_is_lost_while_a_quorum_is_well_is_found() {
        for (lines, expected) in [
            ("2600 c1.3 lapsed 1\n2700 c1.3 lapsed 1", &[2_600][..]),
            ("2600 c1.3 leaves 1", &[]),
            ("1600 c1.4 asks 2 b1 - 0 -\n1601 c1.4 enters 2 3100 -\n3200 c1.4 lapsed 2", &[]),
            ("1200 m0 is paused\n1300 m0 is up\n2600 c1.3 lapsed 1", &[2_600]),
            ("1200 m0 is paused\n1300 m0 is up\n1400 m1 is slow\n2600 c1.3 lapsed 1", &[]),
            ("1200 m0 is paused\n1300 m0 silent 1400\n2600 c1.3 lapsed 1", &[2_600]),
            ("1200 m0 is paused\n1300 m1 silent 1400\n2600 c1.3 lapsed 1", &[]),
            ("1200 m1 silent 1400\n1300 m0 silent 1500\n2600 c1.3 lapsed 1", &[]),
            ("1200 m1 silent 1400\n1500 m0 silent 1600\n2600 c1.3 lapsed 1", &[2_600]),
            ("900 c2 stopped\n990 c2 continued\n2600 c1.3 lapsed 1", &[2_600]),
            ("900 c1 stopped\n990 c1 continued\n2600 c1.3 lapsed 1", &[]),
            ("1100 c1 stopped\n1200 c1 continued\n2600 c1.3 lapsed 1", &[]),
            ("1100 c1 froze 1500\n2600 c1.3 lapsed 1", &[]),
            ("1100 c1 froze 1300\n2600 c1.3 lapsed 1", &[2_600]),
            ("1100 c1 froze 1300\n1500 c1 froze 1700\n2600 c1.3 lapsed 1", &[]),
            ("1100 c1 froze 1300\n1500 run froze 1700\n2600 c1.3 lapsed 1", &[2_600]),
            ("1100 run froze 1300\n1500 run froze 1700\n2600 c1.3 lapsed 1", &[]),
            ("1100 c2 froze 1500\n2600 c1.3 lapsed 1", &[2_600]),
            ("1100 run froze 1500\n2600 c1.3 lapsed 1", &[]),
            ("0 run at-odds\n2600 c1.3 lapsed 1", &[]),
        ] {
            assert_eq!(
                times(&super::violations(&story(&format!("{KEPT}{lines}")))),
                expected,
                "{lines}"
            );
        }
    }

    #[test]
    fn a_hold_counts_that_has_seen_a_burst_of_its_client() {
        let figures = |lines: &str| super::figures(&story(&format!("{KEPT}{lines}")));
        let all = Bursts { begun: 1, whole: 1, asked: 9, served: 9, kept: 1, lost: 0 };
        assert_eq!(figures("1600 c1.5 served 9\n2000 c1.3 leaves 1"), all);
        let lost = Bursts { whole: 0, served: 8, lost: 1, ..all };
        assert_eq!(figures("1600 c1.5 served 8\n2600 c1.3 lapsed 1"), lost);
        let others = "1500 c2.3 asks 1 b1 - 0 -\n1501 c2.3 enters 1 4000 -\n1600 c1.5 served 9";
        assert_eq!(figures(others), all);
    }
}
