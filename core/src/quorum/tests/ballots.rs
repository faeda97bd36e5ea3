//! Proposals that rise, catch up, and recover.

use super::super::fence::{BLOCK, GREATEST, micros};
use super::super::{Ballots, Clocks, FencingWindow, Membership};
use super::{cases, masters};
use proptest::prelude::*;
use std::time::Duration;

const WINDOW: FencingWindow = FencingWindow::DEFAULT;

/// The time on a correct wall clock, in microseconds.
const NOW: u64 = 1_800_000_000_000_000;

const SECOND: u64 = 1_000_000;

/// Decides as a node does, completely: the window first, both ends included.
pub(super) fn lets_in(window: FencingWindow, ballot: u64, node_us: u64) -> bool {
    let (back, ahead) = (micros(window.back), micros(window.ahead));
    node_us.saturating_sub(back) <= ballot && ballot <= node_us.saturating_add(ahead)
}

/// A node's fence for one resource.
#[derive(Default)]
struct Node {
    fence: u64,
}

impl Node {
    /// Grants a ballot above its fence and stores it; otherwise reports the fence.
    fn ask(&mut self, ballot: u64) -> Result<(), u64> {
        if ballot > self.fence {
            self.fence = ballot;
            Ok(())
        } else {
            Err(self.fence)
        }
    }

    /// The simpler design that fails: counts the grants, and reports the number of this one.
    fn count(&mut self) -> u64 {
        self.fence += 1;
        self.fence
    }
}

fn fresh() -> Ballots {
    Ballots::new(WINDOW)
}

/// Returns what a round of masters with these clocks reports at `wall_us` on ours.
fn reported(nodes_us: &[u64], wall_us: u64) -> (Clocks, Membership) {
    let mut clocks = Clocks::default();
    for (node, node_us) in nodes_us.iter().enumerate() {
        clocks.record(node, *node_us, wall_us);
    }
    (clocks, masters(nodes_us.len()))
}

/// Learns what the round reports.
fn learn(ballots: &mut Ballots, nodes_us: &[u64], wall_us: u64) {
    let (clocks, membership) = reported(nodes_us, wall_us);
    ballots.learn_clocks(&clocks, membership, wall_us);
}

#[test]
fn a_ballot_is_above_the_clock_the_fences_and_the_last_ballot() {
    let mut ballots = fresh();
    assert_eq!(ballots.propose(100), 101);
    assert_eq!(ballots.propose(100), 102, "the clock stands still");
    assert_eq!(ballots.propose(7), 103, "the clock goes back");
    assert_eq!(ballots.propose(500), 501);
    ballots.learn_fence(502);
    assert_eq!(ballots.propose(501), 503);
    ballots.learn_fence(40);
    assert_eq!(ballots.propose(501), 504, "an old fence teaches nothing");
    assert_eq!(ballots.propose(0), 505);
}

#[test]
fn a_block_begins_with_the_next_ballot_and_the_next_ballot_is_above_it() {
    let mut ballots = fresh();
    assert_eq!(ballots.propose_block(100, 1_000), 101..=1_100);
    assert_eq!(ballots.propose(100), 1_101);
    assert_eq!(ballots.propose_block(100, 0), 1_102..=1_102, "at least one number");
    assert_eq!(ballots.propose_block(5_000, BLOCK).count(), 1_000);
    assert_eq!(ballots.propose_block(GREATEST - 10, BLOCK), GREATEST - 9..=GREATEST);
}

/// However fast a client proposes blocks, it remains within what masters let in.
#[test]
fn a_block_ends_within_half_of_the_window_ahead_or_has_one_number() {
    let half = micros(WINDOW.ahead) / 2;
    let mut ballots = fresh();
    learn(&mut ballots, &[NOW; 3], NOW);
    ballots.learn_fence(NOW + half - 3);
    assert_eq!(ballots.propose_block(NOW, BLOCK), NOW + half - 2..=NOW + half);
    assert_eq!(ballots.propose_block(NOW, BLOCK), NOW + half + 1..=NOW + half + 1);
    let blocks = (0..10_000).map(|_| ballots.propose_block(NOW, BLOCK));
    let greatest = blocks.map(|block| *block.end()).max().unwrap_or(0);
    assert_eq!(greatest, NOW + half + 10_001);
    assert!(lets_in(WINDOW, greatest, NOW));
    // Time goes by, and there is room again.
    assert_eq!(ballots.propose_block(NOW + SECOND, BLOCK).count(), 1_000);
}

#[test]
fn a_ballot_stays_below_two_to_the_53rd() {
    let mut ballots = fresh();
    assert_eq!(ballots.propose(GREATEST - 1), GREATEST);
    assert_eq!(ballots.propose(GREATEST), GREATEST);
    assert_eq!(ballots.propose(u64::MAX), GREATEST);
    assert_eq!(GREATEST + 1, 1 << 53);
    let mut ballots = fresh();
    ballots.learn_fence(u64::MAX);
    assert_eq!(ballots.propose(NOW), NOW + 1, "no node has such a fence");
}

#[test]
fn the_offset_of_a_quorum_corrects_our_clock() {
    for (ours, nodes) in [(NOW, NOW + 9), (NOW, NOW - 9), (0, NOW), (u64::MAX, NOW), (NOW, 0)] {
        let mut ballots = fresh();
        learn(&mut ballots, &[nodes, nodes, nodes], ours);
        assert_eq!(ballots.propose(ours), nodes + 1, "{ours} learns {nodes}");
    }
    let mut ballots = fresh();
    learn(&mut ballots, &[NOW; 3], 50);
    assert_eq!(ballots.propose(50 + SECOND), NOW + SECOND + 1, "ours goes on");
}

#[test]
fn less_than_a_quorum_corrects_nothing() {
    let mut ballots = fresh();
    let (mut clocks, membership) = (Clocks::default(), masters(5));
    clocks.record(0, NOW, 50);
    clocks.record(4, NOW, 50);
    ballots.learn_clocks(&clocks, membership, 50);
    assert_eq!(ballots.propose(50), 51);
}

#[test]
fn a_later_round_corrects_an_earlier_one() {
    let mut ballots = fresh();
    learn(&mut ballots, &[NOW; 3], 50);
    // Our clock has been set in the meantime.
    learn(&mut ballots, &[NOW + SECOND; 3], NOW + SECOND);
    assert_eq!(ballots.propose(NOW + SECOND), NOW + SECOND + 1);
}

#[test]
fn a_fence_far_ahead_is_forgotten_for_good_after_one_round() {
    let (year, nodes) = (NOW + 31_536_000 * SECOND, [NOW, NOW, NOW]);
    let mut ballots = fresh();
    ballots.learn_fence(year);
    let mad = ballots.propose(NOW);
    assert_eq!(mad, year + 1, "a client without a clock has to believe it");
    learn(&mut ballots, &nodes, NOW);
    assert_eq!(ballots.propose(NOW), NOW + 1);
    // The node that has it reports it again, after the round.
    ballots.learn_fence(year);
    assert_eq!(ballots.propose(NOW), NOW + 2);
}

#[test]
fn fences_are_believed_up_to_the_window_to_the_microsecond() {
    let ahead = micros(WINDOW.ahead);
    for (fence, next) in [(NOW + ahead, NOW + ahead + 1), (NOW + ahead + 1, NOW + 1)] {
        let mut before = fresh();
        before.learn_fence(fence);
        learn(&mut before, &[NOW; 3], NOW);
        assert_eq!(before.propose(NOW), next, "learned before the clocks");
        let mut after = fresh();
        learn(&mut after, &[NOW; 3], NOW);
        after.learn_fence(fence);
        assert_eq!(after.propose(NOW), next, "learned after them");
    }
    // The bound moves on with time.
    let mut ballots = fresh();
    learn(&mut ballots, &[NOW; 3], NOW);
    assert_eq!(ballots.propose(NOW + SECOND), NOW + SECOND + 1);
    ballots.learn_fence(NOW + ahead + SECOND);
    assert_eq!(ballots.propose(NOW + SECOND), NOW + ahead + SECOND + 1);
}

#[test]
fn one_mad_clock_spoils_neither_our_clock_nor_our_ballots() {
    let year = NOW + 31_536_000 * SECOND;
    for nodes in [[year, NOW, NOW], [NOW, year, NOW], [0, NOW, NOW], [NOW, NOW, 0]] {
        let mut ballots = fresh();
        ballots.learn_fence(nodes.into_iter().max().unwrap_or(0));
        learn(&mut ballots, &nodes, NOW);
        assert_eq!(ballots.propose(NOW), NOW + 1, "{nodes:?}");
    }
}

/// Three masters and two clients whose clocks are stopped at the same time. The first client gets
/// no further than n1, the other wins n2 and n1, then the first wins n3 and n2.
#[test]
fn where_counters_repeat_and_go_down_ballots_rise() {
    // The greatest of counters repeats, and with two grants more on n1 it goes down.
    for (wasted, expected) in [(1, [2, 2]), (2, [3, 2])] {
        let [mut n1, mut n2, mut n3] = [(); 3].map(|()| Node::default());
        (0..wasted).for_each(|_| _ = n1.count());
        let first = n2.count().max(n1.count());
        let second = n3.count().max(n2.count());
        assert_eq!([first, second], expected, "{wasted} on n1");
    }

    let [mut n1, mut n2, mut n3] = [(); 3].map(|()| Node::default());
    let [mut x, mut y] = [fresh(), fresh()];
    assert_eq!(n1.ask(x.propose(NOW)), Ok(()));
    let first = win(&mut y, [&mut n2, &mut n1]);
    let second = win(&mut x, [&mut n3, &mut n2]);
    assert!(first < second, "{first}, then {second}");
}

/// Runs rounds over a quorum until one is won; each refusal teaches its fence. Two are enough.
fn win(ballots: &mut Ballots, nodes: [&mut Node; 2]) -> u64 {
    let [first, second] = nodes;
    for _ in 0..2 {
        let ballot = ballots.propose(NOW);
        let answers = [first.ask(ballot), second.ask(ballot)];
        answers
            .iter()
            .filter_map(|answer| answer.err())
            .for_each(|fence| ballots.learn_fence(fence));
        if answers == [Ok(()), Ok(())] {
            return ballot;
        }
    }
    panic!("one lost round has not taught enough: {ballots:?}");
}

/// An event that may have happened to a client before.
#[derive(Clone, Debug)]
enum Past {
    Proposed(u64),
    Fence(u64),
    Clocks(Vec<u64>, u64),
}

fn past() -> impl Strategy<Value = Past> {
    let clocks = prop::collection::vec(any::<u64>(), 1..6);
    prop_oneof![
        any::<u64>().prop_map(Past::Proposed),
        any::<u64>().prop_map(Past::Fence),
        (clocks, any::<u64>()).prop_map(|(clocks, wall)| Past::Clocks(clocks, wall)),
    ]
}

/// Returns a client with a past.
fn client(past: &[Past]) -> Ballots {
    let mut ballots = fresh();
    for event in past {
        match event {
            Past::Proposed(wall_us) => drop(ballots.propose(*wall_us)),
            Past::Fence(fence) => ballots.learn_fence(*fence),
            Past::Clocks(nodes_us, wall_us) => learn(&mut ballots, nodes_us, *wall_us),
        }
    }
    ballots
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn between_two_rounds_that_tell_the_time_ballots_only_rise(
        past in prop::collection::vec(past(), 0..6),
        walls in prop::collection::vec((any::<u64>(), any::<u64>()), 1..6),
    ) {
        let mut ballots = client(&past);
        let mut last = 0;
        for (wall_us, fence) in walls {
            let next = ballots.propose(wall_us);
            prop_assert!(next > last || next == GREATEST, "{} after {}", next, last);
            prop_assert!(next <= GREATEST);
            ballots.learn_fence(fence);
            last = next;
        }
    }

    #[test]
    fn after_one_round_the_median_master_always_lets_the_ballot_in(
        past in prop::collection::vec(past(), 0..6), wall_us in 0..u64::MAX / 2,
        skews in prop::collection::vec(0..2_000_000_u64, 1..6), pause in 1..1_000_000_u64,
    ) {
        let mut ballots = client(&past);
        let mut nodes_us: Vec<u64> = skews.iter().map(|skew| NOW + skew).collect();
        learn(&mut ballots, &nodes_us, wall_us);
        let next = ballots.propose(wall_us + pause);
        nodes_us.sort_unstable();
        let middle = nodes_us[(nodes_us.len() - 1) / 2] + pause;
        prop_assert!(lets_in(WINDOW, next, middle), "{} at {}", next, middle);
        prop_assert!(next > middle, "not behind it");
    }

    #[test]
    fn ballots_one_master_lets_in_more_than_a_window_apart_rise(
        now in 10_000_000..1_u64 << 52, further in 1..1_000_000_u64, first: u64, second: u64,
    ) {
        let width = micros(WINDOW.width());
        let (back, later) = (micros(WINDOW.back), now + width + further);
        let first = now - back + first % (width + 1);
        let second = later - back + second % (width + 1);
        prop_assert!(lets_in(WINDOW, first, now) && lets_in(WINDOW, second, later));
        prop_assert!(second > first);
        let equal = now + micros(WINDOW.ahead);
        prop_assert!(lets_in(WINDOW, equal, now) && lets_in(WINDOW, equal, now + width));
    }
}

#[test]
fn the_default_window_is_two_seconds_each_way() {
    assert_eq!(WINDOW.width(), Duration::from_secs(4));
    assert_eq!(WINDOW.back, WINDOW.ahead);
    let widest = FencingWindow { back: Duration::MAX, ahead: Duration::MAX };
    assert_eq!(widest.width(), Duration::MAX);
}
