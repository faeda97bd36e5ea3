//! Worlds made by hand: the effect of one client with other lists on the clients that are there.

use super::clock::{Time, millis, nanos};
use super::kinds::{Kind, Story};
use super::plan::{Act, Asked, Fault, Mode};
use super::play::play_plan;
use super::seed::Seed;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::quorum::{FencingWindow, Membership, NodeSet};
use std::time::Duration;

/// The seat of the clients that are there, and that of the newcomer.
const FLEET: usize = 0;
const STRAY: usize = 1;

const SEEDS: u64 = 25;

/// Sets up six masters: each client uses five of them, and they have four in common.
fn setup(seed: Seed) -> Setup {
    let mut rng = seed.rng();
    let mut setup = Setup::draw(&mut rng, None);
    let window = FencingWindow { back: millis(50), ahead: millis(50) };
    let kind = |nodes: [usize; 5]| {
        let list: NodeSet = nodes.into_iter().collect();
        Kind::new(Membership::joint(list, list).unwrap(), millis(1_000), window, false)
    };
    let kinds = vec![kind([0, 1, 2, 3, 4]), kind([0, 1, 2, 3, 5])];
    setup.put_at_odds(&mut rng, (6, kinds, Story::Newcomer));
    setup
}

fn wants(seat: usize, at: Duration) -> [(Time, Act); 2] {
    let asked = Asked {
        keys: &["a"],
        fenced: false,
        ttl: millis(1_000),
        lock_delay: Duration::ZERO,
        wait: millis(1_500),
        keep_alive: None,
        warm: Duration::ZERO,
        at_least: Duration::ZERO,
        is_permit: false,
        mode: Mode::Alone,
    };
    let release = Act::Release { seat, dice: 0, heard_after: Duration::ZERO };
    [(nanos(at), Act::Acquire { seat, asked }), (nanos(at + millis(400)), release)]
}

fn comes(at: Duration) -> (Time, Act) {
    (0, Act::Fault(Fault::KillsClient { seat: STRAY, back_after: at }))
}

fn cut(seat: usize, node: usize, from: Duration, until: Duration) -> (Time, Act) {
    let fault = Fault::Cuts { seat: Some(seat), node, direction: None, span: until - from };
    (nanos(from), Act::Fault(fault))
}

fn played(seed: Seed, mut plan: Vec<(Time, Act)>) -> World {
    plan.sort_by_key(|(at, _)| *at);
    let world = play_plan(seed, &setup(seed), &plan, false);
    assert_eq!(world.violation, None, "{seed}");
    world
}

/// Returns the number of locks that the first client of the fleet had until then.
fn had(world: &World, until: Duration) -> usize {
    let fleet = |client: &str| client == "A";
    let holds = world.history.holds.iter();
    holds.filter(|hold| fleet(&hold.client) && hold.from < nanos(until)).count()
}

#[test]
fn a_newcomer_with_other_lists_is_refused_and_stops_no_client() {
    for seed in (0..SEEDS).map(Seed) {
        let mut plan = vec![comes(millis(3_000))];
        let moments = (1..=10).map(|turn| millis(turn * 2_000));
        plan.extend(moments.flat_map(|at| wants(FLEET, at)));
        let world = played(seed, plan);
        let refused = world.clients.iter().filter(|client| client.is_refused).count();
        assert!(refused >= 2, "{seed}: refused {refused} times");
        assert_eq!((world.stopped, had(&world, millis(20_400))), (0, 10), "{seed}");
    }
}

#[test]
fn one_stray_note_on_an_emptied_master_costs_that_vote_alone() {
    let (emptied, end) = (3, millis(45_000));
    for seed in (0..SEEDS).map(Seed) {
        let mut plan = vec![comes(millis(19_500))];
        plan.extend([0, 1, 2].map(|node| cut(STRAY, node, Duration::ZERO, end)));
        let kill = Fault::Kills { node: emptied, silent: false, down: millis(50), keeps: false };
        plan.push((nanos(millis(19_000)), Act::Fault(kill)));
        // The fleet's own clients come back too late.
        plan.push(cut(FLEET, emptied, millis(18_990), millis(24_000)));
        plan.extend(
            [30, 33, 36, 39, 42].into_iter().flat_map(|at| wants(FLEET, millis(at * 1_000))),
        );
        plan.extend(wants(STRAY, millis(30_000)));
        let world = played(seed, plan);
        let stray = world.clients.iter().find(|client| client.seat == STRAY && client.is_connected);
        assert!(stray.is_some(), "{seed}: it has noted its list");
        assert_eq!(had(&world, millis(44_000)), 5, "{seed}");
    }
}
