//! Assumptions and limits: if one is broken, there are two holders, or another violation.

use super::{Kind, Run};
use crate::config::{Config, Fence};
use crate::properties::Property;

const EXCLUSION: &[Property; 1] = &[Property::Exclusion];
const TOKENS: &[Property; 1] = &[Property::TokensRise];
const ORPHAN: &[Property; 1] = &[Property::NoOrphan];

fn found(property: &'static [Property; 1], config: Config) -> Run {
    Run::violates(Kind::Limit, property, config)
}

pub(super) fn runs() -> Vec<Run> {
    let window = |back, ahead, until| Fence::Window { back, ahead, until };
    let gains = |mut config: Config, every| {
        (config.drift, config.gains_every) = (1, every);
        config.ttl(3)
    };
    let stepped = |mut config: Config, times, by| {
        (config.clock_steps, config.clock_step) = (times, by);
        config
    };
    let forced = |mut config: Config| {
        config.forced = 1;
        config
    };
    let two = |name| Config::new(name, 3, 2);
    let alone = |list| [list, list];
    let one_replaced = [alone(0b0111), alone(0b1110)];
    let mut one_after_the_other =
        Config::new("{2,3,4} after {1,2,3}, and no time between", 4, 2).lists(&one_replaced);
    one_after_the_other.attempts[1].after = 1;
    let mut too_soon = one_after_the_other.clone();
    (too_soon.name, too_soon.attempts[1].rests) = ("the same, a tick too few between", 1);
    vec![
        found(EXCLUSION, gains(two("a clock that gains more than the drift"), 1)),
        found(EXCLUSION, stepped(two("one master's clock set forward by a ttl"), 1, 2)),
        found(EXCLUSION, stepped(Config::new("the same, of five", 5, 2), 1, 2)),
        found(TOKENS, {
            let config =
                two("two masters' clocks set back, one of which then restarts").restarts(1);
            stepped(config.fence(window(0, 1, 3)), 2, -2)
        }),
        found(TOKENS, {
            let mut config = two("a master's clock set back, after a fence has expired");
            config.fence_expires = true;
            stepped(config.fence(window(0, 1, 5)), 1, -2)
        }),
        found(EXCLUSION, Config::new("{1,2,3} beside {2,3,4}", 4, 2).lists(&one_replaced)),
        found(EXCLUSION, {
            let lists = [alone(0b01_1111), alone(0b11_1110)];
            Config::new("five masters, beside five of which one is another", 6, 2).lists(&lists)
        }),
        found(TOKENS, one_after_the_other.fence(window(0, 1, 6))),
        found(TOKENS, too_soon.fence(window(0, 1, 6))),
        found(ORPHAN, Config::new("order lost, not fenced", 3, 1)),
        found(ORPHAN, {
            Config::new("order lost, a ballot ahead of the window", 3, 1).fence(window(1, 1, 6))
        }),
        found(&[Property::ForcedIsOver], {
            let name = "force_release, and a SET or top-up under way";
            forced(Config::new(name, 3, 1).rounds(&[2]).in_order(&[0]))
        }),
    ]
}
