//! Bad nights, as others have reported them, and scenes that a design of one queue has lost. Each is the story of a
//! world: which clients wait, and what goes wrong, while nothing fails by chance.

mod scenes;

use super::clock::millis;
use super::jam::{Jam, Way};
use super::seed::Rng;
use super::setup::Setup;
use quorumlock_core::coordinator::{Rest, RestartGuard};
use std::time::Duration;

/// The end of the last misfortune, and of the world.
const WELL_FOR: Duration = millis(1_000);

/// The longest pause of patient waiters.
const PATIENT: Duration = millis(8_000);

/// All rights that a client uses: a master without them answers everything with an error.
const EVERYTHING: &[&str] = &[
    "set",
    "get",
    "del",
    "pttl",
    "pexpire",
    "time",
    "eval",
    "evalsha",
    "publish",
    "zadd",
    "zrem",
    "zrange",
    "zrank",
    "zcard",
    "zscore",
    "zrangebyscore",
    "zremrangebyscore",
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Night {
    /// One process dies again and again, with what it holds and waits for; others wait.
    CrashLoop,
    /// Half of all clients die at once.
    HalfIsKilled,
    /// A master answers everything with an error, or executes no write.
    AnswersErrors,
    /// A proxy drops connections, and tells neither end.
    DropsInSilence,
    /// Each message takes 150 ms.
    FarAway,
    /// A master is slow for as long as the world lasts.
    SlowMaster,
    /// All clocks run as fast or as slow as they may.
    Drift,
    /// All masters are restarted, one after the other, under load.
    Rolling,
    /// All masters restart at once, and have forgotten everything.
    AllRestart,
    /// A master is down for long.
    LongOutage,
    /// Dead, stopped and cut-off clients are in front, in every way to wait.
    DeadAndMute,
    /// What is waited for was handed on to another process, which releases it, or dies.
    Adopted,
    /// Readers come and go, so that there is always one, and a writer waits.
    Readers,
    /// A lock is kept warm, and another process wants it.
    Warm,
    /// A long hold, and then nothing for a while.
    Quiet,
    /// All masters stop for a moment, again and again, while clients wait in order.
    Hiccups,
    /// A master is down for a while, and comes back long before what others wait for is released.
    ComesBack,
    /// Waiters pause for so long that a forgotten wake-up shows. Masters fail and come back, one after the other, and
    /// waiters give up as they are called.
    Patient,
}

/// Much of a waiter can be forgotten: the patient have a larger share.
pub(super) const NIGHTS: [Night; 22] = [
    Night::CrashLoop,
    Night::HalfIsKilled,
    Night::AnswersErrors,
    Night::DropsInSilence,
    Night::FarAway,
    Night::SlowMaster,
    Night::Drift,
    Night::Rolling,
    Night::AllRestart,
    Night::LongOutage,
    Night::DeadAndMute,
    Night::Adopted,
    Night::Readers,
    Night::Warm,
    Night::Quiet,
    Night::Hiccups,
    Night::ComesBack,
    Night::Patient,
    Night::Patient,
    Night::Patient,
    Night::Patient,
    Night::Patient,
];

impl Night {
    const fn seats(self) -> usize {
        match self {
            Self::HalfIsKilled | Self::DeadAndMute => 8,
            Self::Readers | Self::Patient => 5,
            Self::Quiet | Self::Warm | Self::LongOutage => 3,
            _ => 4,
        }
    }

    /// Returns the setup of such a night: nothing fails but what its story says.
    pub(super) fn setup(self, lateness: Duration, rng: &mut Rng) -> Setup {
        let max_ttl = match self {
            Self::Warm | Self::HalfIsKilled | Self::Patient => millis(10_000),
            Self::FarAway | Self::AllRestart => millis(5_000),
            _ => millis(*rng.pick(&[1_000, 2_000, 5_000])),
        };
        let masters = if rng.chance(30) { 5 } else { 3 };
        let mut setup = Setup::plain(masters, self.seats(), max_ttl);
        let forgets = matches!(self, Self::AllRestart | Self::Rolling);
        setup.set_guard(if forgets { RestartGuard::On } else { RestartGuard::Off }, forgets);
        setup.longest_pause = millis(*rng.pick(&[50, 250]));
        setup.latency_us = rng.pick(&[100..400, 100..3_000]).clone();
        (setup.lateness, setup.wake_ups) = (lateness, rng.chance(85));
        setup.has_waitlists = setup.wake_ups && rng.chance(50);
        setup.night = Some(self);
        match self {
            Self::FarAway => {
                setup.latency_us = 140_000..160_000;
                setup.operation_timeout = millis(1_000);
            }
            Self::Drift => setup.drifts_most = true,
            Self::Warm => (setup.is_warm, setup.wake_ups) = (true, true),
            Self::Readers => {
                (setup.longest_pause, setup.wake_ups) = (millis(50), rng.chance(50));
                setup.has_waitlists &= setup.wake_ups;
            }
            Self::HalfIsKilled => setup.longest_pause = millis(250),
            Self::Hiccups => setup.longest_pause = millis(50),
            Self::Quiet => {
                (setup.longest_pause, setup.wake_ups) = (millis(250), true);
                setup.has_waitlists = rng.chance(25);
                let heartbeat = millis(*rng.pick(&[10_000, 30_000]));
                setup.rest = Rest { after: millis(2_000), heartbeat };
            }
            Self::Patient => {
                (setup.longest_pause, setup.wake_ups) = (PATIENT, rng.chance(70));
                setup.has_waitlists = setup.wake_ups && rng.chance(80);
            }
            _ => {}
        }
        setup.length = self.length(&setup);
        setup
    }

    /// Returns how long the world lasts: until the last of those that wait has what it waits for.
    fn length(self, setup: &Setup) -> Duration {
        let message = Duration::from_micros(setup.latency_us.end) + millis(10);
        let served = setup.served_by_a_quorum_within(message) + setup.max_ttl;
        let before = match self {
            Self::Quiet | Self::Patient => return millis(45_000),
            Self::LongOutage => millis(14_000),
            Self::AllRestart => setup.quarantine + millis(1_500),
            Self::Rolling => (setup.quarantine + millis(500)) * setup.masters as u32,
            Self::Readers => return millis(14_000),
            Self::ComesBack => millis(9_000),
            _ => millis(3_000),
        };
        before + served + WELL_FOR
    }
}

impl Setup {
    /// Returns whether a waiter that hears of no release tries as soon as the key ends. A listener does not ask for
    /// that end until its pauses are longer than the longest of its backoff.
    pub(super) fn knows_ends(&self) -> bool {
        let pauses_on = self.wake_ups && self.longest_pause == PATIENT;
        !(self.has_waitlists || pauses_on)
    }

    /// Returns whether nothing fails by chance.
    pub(super) const fn is_a_story(&self) -> bool {
        self.jam.is_some() || self.night.is_some()
    }

    /// Returns the name of the story of a world, if it has one.
    pub(super) fn title(&self) -> String {
        let of_jam = |jam: &Jam| format!("{:?}", jam.way);
        let title = self.night.map(|night| format!("{night:?}"));
        let title = title.or_else(|| self.jam.as_ref().map(of_jam));
        let title = title.or_else(|| self.story.map(|story| format!("AtOdds{story:?}")));
        title.unwrap_or_else(|| "any".into())
    }
}

#[test]
fn each_story_has_its_share_of_all_worlds() {
    let mut titles = std::collections::BTreeSet::new();
    for seed in (0..4_000).map(super::seed::Seed) {
        titles.insert(super::play::draw_unmatched(seed, None).0.title());
    }
    let nights = NIGHTS.iter().map(|night| format!("{night:?}"));
    let ways = [Way::FiveGone, Way::Crashes, Way::Turns].map(|way| format!("{way:?}"));
    for story in nights.chain(ways) {
        assert!(titles.contains(&story), "{story} is not among {titles:?}");
    }
}
