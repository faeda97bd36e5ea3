//! The clocks of a run: how fast those of the masters run, and which of them are set when.

use super::{MS, SEC, Setting};
use crate::support::seed::Rng;
use std::ops::Range;
use std::time::Duration;

/// The time for which a clock runs at one speed.
pub(crate) const LEG: Duration = Duration::from_secs(5);
/// Millionths by which a master's clock is faster or slower at most. It gains them once a second: with those of a client
/// that is slower, 27 ms within a ttl of 3 s, of which the drift allows 32.
const MASTERS: u64 = 4_000;
/// The same of a client.
pub(crate) const CLIENTS: u64 = 3_500;
/// The same where it is beyond the drift, in one direction.
const TOO_FAST: i64 = 250_000;
/// How far apart the clocks of a quorum are at most, in milliseconds each way: well within the fencing window.
const TOGETHER: u64 = 200;
const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
/// The time without faults in which a minority may be set forward.
pub(super) const STILL: Duration = Duration::from_secs(8);

/// How the clocks of a run go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clocks {
    /// All processes have that of the machine.
    Shared,
    /// Each has its own: hours apart, but for a quorum of the masters, and as fast as A2 allows. Those of the other
    /// masters are set forward and back.
    Apart,
    /// Those of a quorum, or of all masters, are set forward while locks are held.
    Forward,
    /// The same, back.
    Back,
    /// One is set forward, whatever other masters have the locks.
    One,
    /// Those of all masters are faster than A2 allows.
    Fast,
}

impl Clocks {
    const ALL: [Self; 6] =
        [Self::Shared, Self::Apart, Self::Forward, Self::Back, Self::One, Self::Fast];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Shared => "0",
            Self::Apart => "1",
            Self::Forward => "forward",
            Self::Back => "back",
            Self::One => "one",
            Self::Fast => "fast",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

/// Clocks that are set at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Duration,
    /// Each master, and by how much its clock is set forward, in milliseconds.
    pub(crate) by: Vec<(usize, i64)>,
    /// Only while a quorum of the other masters has each lock.
    pub(crate) is_careful: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// How far each master's clock is ahead at first, in milliseconds.
    pub(crate) at_first: Vec<i64>,
    /// By how many millionths it is faster, leg by leg.
    pub(crate) ppm: Vec<Vec<i64>>,
    /// The masters whose clocks are set.
    pub(crate) set: Vec<usize>,
    pub(crate) steps: Vec<Step>,
    /// Times at which the wall clocks of clients are set, and how far they are ahead then, in milliseconds.
    pub(crate) clients: Vec<(Duration, i64)>,
}

/// Returns a distance of hours, in either direction.
fn hours(rng: &mut Rng) -> i64 {
    let far = HOUR + rng.within(0..30 * HOUR as u64) as i64;
    if rng.chance(50) { far } else { -far }
}

pub(super) fn times(rng: &mut Rng, setting: &Setting, still: &[Range<Duration>]) -> Times {
    let (masters, clocks) = (setting.masters, setting.clocks);
    let minority = (masters - 1) / 2;
    let mut set: Vec<usize> = (0..masters).collect();
    rng.shuffle(&mut set);
    set.truncate(match clocks {
        Clocks::Apart => minority,
        // Where a minority shows another time, and a master of the quorum is away, no quorum agrees on a token.
        Clocks::Forward | Clocks::Back if rng.chance(50) => masters,
        Clocks::Forward | Clocks::Back => masters - minority,
        Clocks::One => 1,
        Clocks::Shared | Clocks::Fast => 0,
    });
    let together = |rng: &mut Rng| rng.within(0..2 * TOGETHER) as i64 - TOGETHER as i64;
    let at_first: Vec<i64> = (0..masters)
        .map(|node| {
            let is_apart = clocks == Clocks::Apart && set.contains(&node);
            if is_apart { hours(rng) } else { together(rng) }
        })
        .collect();
    let legs = setting.until.as_secs() / LEG.as_secs() + 12;
    let ppm = (0..masters).map(|_| speeds(rng, clocks, legs)).collect();
    let steps = match clocks {
        Clocks::Apart => of_a_minority(rng, setting, still, &set),
        Clocks::Forward | Clocks::Back | Clocks::One => all(rng, setting, &set),
        Clocks::Shared | Clocks::Fast => Vec::new(),
    };
    let mut clients = vec![(Duration::ZERO, hours(rng))];
    let mut at = setting.from;
    while at < setting.until {
        at += rng.duration(2 * SEC..6 * SEC);
        clients.push((at, hours(rng)));
    }
    Times { at_first, ppm, set, steps, clients }
}

/// Returns the speeds of a clock. It runs back to where it was at first, as if it were slewed, so that a quorum stays
/// together.
fn speeds(rng: &mut Rng, clocks: Clocks, legs: u64) -> Vec<i64> {
    let mut is_ahead_by = 0;
    let speeds = (0..legs).map(|_| {
        let ppm = if rng.chance(50) { MASTERS } else { rng.within(0..MASTERS) } as i64;
        let ppm = if is_ahead_by > 0 { -ppm } else { ppm };
        is_ahead_by += ppm;
        if clocks == Clocks::Fast { TOO_FAST } else { ppm }
    });
    speeds.collect()
}

/// At any time one of them is set back, and in the times without faults one or both in either direction.
fn of_a_minority(
    rng: &mut Rng,
    setting: &Setting,
    still: &[Range<Duration>],
    set: &[usize],
) -> Vec<Step> {
    let (mut steps, mut at) = (Vec::new(), setting.from);
    while at < setting.until {
        // So that what is put off until locks are at a quorum is not too late.
        let is_still = still.iter().any(|span| span.contains(&at) && span.contains(&(at + SEC)));
        let gap = if is_still { 400 * MS..SEC } else { SEC..4 * SEC };
        let forward = is_still && rng.chance(75);
        let both = rng.chance(30);
        let first = rng.within(0..set.len() as u64) as usize;
        let which = set.iter().enumerate().filter(|(n, _)| both || *n == first);
        let mut step = Step { at, by: Vec::new(), is_careful: forward };
        for (_, &node) in which {
            // Longer than any ttl, and at times than a fence is kept.
            let by = match rng.within(0..100) {
                0..60 => 4 * SECOND + rng.within(0..60 * SECOND as u64) as i64,
                60..95 => rng.within(HOUR as u64..3 * HOUR as u64) as i64,
                _ => 30 * HOUR,
            };
            step.by.push((node, if forward { by } else { -by }));
        }
        steps.push(step);
        at += rng.duration(gap);
    }
    steps
}

/// All of them are set together, as by one wrong source of time.
fn all(rng: &mut Rng, setting: &Setting, set: &[usize]) -> Vec<Step> {
    let direction = if setting.clocks == Clocks::Back { -1 } else { 1 };
    let (mut steps, mut at) = (Vec::new(), setting.from + 2 * SEC);
    while at < setting.until {
        let by = direction * rng.within(HOUR as u64 / 6..HOUR as u64) as i64;
        let by = set.iter().map(|node| (*node, by)).collect();
        steps.push(Step { at, by, is_careful: false });
        at += rng.duration(1000 * MS..2 * SEC);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::plan::Plan;
    use crate::chaos::plan::tests::SETTING;
    use crate::support::seed::Seed;
    use std::collections::BTreeSet;

    fn plan(seed: u64, clocks: Clocks) -> Plan {
        Plan::new(Seed(seed).rng(), &Setting { clocks, ..SETTING })
    }

    #[test]
    fn a_minority_is_set_forward_only_where_no_master_has_a_fault() {
        for seed in 0..50 {
            let Plan { blows, times, .. } = plan(seed, Clocks::Apart);
            assert_eq!(times.set.len(), 2, "seed {seed}");
            let mut forward = 0;
            for step in &times.steps {
                let is_forward = step.by.iter().any(|(_, by)| *by > 0);
                assert_eq!(is_forward, step.is_careful, "seed {seed}: {step:?}");
                assert!(step.by.iter().all(|(node, _)| times.set.contains(node)));
                forward += usize::from(is_forward);
                let struck = blows
                    .iter()
                    .flatten()
                    .any(|blow| (blow.at..blow.at + blow.lasts + 3 * SEC).contains(&step.at));
                assert!(!(is_forward && struck), "seed {seed}: {step:?}");
            }
            assert!(forward > 10 && times.steps.len() > forward + 10, "seed {seed}: {forward}");
            for (node, legs) in times.ppm.iter().enumerate() {
                let mut off = 0;
                for ppm in legs {
                    off += ppm * LEG.as_secs() as i64 / 1_000;
                    assert!(off.abs() < 100 && ppm.unsigned_abs() <= MASTERS, "master {node}");
                }
            }
        }
    }

    #[test]
    fn a_quorum_is_set_in_one_direction_and_stays_together() {
        for (clocks, sign) in [(Clocks::Forward, 1), (Clocks::Back, -1)] {
            let mut sizes = BTreeSet::new();
            for seed in 0..20 {
                let Plan { times, .. } = plan(seed, clocks);
                sizes.insert(times.set.len());
                for step in &times.steps {
                    let (by, far) = (step.by[0].1, step.by[0].1 * sign > HOUR / 7);
                    assert!(step.by.iter().all(|(_, one)| *one == by) && far, "{step:?}");
                    assert_eq!(step.by.len(), times.set.len());
                }
                assert!(times.steps.len() > 20);
            }
            assert_eq!(sizes, BTreeSet::from([3, 5]));
        }
    }

    #[test]
    fn clocks_of_their_own_change_no_other_choice() {
        let [shared, forward] = [Clocks::Shared, Clocks::Forward].map(|clocks| plan(3, clocks));
        assert_eq!((shared.blows, shared.deeds), (forward.blows, forward.deeds));
    }
}
