//! Runs by their bounds, so that a broken rule is explored where the rule is known to hold.

use crate::turns::config::Config;

fn of(name: &'static str, letters: &str) -> Config {
    Config::new(name, 3, letters)
}

pub(in crate::turns) fn waiter() -> Config {
    of("a waiter", "HF").within(1)
}

pub(in crate::turns) fn two() -> Config {
    of("two waiters", "HFF").within(1)
}

pub(super) fn restart() -> Config {
    of("a holder that stays, a restart", "SF").ttl(2).restarts(1)
}

pub(super) fn given_up() -> Config {
    of("a holder that stays, a waiter gives up, a restart", "SFG").ttl(2).restarts(1)
}

pub(super) fn plain_holder() -> Config {
    of("a plain holder, a restart", "FE").ttl(2).restarts(1)
}

pub(in crate::turns) fn plain() -> Config {
    of("beside a plain client", "HFP")
}

pub(in crate::turns) fn barred() -> Config {
    of("beside one that cannot win", "HFB")
}

pub(in crate::turns) fn dead() -> Config {
    of("beside one that may die", "FD")
}

pub(super) fn lost() -> Config {
    of("any clocks, a loss", "FF").clocks(2).losses(1)
}

pub(super) fn silent() -> Config {
    of("a waiter, two losses", "HF").losses(2)
}

pub(super) fn left() -> Config {
    of("behind one that leaves its key", "FL").ttl(1)
}

pub(super) fn emptied() -> Config {
    of("a restart, a loss", "FF").restarts(1).losses(1)
}

pub(in crate::turns) fn crosswise() -> Config {
    of("three waiters, each first at another node", "FFF").crosswise()
}

pub(super) fn first_dies() -> Config {
    of("the first may die, beside a plain client", "DFP").released()
}

/// The next in turn reaches no quorum between the end of a place and that of the key kept for it.
pub(super) fn first_dies_and_the_next_is_late() -> Config {
    first_dies().name("the first may die, a slow tick").slow(1)
}

pub(super) fn first_dies_and_the_next_is_unheard() -> Config {
    first_dies().name("the first may die, two losses").losses(2)
}

/// It is first as soon as it stands.
pub(super) fn far_back() -> Config {
    of("one far back", "HA").within(1)
}

pub(super) fn far_back_dead() -> Config {
    of("one far back, behind another that may die", "HZA").queued().within(3)
}

/// Two that are far back die one behind the other.
pub(super) fn far_back_all_dead() -> Config {
    of("two far back that may die", "HZZF").queued().within(3)
}

/// What the holder leaves is kept for no one.
pub(super) fn far_back_vacant() -> Config {
    of("one far back that may die, behind a holder that may", "CZF").queued().ttl(1).within(4)
}

/// No script runs after which it looks.
pub(super) fn far_back_forsaken() -> Config {
    of("one far back, behind a holder that may die", "CA").queued().ttl(1).within(3)
}

/// Those of a few seconds in which clients wait in turn, besides the plainest.
pub(in crate::turns) fn short() -> [Config; 12] {
    [
        plain(),
        barred(),
        dead(),
        lost(),
        silent(),
        left(),
        emptied(),
        crosswise(),
        first_dies(),
        far_back(),
        far_back_dead(),
        far_back_vacant(),
    ]
}

/// Those that take longer.
pub(super) fn long() -> Vec<Config> {
    let five = |name, letters| Config::new(name, 5, letters);
    vec![
        of("a waiter, two restarts", "HF").restarts(2),
        of("a waiter, a slow tick", "HF").slow(1),
        of("a holder that stays, two restarts", "SF").ttl(2).restarts(2),
        of("a holder that stays, two waiters, a restart", "SFF").ttl(2).restarts(1),
        of("a holder that stays, two waiters, two restarts", "SFF")
            .ttl(2)
            .restarts(2)
            .states(12_000_000),
        of("a holder that stays, two give up, a restart", "SGG").ttl(2).restarts(1),
        of("two waiters, any clocks", "HFF").clocks(2),
        far_back_all_dead(),
        of("one far back, and a plain client", "HAP"),
        of("one far back before another waiter, a loss", "HAF").losses(1),
        of("one far back, a restart", "SA").ttl(2).restarts(1),
        of("two waiters, a loss", "HFF").losses(1),
        of("two waiters, a restart", "HFF").restarts(1).states(12_000_000),
        of("two waiters, a slow tick", "HFF").slow(1),
        of("two waiters, one gives up", "HFG"),
        of("two waiters, one may die", "HFD"),
        of("two waiters, slow ticks", "FF").ttl(2).slow(2),
        of("two waiters beside a plain client", "FFP"),
        of("two waiters and a holder beside a plain client", "HFFP"),
        of("two that begin with a SET, beside a plain client", "FFP").sets(),
        of("two that begin with a SET, and a holder", "HFF").sets(),
        of("three that begin with a SET", "FFF").sets(),
        of("three waiters, a loss, each first at another node", "FFF").crosswise().losses(1),
        of("three waiters, any clocks", "FFF").clocks(3),
        of("the first of three may die", "DFFP").released(),
        five("five nodes, a waiter", "HF"),
        five("five nodes, two waiters", "HFF"),
        five("five nodes, a holder that stays, two restarts", "SF").ttl(2).restarts(2),
    ]
}
