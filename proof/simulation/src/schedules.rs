//! Schedules that were written by hand, or were the shortest of a world that failed: each stays what
//! it is when worlds are drawn anew.

use super::clock::{Time, millis, nanos};
use super::plan::{Act, Asked, Fault, Mode, RESOURCES};
use super::play::play_plan;
use super::seed::Seed;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::coordinator::RestartGuard;
use std::time::Duration;

/// What a caller asks for that waits for nothing.
fn asked(mode: Mode, ttl: Duration) -> Asked {
    Asked {
        keys: RESOURCES[0],
        fenced: false,
        ttl,
        lock_delay: Duration::ZERO,
        wait: Duration::ZERO,
        keep_alive: None,
        warm: Duration::ZERO,
        at_least: Duration::ZERO,
        is_permit: false,
        mode,
    }
}

fn at(ms: u64, act: Act) -> (Time, Act) {
    (nanos(millis(ms)), act)
}

fn played(setup: &Setup, plan: &[(Time, Act)]) -> World {
    play_plan(Seed(7), setup, plan, true)
}

#[test]
fn a_reader_that_had_expired_before_a_clock_was_set_back_does_not_count() {
    let mut setup = Setup::plain(3, 2, millis(5_000));
    setup.set_guard(RestartGuard::Off, false);
    setup.steps_back = true;
    let plan = [
        at(500, Act::Acquire { seat: 1, asked: asked(Mode::Read, millis(300)) }),
        at(1_000, Act::Acquire { seat: 0, asked: asked(Mode::Alone, millis(5_000)) }),
        at(1_050, Act::Fault(Fault::StepsBack { node: 1, by: millis(1_350) })),
    ];
    let world = played(&setup, &plan);
    assert_eq!(world.violation, None, "{:#?}", world.log());
    assert!(world.wins >= 2, "both have had it: {}", world.wins);
}
