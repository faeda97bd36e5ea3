//! The plan of faults of masters and clients, with their times: decided beforehand, by the seed
//! alone.

mod clocks;
mod odds;

pub(crate) use clocks::{CLIENTS, Clocks, LEG, Step, Times};

use super::history::Condition;
use crate::support::prelude::*;
use crate::support::seed::Rng;
use std::ops::Range;
use std::time::Duration;

const SEC: Duration = Duration::from_secs(1);

/// Time for which the same number of masters may be away.
const PHASE: Duration = Duration::from_secs(8);
/// Time without faults, now and then.
const CALM: Duration = Duration::from_secs(5);
/// Least time that Docker takes to inflict and to heal a fault.
const DOCKER: Duration = Duration::from_millis(700);

/// A fault of a master; its time is counted from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blow {
    pub(crate) at: Duration,
    pub(crate) condition: Condition,
    pub(crate) lasts: Duration,
    /// Delay of a slow master, each way.
    pub(crate) delay: Duration,
}

/// A fault of a client process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Stop(Duration),
    /// Kills it; another process takes its place.
    Kill,
    /// Asks it to end; another process takes its place.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// For each master, in order of time.
    pub(crate) blows: Vec<Vec<Blow>>,
    /// Time, place of the process, and deed, in order of time.
    pub(crate) deeds: Vec<(Duration, usize, Deed)>,
    pub(crate) times: Times,
}

/// The conditions for the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) from: Duration,
    pub(crate) until: Duration,
    pub(crate) masters: usize,
    pub(crate) clients: usize,
    /// Time until a master is usable again after a fault; after a kill, the quarantine is added.
    pub(crate) recovery: Duration,
    pub(crate) quarantine: Duration,
    /// The longest ttl: a client that is stopped for longer has lost its locks.
    pub(crate) ttl: Duration,
    /// In a run at odds, the time for which a client's settings remain at a master after it was
    /// last heard from.
    pub(crate) at_odds: Option<Duration>,
    pub(crate) clocks: Clocks,
}

impl Plan {
    pub(crate) fn new(mut rng: Rng, setting: &Setting) -> Self {
        let (mut masters, mut clients) = (rng.fork(), rng.fork());
        let deeds = match setting.at_odds {
            Some(stands) => odds::deeds(&mut clients, setting, stands),
            None => deeds(&mut clients, setting),
        };
        let (blows, still) = blows(&mut masters, setting);
        Self { blows, deeds, times: clocks::times(&mut rng, setting, &still) }
    }
}

/// Usually a minority is away, and a majority in one phase out of four. In a run at odds at most
/// one is away: clients that have no master left in common cannot know of each other. With clocks of
/// their own there are times without faults before each phase, which are returned, too.
fn blows(rng: &mut Rng, setting: &Setting) -> (Vec<Vec<Blow>>, Vec<Range<Duration>>) {
    let masters = setting.masters;
    let mut striker = Striker {
        setting,
        minority: if setting.at_odds.is_some() { 1 } else { (masters - 1) / 2 },
        blows: vec![Vec::new(); masters],
        free_at: vec![Duration::ZERO; masters],
        kinds: Vec::new(),
    };
    let (mut phase_ends, mut most) = (Duration::ZERO, striker.minority);
    let (mut at, mut still) = (setting.from, Vec::new());
    while at < setting.until {
        if at >= phase_ends {
            if setting.clocks == Clocks::Apart {
                at = striker.settled(at);
                still.push(at..at + clocks::STILL);
                at += clocks::STILL;
            } else if phase_ends > Duration::ZERO && rng.chance(20) {
                at += CALM;
                if at >= setting.until {
                    break;
                }
            }
            phase_ends = at + PHASE;
            let spares = setting.at_odds.is_some() || !rng.chance(25);
            most = if spares { striker.minority } else { masters - 1 };
        }
        if most > striker.minority {
            striker.strike_one(rng, at, most);
            at += rng.duration(50 * MS..400 * MS);
        } else if setting.at_odds.is_none()
            && rng.chance(25)
            && striker.free(at).len() > striker.minority
        {
            at = striker.strike_in_turn(rng, at);
        } else {
            striker.strike_one(rng, at, most);
            at += rng.duration(100 * MS..SEC);
        }
    }
    (striker.blows, still)
}

struct Striker<'a> {
    setting: &'a Setting,
    minority: usize,
    blows: Vec<Vec<Blow>>,
    /// For each master, the time from which it may be struck again.
    free_at: Vec<Duration>,
    /// Kinds of faults that have not had their turn yet.
    kinds: Vec<Condition>,
}

impl Striker<'_> {
    fn free(&self, at: Duration) -> Vec<usize> {
        (0..self.setting.masters).filter(|&node| self.free_at[node] <= at).collect()
    }

    /// Returns from when on all masters are well, and have been for as long as any lock lives.
    fn settled(&self, at: Duration) -> Duration {
        let healed = self.free_at.iter().copied().filter(|free| *free > Duration::ZERO).max();
        healed.map_or(at + SEC, |healed| at.max(healed + self.setting.ttl))
    }

    /// Strikes one of the masters that are up, unless `most` are away.
    fn strike_one(&mut self, rng: &mut Rng, at: Duration, most: usize) {
        let mut free = self.free(at);
        if self.setting.masters - free.len() >= most {
            return;
        }
        rng.shuffle(&mut free);
        if self.kinds.is_empty() {
            self.kinds = Condition::FAULTS.to_vec();
            rng.shuffle(&mut self.kinds);
        }
        let condition = self.kinds.pop().expect("a kind of fault");
        let lasts = match condition {
            Condition::Paused | Condition::Held => rng.duration(100 * MS..3 * SEC),
            Condition::Slow => rng.duration(SEC..4 * SEC),
            Condition::Reset | Condition::HalfOpen => Duration::ZERO,
            _ => rng.duration(200 * MS..2 * SEC),
        };
        self.strike(rng, free[0], at, condition, lasts);
    }

    /// Takes a minority away, and as it returns, restarts another master at once. Too few of the
    /// quorum that has granted a lock in the meantime then remember it to exclude the next one,
    /// unless the master that has forgotten is kept from voting. Returns when that is over.
    fn strike_in_turn(&mut self, rng: &mut Rng, at: Duration) -> Duration {
        let mut free = self.free(at);
        rng.shuffle(&mut free);
        let lasts = rng.duration(1000 * MS..2000 * MS);
        for &node in &free[..self.minority] {
            let condition = *rng.pick(&[Condition::Paused, Condition::Disconnected]);
            self.strike(rng, node, at, condition, lasts);
        }
        let restarted = at + lasts - rng.duration(Duration::ZERO..200 * MS);
        let shortly = rng.duration(Duration::ZERO..50 * MS);
        self.strike(rng, free[self.minority], restarted, Condition::Killed, shortly);
        at + lasts + DOCKER
    }

    fn strike(
        &mut self,
        rng: &mut Rng,
        node: usize,
        at: Duration,
        condition: Condition,
        lasts: Duration,
    ) {
        let killed = condition == Condition::Killed;
        let away = if killed { self.setting.quarantine } else { Duration::ZERO };
        self.free_at[node] = at + lasts + DOCKER + self.setting.recovery + away;
        let delay = rng.duration(5 * MS..150 * MS);
        self.blows[node].push(Blow { at, condition, lasts, delay });
    }
}

fn deeds(rng: &mut Rng, setting: &Setting) -> Vec<(Duration, usize, Deed)> {
    let mut deeds = Vec::new();
    let mut free_at = vec![Duration::ZERO; setting.clients];
    let mut at = setting.from;
    while at < setting.until {
        let place = rng.within(0..setting.clients as u64) as usize;
        if free_at[place] <= at {
            let deed = match rng.within(0..100) {
                0..30 => Deed::Stop(rng.duration(50 * MS..500 * MS)),
                30..60 => Deed::Stop(setting.ttl + rng.duration(Duration::ZERO..2 * SEC)),
                60..80 => Deed::Kill,
                _ => Deed::End,
            };
            // A process that has just started or resumed gets some time to do something.
            let stopped = if let Deed::Stop(lasts) = deed { lasts } else { Duration::ZERO };
            free_at[place] = at + stopped + 2 * SEC;
            deeds.push((at, place, deed));
        }
        at += rng.duration(300 * MS..1500 * MS);
    }
    deeds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::seed::Seed;
    use std::collections::BTreeSet;

    pub(super) const SETTING: Setting = Setting {
        from: SEC,
        until: Duration::from_secs(120),
        masters: 5,
        clients: 4,
        recovery: SEC,
        quarantine: Duration::from_secs(4),
        ttl: Duration::from_secs(3),
        at_odds: None,
        clocks: Clocks::Shared,
    };

    #[test]
    fn the_same_seed_plans_the_same_and_another_does_not() {
        let plan = |seed| Plan::new(Seed(seed).rng(), &SETTING);
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn every_fault_is_planned_and_none_strikes_an_absent_master() {
        for seed in 0..50 {
            let plan = Plan::new(Seed(seed).rng(), &SETTING);
            let kinds: BTreeSet<_> =
                plan.blows.iter().flatten().map(|blow| blow.condition).collect();
            assert_eq!(kinds, Condition::FAULTS.into_iter().collect(), "seed {seed}");
            for two in plan.blows.iter().flat_map(|blows| blows.windows(2)) {
                assert!(two[1].at >= two[0].at + two[0].lasts + SETTING.recovery, "seed {seed}");
            }
            let is = |wanted: fn(&Deed) -> bool| plan.deeds.iter().any(|(_, _, deed)| wanted(deed));
            assert!(is(|deed| *deed == Deed::Kill) && is(|deed| *deed == Deed::End), "seed {seed}");
            assert!(is(|deed| matches!(deed, Deed::Stop(lasts) if *lasts >= SETTING.ttl)));
        }
    }

    #[test]
    fn one_is_restarted_at_once_as_a_minority_returns_in_every_plan() {
        for seed in 0..50 {
            let plan = Plan::new(Seed(seed).rng(), &SETTING);
            let all = || plan.blows.iter().flatten();
            let returns = |blow: &Blow, at| (at..at + 200 * MS).contains(&(blow.at + blow.lasts));
            let found =
                all().filter(|blow| blow.condition == Condition::Killed && blow.lasts < 50 * MS);
            let found =
                found.filter(|blow| all().filter(|other| returns(other, blow.at)).count() >= 2);
            assert!(found.count() > 0, "seed {seed}");
        }
    }

    #[test]
    fn twelve_seconds_have_some_trouble_for_masters_and_clients() {
        for seed in 0..500 {
            let until = SETTING.from + 12 * SEC;
            let plan = Plan::new(Seed(seed).rng(), &Setting { until, ..SETTING });
            assert!(plan.blows.iter().flatten().count() >= 4, "seed {seed}");
            let harsh = plan.deeds.iter().filter(|(_, _, deed)| *deed != Deed::End).count();
            assert!(harsh >= 2, "seed {seed}");
        }
    }

    #[test]
    fn a_majority_is_struck_at_times_and_mostly_only_a_minority() {
        let (mut majority, mut all) = (0, 0);
        for seed in 0..50 {
            let plan = Plan::new(Seed(seed).rng(), &SETTING);
            for tenth in 10..1200 {
                let now = tenth * 100 * MS;
                let away = |blow: &Blow| (blow.at..blow.at + blow.lasts).contains(&now);
                let struck = plan.blows.iter().filter(|blows| blows.iter().any(away)).count();
                majority += u32::from(struck > 2);
                all += 1;
            }
        }
        assert!(majority > 0 && majority < all / 4, "{majority} of {all}");
    }
}
