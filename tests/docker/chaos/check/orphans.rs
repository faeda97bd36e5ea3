//! Keys that no client will delete any more, or that a client should have deleted long ago.

use super::{Kind, REDIALLED, Violation};
use crate::chaos::client::MAX_TTL;
use crate::chaos::clock::{Nanos, nanos};
use crate::chaos::history::{BURST, Claim, KEPT_WARM};
use crate::chaos::story::{Attempt, Burst, Life, Sighting, Story, most_impaired, process};
use crate::chaos::watch::PATIENCE;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time until a client has paid its debt to a master that it has redialled.
const PAID: Duration = Duration::from_millis(500);
/// Time that a running client may take to delete its key on a master that is up.
const PROMPT: Duration = Duration::from_millis(1200);
/// Time after a key's expiry at which a scan that saw it may still have begun.
const SLACK: Duration = Duration::from_millis(300);

type Impaired<'a> = BTreeMap<&'a str, Vec<(Nanos, Nanos)>>;

/// Returns one violation for each process, resource and master, however often the key was seen.
pub(super) fn violations(story: &Story) -> Vec<Violation> {
    let (mut known, mut violations) = (BTreeSet::new(), Vec::new());
    let impaired = story.impaired(REDIALLED + PAID);
    let mut attempts: BTreeMap<&str, Vec<&Attempt>> = BTreeMap::new();
    for attempt in &story.attempts {
        attempts.entry(process(&attempt.task)).or_default().push(attempt);
    }
    for sighting in &story.sightings {
        let Sighting { at, master, resource, holder } = sighting;
        if let Some(why) = wrong(story, &impaired, &attempts, sighting)
            && known.insert((master, resource, holder))
        {
            let text = format!("{resource} on {master} has a key of {holder}, {why}");
            violations.push(Violation::new(*at, Kind::Orphan, text));
        }
    }
    violations
}

/// Returns the problem with a key that was seen, if there is one.
fn wrong(
    story: &Story,
    impaired: &Impaired,
    attempts: &BTreeMap<&str, Vec<&Attempt>>,
    sighting: &Sighting,
) -> Option<&'static str> {
    let Sighting { at, master, holder, .. } = sighting;
    if story.empty.is_some_and(|empty| *at >= empty) {
        return Some("and everything should have expired");
    }
    let Some(life) = story.lives.get(holder) else {
        return Some("which no client has logged");
    };
    let shut_down = life.gone.filter(|(gone, _)| gone < at);
    let ended = shut_down.map(|(gone, _)| gone).or(life.killed.filter(|killed| killed < at));
    if shut_down.is_some_and(|(_, owed)| owed == 0) {
        return Some("which has shut down and owed nothing");
    }
    let Some(ended) = ended else {
        let attempts = attempts.get(&**holder).map_or(&[][..], |attempts| attempts);
        return left_behind(story, impaired, life, attempts, sighting);
    };
    // Bytes in flight arrived when the master was up again, at the latest.
    let spans = impaired.get(master.as_str()).into_iter().flatten();
    let began = spans.filter(|(from, _)| from <= at).map(|(_, until)| *until).max();
    let arrived = began.map_or(ended, |until| until.max(ended));
    let expired = arrived.saturating_add(nanos(MAX_TTL + SLACK));
    (expired < *at).then_some("which has been gone for longer than any ttl")
}

/// Checks whether the client is running, could reach the master all the time, and does not want the
/// lock.
fn left_behind(
    story: &Story,
    impaired: &Impaired,
    life: &Life,
    attempts: &[&Attempt],
    Sighting { at, master, resource, holder }: &Sighting,
) -> Option<&'static str> {
    let since = at.saturating_sub(nanos(PROMPT));
    let of_master: Impaired =
        impaired.get_key_value(master.as_str()).map(|(m, s)| (*m, s.clone())).into_iter().collect();
    let is_excused = life.born > since
        || story.was_stopped(holder, since, *at)
        || most_impaired(&of_master, since, *at) > 0;
    let wanted = || {
        attempts.iter().any(|attempt| {
            let over = attempt.hold.map_or(attempt.failed.map(|(at, _)| at), |hold| {
                // A client that has lost the lock deletes the key when it lets go, and one that keeps it
                // warm once that time is over.
                let warm = if attempt.claim == Claim::Warm { nanos(KEPT_WARM) } else { 0 };
                hold.left.map(|left| left + warm)
            });
            attempt.resources.contains(resource)
                && attempt.asked <= *at + nanos(PATIENCE)
                && over.is_none_or(|over| over >= since)
        })
    };
    let in_a_burst = || {
        let of_it = |burst: &&Burst| process(&burst.task) == holder;
        story.bursts.iter().filter(of_it).any(|burst| {
            burst.from <= *at + nanos(PATIENCE) && burst.until.is_none_or(|until| until >= since)
        })
    };
    let is_wanted = if resource == BURST { in_a_burst() } else { wanted() };
    (!is_excused && !is_wanted).then_some("which does not hold it, nor ask for it")
}

#[cfg(test)]
mod tests {
    use super::super::shorthand::{story, times};

    fn found(text: &str) -> Vec<u64> {
        times(&super::violations(&story(&format!("0 m1 is up\n0 c1 born\n{text}"))))
    }

    #[test]
    fn a_process_that_has_shut_down_and_owes_nothing_has_no_key() {
        assert_eq!(found("5 c1 gone 0\n6 m1 has r0 c1\n7 m1 has r0 c1"), [6]);
        // The scan had begun earlier, while c1 was running.
        let asks = "4 c1.0 asks 1 r0 - 0 -";
        assert!(found(&format!("{asks}\n5 c1 gone 0\n5 m1 has r0 c1")).is_empty());
        assert_eq!(found("6 m1 has r0 c2"), [6], "a stranger");
    }

    #[test]
    fn a_killed_or_indebted_process_leaves_no_key_beyond_a_ttl() {
        for end in ["killed", "gone 2"] {
            let text = format!("5 c1 {end}\n3200 m1 has r0 c1\n3306 m1 has r0 c1");
            assert_eq!(found(&text), [3306], "{end}");
            // Its SET may have arrived when the master resumed.
            let paused = "4 m1 is paused\n1000 m1 is up";
            let text = format!("{paused}\n5 c1 {end}\n7200 m1 has r0 c1\n7301 m1 has r0 c1");
            assert_eq!(found(&text), [7301], "{end}");
        }
    }

    #[test]
    fn a_process_at_work_deletes_what_it_does_not_hold() {
        let asks = "10 c1.0 asks 1 r0 - 0 -\n";
        for (text, expected) in [
            ("20 c1.0 enters 1 900 -\n30 c1.0 leaves 1\n1229 m1 has r0 c1", &[][..]),
            ("20 c1.0 enters 1 900 -\n30 c1.0 leaves 1\n1231 m1 has r0 c1", &[1231]),
            ("20 c1.0 enters 1 900 -\n1231 m1 has r0 c1", &[]),
            ("30 c1.0 fails 1 contended\n1231 m1 has r0 c1", &[1231]),
            ("30 c1.0 fails 1 contended\n1231 m1 has r1 c1", &[1231]),
            ("1231 m1 has r0 c1", &[]),
            ("30 c1.0 fails 1 contended\n1231 m1 has r0 c1\n1500 c1.1 asks 2 r0 - 0 -", &[]),
            ("30 c1.0 fails 1 contended\n1231 m1 has r0 c1\n1532 c1.1 asks 2 r0 - 0 -", &[1231]),
            ("30 c1.0 fails 1 contended\n40 c1 stopped\n1231 m1 has r0 c1", &[]),
            ("20 m1 is paused\n25 m1 is up\n30 c1.0 fails 1 contended\n3024 m1 has r0 c1", &[]),
            ("20 m1 is paused\n25 m1 is up\n30 c1.0 fails 1 contended\n4300 m1 has r0 c1", &[4300]),
        ] {
            // Whatever happens to it later.
            for end in ["", "\n9000 c1 gone 0", "\n9000 c1 killed"] {
                assert_eq!(found(&format!("{asks}{text}{end}")), expected, "{text}{end}");
            }
        }
    }

    #[test]
    fn a_process_deletes_what_it_keeps_warm_once_that_time_is_over() {
        let held = "20 c1.0 enters 1 900 -\n30 c1.0 leaves 1\n";
        for (claim, at, expected) in
            [("-", 1_830, &[1_830][..]), ("warm", 1_830, &[]), ("warm", 1_831, &[1_831])]
        {
            let lines = format!("10 c1.0 asks 1 r0 {claim} 0 -\n{held}{at} m1 has r0 c1");
            assert_eq!(found(&lines), expected, "{claim}");
        }
        let gone = "31 c1 gone 0\n32 m1 has r0 c1";
        assert_eq!(found(&format!("10 c1.0 asks 1 r0 warm 0 -\n{held}{gone}")), [32], "shut down");
    }

    #[test]
    fn a_process_deletes_what_a_burst_has_won() {
        for (lines, expected) in [
            ("20 c1.5 bursts 9\n1900 m1 has burst c1", &[][..]),
            ("20 c1.5 bursts 9\n30 c1.5 served 9\n1230 m1 has burst c1", &[]),
            ("20 c1.5 bursts 9\n30 c1.5 served 9\n1231 m1 has burst c1", &[1231]),
            ("20 c1.5 bursts 9\n1900 m1 has r0 c1", &[1900]),
            ("20 c2.5 bursts 9\n1900 m1 has burst c1", &[1900]),
        ] {
            assert_eq!(found(lines), expected, "{lines}");
        }
    }

    #[test]
    fn at_the_end_there_is_none_at_all() {
        let text = "10 c1.0 asks 1 r0 - 0 -\n20 c1.0 enters 1 900 -\n30 run empty\n31 m1 has r0 c1";
        assert_eq!(found(text), [31]);
    }
}
