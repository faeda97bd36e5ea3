//! The faults of a world, and the actions of its callers. They are drawn from the seed before the
//! world begins, so that a part can be left out and the rest played again.

use super::agenda::Direction;
use super::clock::{Time, millis, nanos};
use super::flaw::Flaw;
use super::misfortunes;
use super::odds;
use super::seed::{Rng, Seed};
use super::setup::Setup;
use super::warm;
use quorumlock_core::quorum::Nanos;
use std::time::Duration;

/// The arguments of an acquire.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) keys: &'static [&'static str],
    pub(super) fenced: bool,
    pub(super) ttl: Duration,
    pub(super) lock_delay: Duration,
    pub(super) wait: Duration,
    pub(super) keep_alive: Option<Nanos>,
    /// How long the keys stay from the start, unless the work fails.
    pub(super) at_least: Duration,
    /// How long the lock stays with its client once it was given back.
    pub(super) warm: Duration,
    /// It is for one of two permits, whose slots are the resources `a` and `b`: once it is won, its
    /// keys are those of its slot.
    pub(super) is_permit: bool,
    pub(super) mode: Mode,
}

/// Which clients may have the lock beside its holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// No other client, as a plain client asks for it.
    Alone,
    /// No other client, as a writer asks for it.
    Write,
    /// Other readers.
    Read,
    /// No other client, and it waits in order.
    Fair,
}

/// One act. Clients are named by their seats: a client that is killed has a successor. `dice` picks
/// among what is there by then.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Acquire {
        seat: usize,
        asked: Asked,
    },
    Cancel {
        seat: usize,
        dice: u64,
    },
    Extend {
        seat: usize,
        dice: u64,
    },
    /// A release; the machine is notified later.
    Release {
        seat: usize,
        dice: u64,
        heard_after: Duration,
    },
    /// A drop; no caller waits for the result.
    Drop {
        seat: usize,
        dice: u64,
    },
    Forget {
        seat: usize,
        dice: u64,
    },
    /// A writer becomes a reader.
    Downgrade {
        seat: usize,
        dice: u64,
    },
    /// A lock goes to the client at another seat, where it arrives later.
    Detach {
        seat: usize,
        dice: u64,
        to: usize,
        after: Duration,
    },
    Inspect {
        seat: usize,
        key: &'static str,
    },
    /// A message asks a client for a lock, whichever client has sent it, and whether or not it waits.
    Ask {
        seat: usize,
        key: &'static str,
    },
    /// So many acquires at once, of different names.
    Burst {
        seat: usize,
        count: usize,
    },
    /// A forced release of the holder that was seen last.
    ForceRelease {
        seat: usize,
    },
    Fault(Fault),
}

#[derive(Clone, Debug)]
pub(super) enum Fault {
    PausesClient {
        seat: usize,
        span: Duration,
    },
    KillsClient {
        seat: usize,
        back_after: Duration,
    },
    /// The client ends as it should: it pays its debts first, if that does not take too long.
    EndsClient {
        seat: usize,
        back_after: Duration,
    },
    SetsWallClock {
        seat: usize,
        ahead_ms: i64,
    },
    /// A cut of all clients if none is named, in both directions if none is named.
    Cuts {
        seat: Option<usize>,
        node: usize,
        direction: Option<Direction>,
        span: Duration,
    },
    Slows {
        node: usize,
        by: Duration,
        span: Duration,
    },
    /// A connection is dead, and neither end is notified.
    Drops {
        seat: usize,
        node: usize,
    },
    /// Both ends are notified, and whatever is in flight is lost.
    Resets {
        seat: usize,
        node: usize,
    },
    /// A reset of the client's end alone: bytes in flight to the master still arrive there, later.
    Strays {
        seat: usize,
        node: usize,
        by: Duration,
    },
    Stops {
        node: usize,
        span: Duration,
    },
    /// `silent`: the machine under it fails, too, so that no connection is notified.
    Kills {
        node: usize,
        silent: bool,
        down: Duration,
        keeps: bool,
    },
    KillsAll {
        down: Duration,
        keeps: bool,
    },
    FlushesScripts {
        node: usize,
    },
    /// A master no longer lets its user run these commands.
    Denies {
        node: usize,
        rights: &'static [&'static str],
        span: Duration,
    },
    MakesReplica {
        node: usize,
        span: Duration,
    },
    StepsBack {
        node: usize,
        by: Duration,
    },
    StepsForward {
        node: usize,
        by: Duration,
    },
    /// What is under a key at a master stays, whatever it is; if nothing is, another program sets it.
    Sticks {
        node: usize,
        key: &'static str,
        span: Duration,
    },
}

pub(super) const RESOURCES: [&[&str]; 3] = [&["a"], &["b"], &["a", "b"]];

pub(super) fn span(rng: &mut Rng, from: u64, to: u64) -> Duration {
    rng.duration(millis(from)..millis(to))
}

/// Draws everything that is done in a world, in order.
pub(super) fn draw(setup: &Setup, rng: &mut Rng) -> Vec<(Time, Act)> {
    if let Some(story) = setup.story {
        let mut acts = odds::draw(setup, story, rng);
        acts.sort_by_key(|(at, _)| *at);
        return acts;
    }
    if let Some(jam) = &setup.jam {
        let mut acts = jam.draw(setup, rng);
        acts.sort_by_key(|(at, _)| *at);
        return acts;
    }
    if let Some(night) = setup.night {
        let mut acts = night.draw(setup, rng);
        acts.sort_by_key(|(at, _)| *at);
        return acts;
    }
    let count = rng.within(setup.acts.clone());
    let mut acts: Vec<(Time, Act)> = Vec::new();
    for _ in 0..count {
        let at = rng.within(0..nanos(setup.length));
        let faulty = rng.within(0..1_000) < setup.faults_per_mille;
        let act = if faulty { Act::Fault(misfortunes::draw(setup, rng)) } else { deed(setup, rng) };
        // A client that acquires something usually does something with it.
        if let Act::Acquire { seat, .. } = act
            && rng.chance(70)
        {
            let then = at + rng.within(0..nanos(setup.max_ttl) / 2);
            let handed = setup.flaw.is_some_and(Flaw::is_about_hand_overs) && rng.chance(70);
            let act = match handed {
                true => hand_over(setup, seat, rng.next()),
                false => follow_up(seat, rng),
            };
            push_deed(&mut acts, then, act, rng);
        }
        push_deed(&mut acts, at, act, rng);
    }
    if setup.is_warm {
        warm::draw(setup, &mut acts, rng);
    }
    if setup.flaw.is_none() && setup.faults_per_mille > 0 {
        detach_early(setup, &mut acts);
    }
    acts.sort_by_key(|(at, _)| *at);
    acts
}

/// Adds an act. A guard that becomes a reader's has sometimes just been extended.
fn push_deed(acts: &mut Vec<(Time, Act)>, at: Time, act: Act, rng: &mut Rng) {
    if let Act::Downgrade { seat, dice } = act
        && rng.chance(50)
    {
        let before = at.saturating_sub(rng.within(0..5_000_000));
        acts.push((before, Act::Extend { seat, dice }));
    }
    acts.push((at, act));
}

pub(super) fn deed(setup: &Setup, rng: &mut Rng) -> Act {
    let seat = rng.within(0..setup.seats() as u64) as usize;
    let dice = rng.next();
    match rng.within(0..100) {
        0..52 => Act::Acquire { seat, asked: asked(setup, seat, rng) },
        52..80 => follow_up(seat, rng),
        80..88 => hand_over(setup, seat, dice),
        88..95 => Act::Inspect { seat, key: ["a", "b"][rng.within(0..2) as usize] },
        95..98 if setup.flaw.is_none() => Act::ForceRelease { seat },
        _ => Act::Cancel { seat, dice },
    }
}

fn follow_up(seat: usize, rng: &mut Rng) -> Act {
    let dice = rng.next();
    match rng.within(0..22) {
        0..8 => {
            let late = rng.chance(25);
            let heard_after = if late { span(rng, 0, 700) } else { Duration::ZERO };
            Act::Release { seat, dice, heard_after }
        }
        8..11 => Act::Drop { seat, dice },
        11..17 => Act::Extend { seat, dice },
        17..19 => Act::Cancel { seat, dice },
        19..21 => Act::Downgrade { seat, dice },
        _ => Act::Forget { seat, dice },
    }
}

/// Draws a hand-over, to the same seat or another.
fn hand_over(setup: &Setup, seat: usize, dice: u64) -> Act {
    let to = dice as usize % setup.seats();
    let after = millis([0, 0, 5, 100, 250, 700, 2_500, 5_000][(dice >> 32) as usize % 8]);
    Act::Detach { seat, dice, to, after }
}

/// Lets some callers detach what they have just won, while the SET for one master or its answer is held up: the value
/// names that master, and its report counts for nothing where the value is adopted.
fn detach_early(setup: &Setup, acts: &mut Vec<(Time, Act)>) {
    let mut before = Vec::new();
    for &(at, ref act) in acts.iter() {
        let Act::Detach { seat, dice, .. } = *act else { continue };
        let Some(at) = at.checked_sub(nanos(millis(100))) else { continue };
        let mut rng = Seed(dice).rng();
        let node = rng.within(0..setup.masters as u64) as usize;
        let direction = Some(*rng.pick(&[Direction::ToMaster, Direction::ToClient]));
        let cut = Fault::Cuts { seat: Some(seat), node, direction, span: millis(150) };
        let asked = Asked { keep_alive: None, ..asked(setup, seat, &mut rng) };
        before.push((at, Act::Fault(cut)));
        before.push((at, Act::Acquire { seat, asked }));
    }
    acts.append(&mut before);
}

fn asked(setup: &Setup, seat: usize, rng: &mut Rng) -> Asked {
    // All callers do where nothing fails.
    if setup.is_orderly() || setup.is_rush && rng.chance(75) {
        return fair(setup, seat, rng);
    }
    if setup.is_reading && rng.chance(75) {
        return readers(setup, seat, rng);
    }
    let short = millis(300);
    let max_ttl = setup.kind(seat).max_ttl;
    let ttl = *rng.pick(&[short, short, max_ttl / 2, max_ttl]);
    let delay = *rng.pick(&[0, 0, 0, 400]);
    let lock_delay = millis(delay).min(max_ttl.saturating_sub(ttl));
    let kept = [None, None, Some(Nanos::FOREVER), Some(Nanos::of(ttl * 3))];
    let fenced = match setup.flaw {
        Some(Flaw::ForgetsFences) => true,
        Some(Flaw::CountsPermits) => false,
        _ => rng.chance(40),
    };
    // The other flaws have worlds of their own, in which it would be found out first.
    let stays = match setup.flaw {
        None => rng.chance(25),
        Some(flaw) => flaw == Flaw::DeletesWhatStays,
    };
    let at_least = match stays {
        true => *rng.pick(&[max_ttl / 4, max_ttl / 2, max_ttl]),
        false => Duration::ZERO,
    };
    let about_readers = setup.flaw.is_some_and(Flaw::is_about_readers);
    let keys = match about_readers {
        true => RESOURCES[0],
        false => RESOURCES[[0, 0, 1, 2][rng.within(0..4) as usize]],
    };
    let mode = match setup.flaw.is_none() || about_readers {
        true if *keys == *RESOURCES[0] => {
            let (write, read, turn) = (Mode::Write, Mode::Read, Mode::Fair);
            *rng.pick(&[Mode::Alone, write, write, read, read, read, turn, turn])
        }
        true if keys.len() == 1 && rng.chance(25) => Mode::Fair,
        _ => Mode::Alone,
    };
    let fenced = fenced && mode != Mode::Read;
    // Readers and writers have none.
    let may_stay = matches!(mode, Mode::Alone | Mode::Fair);
    let at_least = if may_stay { at_least } else { Duration::ZERO };
    let (keys, is_permit, lock_delay) = match setup.flaw {
        Some(Flaw::CountsPermits) => (RESOURCES[0], true, Duration::ZERO),
        flaw => (keys, flaw.is_none() && !fenced && may_stay && *keys == *RESOURCES[1], lock_delay),
    };
    Asked {
        keys,
        is_permit,
        mode,
        fenced,
        ttl,
        lock_delay,
        wait: millis(*rng.pick(&[0, 50, 500, 2_000])),
        keep_alive: *rng.pick(&kept),
        at_least,
        warm: Duration::ZERO,
    }
}

/// Draws what a caller asks for that waits in order beside others.
fn fair(setup: &Setup, seat: usize, rng: &mut Rng) -> Asked {
    let max_ttl = setup.kind(seat).max_ttl;
    let ttl = *rng.pick(&[millis(600), max_ttl / 2, max_ttl]);
    let is_permit = setup.is_rush_for_permits;
    Asked {
        keys: RESOURCES[0],
        is_permit,
        mode: Mode::Fair,
        fenced: rng.chance(25) && setup.can_fence() && !is_permit,
        ttl,
        lock_delay: Duration::ZERO,
        wait: millis(*rng.pick(&[0, 500, 2_000, 5_000, 9_000])),
        keep_alive: *rng.pick(&[None, None, Some(Nanos::of(ttl * 2))]),
        warm: Duration::ZERO,
        at_least: match setup.flaw.is_none() && rng.chance(15) {
            true => *rng.pick(&[ttl / 2, max_ttl / 2]),
            false => Duration::ZERO,
        },
    }
}

/// Draws what a caller asks for that reads or writes beside others.
fn readers(setup: &Setup, seat: usize, rng: &mut Rng) -> Asked {
    let max_ttl = setup.kind(seat).max_ttl;
    let (write, read) = (Mode::Write, Mode::Read);
    Asked {
        keys: RESOURCES[0],
        is_permit: false,
        mode: *rng.pick(&[write, read, read, read, Mode::Alone]),
        fenced: false,
        ttl: *rng.pick(&[millis(300), max_ttl / 2, max_ttl]),
        lock_delay: Duration::ZERO,
        wait: millis(*rng.pick(&[500, 2_000, 5_000])),
        keep_alive: None,
        at_least: Duration::ZERO,
        warm: Duration::ZERO,
    }
}

#[test]
fn every_deed_and_every_fault_is_drawn() {
    let mut names = std::collections::BTreeSet::new();
    for seed in (0..1_000).map(super::seed::Seed) {
        for (_, act) in super::play::draw(seed, None).1 {
            let name = format!("{act:?}");
            let name = name.trim_start_matches("Fault(").split([' ', '(']).next();
            names.insert(name.unwrap_or_default().to_owned());
        }
    }
    let expected = [
        "Acquire",
        "Ask",
        "Burst",
        "Cancel",
        "Cuts",
        "Denies",
        "Detach",
        "Downgrade",
        "Drop",
        "Drops",
        "EndsClient",
        "Extend",
        "FlushesScripts",
        "ForceRelease",
        "Forget",
        "Inspect",
        "Kills",
        "KillsAll",
        "KillsClient",
        "MakesReplica",
        "PausesClient",
        "Release",
        "Resets",
        "SetsWallClock",
        "Slows",
        "StepsBack",
        "Sticks",
        "Stops",
        "Strays",
    ];
    assert!(names.iter().eq(expected), "{names:?}");
}
