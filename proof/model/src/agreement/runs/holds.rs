//! The agreement as it ships.

use super::{
    Client, Config, FIVE, ONE_REPLACED, Run, both, numbers, scene, scenes, to_the_full, walks,
};

/// The number of steps of each walk.
const STEPS: usize = 10_000_000;

pub(super) fn runs() -> Vec<Run> {
    let mut all = explored();
    all.extend(walked());
    all.extend(played());
    all
}

fn explored() -> Vec<Run> {
    let lists = |name| Config::new(name, 4, &ONE_REPLACED);
    let full = |name| Config::new(name, 4, &to_the_full(ONE_REPLACED));
    let [prompt, other] = ONE_REPLACED;
    let late = [prompt.late(), other];
    let windows = [Client::of(0b111).window(1, 0), Client::of(0b111).window(0, 1)];
    let longer = {
        let mut config =
            Config::new("a silence of two ticks, a ttl of two", 4, &to_the_full(ONE_REPLACED));
        config.silence = 2;
        config
    };
    let brief = ONE_REPLACED.map(Client::brief);
    let leaving = ONE_REPLACED.map(Client::quits);
    let beside_a_reader = [Client::of(0b0111), Client::of(0b1110).reader(), Client::of(0b0111)];
    vec![
        Run::holds(lists("other lists")).quick(),
        Run::holds(lists("other lists, no link fails").uncut()).quick(),
        Run::holds(full("other lists, all of the max_ttl")).quick(),
        Run::holds(longer),
        Run::holds(lists("other lists, a restart").restarts(1)).quick(),
        Run::holds(lists("other lists, two restarts").restarts(2)),
        Run::holds(full("other lists, two restarts, all of the max_ttl").restarts(2)),
        Run::holds(lists("other lists, two attempts each").tries(2, 0)),
        Run::holds(full("other lists, extended").tries(1, 1)).quick(),
        Run::holds(full("other lists, extended, a restart").tries(1, 1).restarts(1)),
        Run::holds(Config::new("other lists, answers read late", 4, &late)).quick(),
        Run::holds(Config::new("other lists, answers read late, a restart", 4, &late).restarts(1)),
        Run::holds(lists("other lists, errors").errors()),
        Run::holds(lists("other lists, errors, no link fails").errors().uncut()),
        Run::holds(Config::new("a max_ttl of 2 and 1, a restart", 3, &numbers(2, 1)).restarts(1))
            .quick(),
        Run::holds(
            Config::new("a max_ttl of 2 and 1, two restarts", 3, &numbers(2, 1)).restarts(2),
        ),
        Run::holds(
            Config::new("a max_ttl of 3 and 1, two restarts", 3, &numbers(3, 1)).restarts(2),
        ),
        Run::holds(Config::new("other windows, two restarts", 3, &windows).restarts(2)),
        Run::holds(
            Config::new("other lists and another max_ttl, a restart", 4, &both()).restarts(1),
        )
        .quick(),
        Run::holds(Config::new("other lists, brief notes first", 4, &brief)).quick(),
        Run::holds(Config::new("other lists, brief notes first, a restart", 4, &brief).restarts(1)),
        Run::holds(Config::new(
            "other lists, all of the max_ttl, brief notes first",
            4,
            &to_the_full(ONE_REPLACED).map(Client::brief),
        )),
        Run::holds(
            Config::new(
                "a max_ttl of 2 and 1, brief notes first, a restart",
                3,
                &numbers(2, 1).map(Client::brief),
            )
            .restarts(1),
        ),
        Run::holds(Config::new("other lists, each may leave", 4, &leaving)).quick(),
        Run::holds(Config::new("other lists, each may leave, a restart", 4, &leaving).restarts(1)),
        Run::holds(
            Config::new(
                "a max_ttl of 2 and 1, each may leave, a restart",
                3,
                &numbers(2, 1).map(Client::quits),
            )
            .restarts(1),
        ),
        Run::holds(Config::new("two that agree beside a reader", 4, &beside_a_reader).restarts(1)),
    ]
}

fn walked() -> Vec<Run> {
    let old = Client::of(0b0_0111);
    let joint = [old, Client::joint(0b0_0111, 0b1_1100), Client::of(0b1_1100)];
    let [client, other] = to_the_full(ONE_REPLACED);
    let beside_a_leaver = [client.brief().quits(), client, other];
    let three = [Client::of(0b0111), Client::of(0b1110), Client::of(0b1011)];
    let three_numbers = [(3, 3), (2, 2), (1, 1)].map(|(ttl, max)| Client::of(0b111).ttl(ttl, max));
    let busy = |config: Config| config.tries(3, 2).restarts(2);
    let walk =
        |name, nodes, clients: &[Client]| walks(STEPS, busy(Config::new(name, nodes, clients)));
    let late = to_the_full(FIVE).map(Client::late);
    vec![
        walks(STEPS / 5, busy(Config::new("five each, four in common, for short", 6, &FIVE)))
            .quick(),
        walk("five each, four in common", 6, &FIVE),
        walk("five each, all of the max_ttl", 6, &to_the_full(FIVE)),
        walk("five each, answers read late", 6, &late),
        walks(STEPS, busy(Config::new("five each, errors", 6, &FIVE).errors())),
        walk("two of one list, one of them leaves", 4, &beside_a_leaver),
        walks(
            STEPS / 5,
            busy(Config::new(
                "two of one list, each may leave, for short",
                4,
                &beside_a_leaver.map(Client::quits),
            )),
        )
        .quick(),
        walk("old, joint and new", 5, &joint),
        walk("three lists", 4, &three),
        walk("a max_ttl of 3, 2 and 1", 3, &three_numbers),
        walk("other lists and another max_ttl, for long", 4, &both()),
        walk("other lists, for long", 4, &to_the_full(ONE_REPLACED)),
    ]
}

fn played() -> Vec<Run> {
    let five = |name| Config::new(name, 6, &FIVE).restarts(1);
    let [client, other] = FIVE;
    let leaves = |name| Config::new(name, 6, &[client.quits(), other, other]).tries(2, 0);
    vec![
        scene(scenes::stray_stops_itself, five("a stray on one emptied master stops itself")),
        scene(scenes::both_stop, five("after a cut has healed both stop")),
        scene(scenes::leaver_leaves_nothing, leaves("a client that shuts down leaves nothing")),
        scene(scenes::other_still_waits, five("the other still waits a tick before D and L")),
        scene(scenes::other_goes_on, five("the other goes on after D and L")),
    ]
}
