//! The protocol as it ships, within bounds.

use super::Run;
use crate::plain::config::{Config, Fence};
use crate::plain::properties::Property;

// Lists of nodes as bits, so that nodes which can change places are neighbours.
/// {1,2,3}, and below it the lists with one replaced.
const OF_THREE: u8 = 0b0111;
const ONE_REPLACED: u8 = 0b1110;
/// {1,2,3} and {3,4,5}; {1,2,3} and {4,5,6}.
const TWO_REPLACED: u8 = 0b1_1100;
const ALL_REPLACED: u8 = 0b11_1000;

pub(super) fn runs() -> Vec<Run> {
    let mut runs = plain();
    runs.extend(extended());
    runs.extend(faulty());
    runs.extend(several());
    runs.extend(fenced());
    runs.extend(joint());
    runs.extend(handed_over());
    runs.extend(at_least());
    runs
}

fn in_order(name: &'static str, nodes: usize, clients: &[u8]) -> Config {
    let config = Config::new(name, nodes, clients.len()).in_order(clients);
    config.properties(Property::IN_ORDER)
}

/// A release may arrive behind what was sent after it. Then the next one does not get the lock at
/// once.
fn forgets(name: &'static str, clients: &[u8]) -> Config {
    in_order(name, 3, clients).forgets().properties(Property::FENCED)
}

fn plain() -> Vec<Run> {
    vec![
        Run::holds(Config::new("two clients", 3, 2)).quick(),
        Run::holds(Config::new("three clients", 3, 3)).quick(),
        Run::holds(Config::new("four clients", 3, 4)).quick(),
        Run::holds(Config::new("three clients, a longer ttl", 3, 3).ttl(3)).quick(),
        Run::holds(in_order("two clients, two attempts each", 3, &[0, 1, 0, 1])).quick(),
        Run::holds(in_order("three clients, one tries twice", 3, &[0, 1, 2, 0])).quick(),
        Run::holds(in_order("passed on within a process, and another", 3, &[0, 0, 0, 1])).quick(),
        Run::holds(
            in_order("two attempts each, nil is not undone", 3, &[0, 1, 0, 1]).nil_settles(),
        )
        .quick(),
        Run::holds(forgets("two attempts each, a release late", &[0, 1, 0, 1])).quick(),
        Run::holds(forgets("passed on, and another, a release late", &[0, 0, 0, 1])).quick(),
        Run::holds(Config::new("five nodes, two clients", 5, 2)).quick(),
        Run::holds(Config::new("five nodes, three clients", 5, 3)),
        Run::holds(in_order("five nodes, two attempts each", 5, &[0, 1, 0, 1])),
    ]
}

fn extended() -> Vec<Run> {
    let two = |name| Config::new(name, 3, 2);
    vec![
        Run::holds(two("an extension each").rounds(&[1, 1])).quick(),
        Run::holds(
            in_order("an extension each, nil is not undone", 3, &[0, 1])
                .nil_settles()
                .rounds(&[1, 1]),
        )
        .quick(),
        Run::holds(two("two extensions each").rounds(&[2, 2])),
        Run::holds(Config::new("three clients, an extension each", 3, 3).rounds(&[1, 1, 1])),
        Run::holds(Config::new("five nodes, an extension each", 5, 2).rounds(&[1, 1])),
        Run::holds(
            Config::new("five nodes, an extension, a restart", 5, 2).rounds(&[1, 0]).restarts(1),
        ),
        Run::holds(two("extensions that ask for less").ttl(3).extension_ttl(1).rounds(&[2, 0]))
            .quick(),
        Run::holds(
            two("extensions that ask for more").extension_ttl(3).rounds(&[1, 1]).restarts(1),
        )
        .quick(),
        Run::holds(in_order("extensions, then the next attempt", 3, &[0, 1, 0]).rounds(&[2, 0, 0]))
            .quick(),
    ]
}

fn faulty() -> Vec<Run> {
    let two = |name| Config::new(name, 3, 2);
    vec![
        Run::holds(two("a restart, an extension each").rounds(&[1, 1]).restarts(1)).quick(),
        Run::holds(two("two restarts, two extensions").rounds(&[2, 0]).restarts(2)),
        Run::holds(Config::new("three restarts, three clients", 3, 3).restarts(3)).quick(),
        Run::holds(
            Config::new("three clients, an extension each, a restart", 3, 3)
                .rounds(&[1, 1, 1])
                .restarts(1),
        ),
        Run::holds(Config::new("five nodes, two restarts", 5, 2).restarts(2)).quick(),
        Run::holds(
            two("an older client keeps keys, extensions, a restart")
                .rounds(&[2, 0])
                .restarts(1)
                .older(2),
        ),
        Run::holds(
            in_order("an older client keeps keys, two attempts each", 3, &[0, 1, 0, 1])
                .properties(Property::FENCED)
                .older(2),
        )
        .quick(),
        Run::holds(two("duplicates, an extension each").rounds(&[1, 1]).duplicates(2)),
        Run::holds(two("clocks that gain").ttl(3).gains(3)).quick(),
        Run::holds(
            two("clocks that gain, an extension, a restart")
                .rounds(&[1, 0])
                .restarts(1)
                .ttl(3)
                .gains(3),
        ),
        Run::holds(Config::new("clocks that gain, three clients", 3, 3).ttl(3).gains(3)),
        Run::holds(Config::new("five nodes, clocks that gain", 5, 2).ttl(3).gains(3)),
        Run::holds(
            two("clocks set back, a restart").rounds(&[1, 0]).restarts(1).sets_clocks(2, -2),
        ),
    ]
}

fn several() -> Vec<Run> {
    let two = |name| Config::new(name, 3, 2);
    vec![
        Run::holds(Config::new("a lock-delay, three clients", 3, 3).lock_delay(1)).quick(),
        Run::holds(
            two("a lock-delay, extensions, a restart").rounds(&[1, 1]).restarts(1).lock_delay(1),
        )
        .quick(),
        Run::holds(Config::new("both resources, and each alone", 3, 3).claims(&[0b11, 0b10, 0b01]))
            .quick(),
        Run::holds(two("two resources and one, extended").claims(&[0b11, 0b10]).rounds(&[2, 1]))
            .quick(),
        Run::holds(two("the same two resources, extended").claims(&[0b11, 0b11]).rounds(&[2, 1])),
    ]
}

fn fenced() -> Vec<Run> {
    let ballots = |config: Config, greatest| {
        config.fence(Fence::Ballots { greatest }).properties(Property::FENCED)
    };
    let window = |config: Config, back, ahead, until| {
        config.fence(Fence::Window { back, ahead, until }).fence_expires()
    };
    let two = |name| Config::new(name, 3, 2);
    let three = in_order("fenced, three attempts of two clients", 3, &[0, 1, 0]);
    let four = in_order("fenced, two attempts each of two clients", 3, &[0, 1, 0, 1]);
    let restarted = two("fenced, window, a restart").restarts(1);
    let total = two("fenced, window, all restart").restarts(3);
    let one_back = two("fenced, window, a clock set back a little");
    let clocks = two("fenced, window, clocks apart, a restart").restarts(1);
    let everything = in_order("fenced, window, a restart, an extension", 3, &[0, 1]);
    let everything = everything.restarts(1).rounds(&[1, 0]);
    vec![
        Run::holds(ballots(two("fenced"), 2)).quick(),
        Run::holds(ballots(two("fenced, an extension").rounds(&[1, 0]), 2)).quick(),
        Run::holds(ballots(three, 3)),
        Run::holds(ballots(four, 3)),
        Run::holds(ballots(Config::new("five nodes, fenced", 5, 2), 2)),
        Run::holds(window(two("fenced, window"), 0, 1, 6)).quick(),
        Run::holds(window(restarted, 1, 1, 6)),
        Run::holds(window(total, 0, 1, 6)),
        Run::holds(window(one_back, 0, 1, 5).ttl(3).sets_clocks(1, -1)),
        Run::holds(window(clocks, 0, 1, 6).ahead([0, 0, 1, 0, 0, 0])),
        Run::holds(window(everything, 0, 1, 6)),
    ]
}

fn joint() -> Vec<Run> {
    let alone = |list| [list, list];
    let both = |new| [OF_THREE, new];
    let first = [alone(OF_THREE), both(ONE_REPLACED)];
    let then = [both(ONE_REPLACED), alone(ONE_REPLACED)];
    let ballots = Fence::Ballots { greatest: 2 };
    let window = Fence::Window { back: 0, ahead: 1, until: 7 };
    let then_new = [alone(OF_THREE), alone(ONE_REPLACED)];
    let old_and_new = [alone(OF_THREE), alone(ONE_REPLACED), alone(ONE_REPLACED)];
    vec![
        Run::holds(Config::new("old beside joint, one replaced", 4, 2).lists(&first)).quick(),
        Run::holds(Config::new("joint beside new, one replaced", 4, 2).lists(&then)).quick(),
        Run::holds(Config::new("old, joint, joint, one replaced", 4, 3).lists(&[
            alone(OF_THREE),
            both(ONE_REPLACED),
            both(ONE_REPLACED),
        ])),
        Run::holds(
            Config::new("old beside joint, a restart, an extension each", 4, 2)
                .lists(&first)
                .rounds(&[1, 1])
                .restarts(1),
        ),
        Run::holds(
            Config::new("old beside joint, two replaced", 5, 2)
                .lists(&[alone(OF_THREE), both(TWO_REPLACED)]),
        )
        .quick(),
        Run::holds(
            Config::new("old beside joint, all replaced", 6, 2)
                .lists(&[alone(OF_THREE), both(ALL_REPLACED)]),
        ),
        Run::holds(
            Config::new("old beside joint, fenced", 4, 2)
                .lists(&first)
                .fence(ballots)
                .properties(Property::FENCED),
        ),
        Run::holds(
            Config::new("new once all of old is over", 4, 3).lists(&old_and_new).after(&[0, 1, 1]),
        )
        .quick(),
        // The width of the window, and a tick, are in between.
        Run::holds(
            Config::new("new after old, fenced", 4, 2)
                .lists(&then_new)
                .after(&[0, 1])
                .rests(&[0, 2])
                .fence(window),
        ),
        Run::holds(
            Config::new("one node added, without a joint phase", 4, 2)
                .lists(&[alone(OF_THREE), alone(0b1111)]),
        )
        .quick(),
    ]
}

fn handed_over() -> Vec<Run> {
    let two = |name| Config::new(name, 3, 2).handed_over();
    vec![
        Run::holds(two("handed over")).quick(),
        Run::holds(two("handed over, a restart").restarts(1)).quick(),
        Run::holds(two("handed over, the other extends, a restart").rounds(&[2, 1]).restarts(1)),
        Run::holds(two("handed over beside a longer ttl, begun again, a restart").outlived()),
        Run::holds(Config::new("handed over, three clients", 3, 3).handed_over()),
        Run::holds(two("handed over, clocks that gain").ttl(3).gains(3)),
        Run::holds(Config::new("five nodes, handed over", 5, 2).handed_over()),
    ]
}

fn at_least() -> Vec<Run> {
    let two = |name| Config::new(name, 3, 2).at_least(3);
    vec![
        Run::holds(two("at least 3 ticks")).quick(),
        Run::holds(
            two("at least 3 ticks, an extension each, a restart").rounds(&[1, 1]).restarts(1),
        ),
        Run::holds(Config::new("at least 3 ticks, three clients", 3, 3).at_least(3)),
        Run::holds(two("at least 3 ticks, clocks that gain").gains(3)).quick(),
        Run::holds(two("at least 3 ticks, clocks that gain, a restart").restarts(1).gains(3)),
    ]
}
