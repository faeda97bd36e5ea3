//! Assumptions and limits: if one is broken, there are two holders, or another violation.

use super::{Kind, Run, violates};
use crate::plain::config::{Config, Fence};
use crate::plain::properties::Property;

const EXCLUSION: &[Property; 1] = &[Property::Exclusion];
const TOKENS: &[Property; 1] = &[Property::TokensRise];
const ORPHAN: &[Property; 1] = &[Property::NoOrphan];

fn found(property: &'static [Property; 1], config: Config) -> Run {
    violates(Kind::Limit, property, config)
}

pub(super) fn runs() -> Vec<Run> {
    let window = |back, ahead, until| Fence::Window { back, ahead, until };
    let two = |name| Config::new(name, 3, 2);
    let alone = |list| [list, list];
    let one_replaced = [alone(0b0111), alone(0b1110)];
    let one_after_the_other = Config::new("{2,3,4} after {1,2,3}, and no time between", 4, 2)
        .lists(&one_replaced)
        .after(&[0, 1])
        .fence(window(0, 1, 6));
    let too_soon = one_after_the_other.clone().name("the same, a tick too few between");
    vec![
        found(EXCLUSION, two("a clock that gains more than the drift").ttl(3).gains(1)),
        found(EXCLUSION, two("one master's clock set forward by a ttl").sets_clocks(1, 2)),
        found(EXCLUSION, Config::new("the same, of five", 5, 2).sets_clocks(1, 2)),
        found(TOKENS, {
            let config =
                two("two masters' clocks set back, one of which then restarts").restarts(1);
            config.fence(window(0, 1, 3)).sets_clocks(2, -2)
        }),
        found(TOKENS, {
            let config = two("a master's clock set back, after a fence has expired");
            config.fence_expires().fence(window(0, 1, 5)).sets_clocks(1, -2)
        }),
        found(EXCLUSION, Config::new("{1,2,3} beside {2,3,4}", 4, 2).lists(&one_replaced)),
        found(EXCLUSION, {
            let lists = [alone(0b01_1111), alone(0b11_1110)];
            Config::new("five masters, beside five of which one is another", 6, 2).lists(&lists)
        }),
        found(TOKENS, one_after_the_other),
        found(TOKENS, too_soon.rests(&[0, 1])),
        found(ORPHAN, Config::new("order lost, not fenced", 3, 1)),
        found(ORPHAN, {
            Config::new("order lost, a ballot ahead of the window", 3, 1).fence(window(1, 1, 6))
        }),
        found(&[Property::ForcedIsOver], {
            let name = "force_release, and a SET or top-up under way";
            Config::new(name, 3, 1).rounds(&[2]).in_order(&[0]).forced(1)
        }),
    ]
}
