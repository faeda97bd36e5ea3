//! Faults as they are drawn: which one, of which client or master, and for how long.

use super::agenda::Direction;
use super::clock::millis;
use super::flaw::Flaw;
use super::plan::{Fault, span};
use super::seed::Rng;
use super::setup::Setup;
use std::time::Duration;

/// A step by which a reader seems to live for longer than any does.
const FAR_BACK: Duration = millis(40_000);

/// The rights that a user loses.
const RIGHTS: [&[&str]; 10] = [
    &["zadd"],
    &["zrem", "zremrangebyscore"],
    &["zrange", "zrank", "zcard", "zscore", "zrangebyscore"],
    &["evalsha"],
    &["eval", "evalsha"],
    &["get"],
    &["set"],
    &["publish"],
    &["del", "pttl", "time"],
    &["pexpire"],
];

pub(super) fn draw(setup: &Setup, rng: &mut Rng) -> Fault {
    let seat = rng.within(0..setup.seats() as u64) as usize;
    let node = rng.within(0..setup.masters as u64) as usize;
    let short = span(rng, 1, 400);
    let long = span(rng, 50, 3_000);
    let span = if rng.chance(60) { short } else { long };
    let keeps = !setup.may_forget() || rng.chance(35);
    match setup.flaw {
        Some(Flaw::StepsForward) if rng.chance(50) => {
            return Fault::StepsForward { node, by: long };
        }
        Some(flaw) if flaw.needs_steps_back() && rng.chance(50) => {
            return Fault::StepsBack { node, by: span };
        }
        Some(Flaw::KillsNothing | Flaw::DeniesKill) if rng.chance(60) => {
            return Fault::Strays { seat, node, by: long };
        }
        // Only few worlds have such clocks.
        None if setup.steps_back && rng.chance(25) => {
            let by = if rng.chance(30) { FAR_BACK } else { span / 2 };
            return Fault::StepsBack { node, by };
        }
        _ => {}
    }
    match rng.within(0..100) {
        0..13 => Fault::PausesClient { seat, span },
        13..17 => Fault::KillsClient { seat, back_after: span },
        17..19 => Fault::EndsClient { seat, back_after: span },
        19..21 => Fault::SetsWallClock { seat, ahead_ms: rng.within(0..6_000) as i64 - 3_000 },
        21..36 => {
            let direction = *rng.pick(&[
                None,
                Some(Direction::ToMaster),
                Some(Direction::ToClient),
                Some(Direction::ToClient),
            ]);
            Fault::Cuts { seat: rng.chance(70).then_some(seat), node, direction, span }
        }
        36..44 => Fault::Slows { node, by: short / 2, span },
        44..52 => Fault::Resets { seat, node },
        52..66 => Fault::Strays { seat, node, by: span / 2 },
        66..78 => Fault::Stops { node, span },
        78..90 => Fault::Kills { node, silent: rng.chance(30), down: span, keeps },
        90..92 => Fault::KillsAll { down: span, keeps },
        92..93 => Fault::FlushesScripts { node },
        93..94 if setup.flaw.is_none() => {
            Fault::Denies { node, rights: RIGHTS[rng.within(0..10) as usize], span }
        }
        94..96 => Fault::MakesReplica { node, span },
        96..98 if setup.steps_back => {
            let by = if rng.chance(30) { FAR_BACK } else { span / 2 };
            Fault::StepsBack { node, by }
        }
        _ => Fault::Resets { seat, node },
    }
}
