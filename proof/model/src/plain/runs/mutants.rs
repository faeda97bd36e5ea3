//! Rules broken on purpose.

use super::{Kind, Run, violates};
use crate::plain::config::{Config, Fence};
use crate::plain::mutants::Mutant;
use crate::plain::properties::Property;

const EXCLUSION: &[Property; 1] = &[Property::Exclusion];
const TOKENS: &[Property; 1] = &[Property::TokensRise];
const ORPHAN: &[Property; 1] = &[Property::NoOrphan];

fn caught(mutant: Mutant, property: &'static [Property; 1], config: Config) -> Run {
    violates(Kind::Mutant, property, config.mutant(mutant))
}

/// Creates a run whose mutant no property finds.
fn margin(mutant: Mutant, properties: &'static [Property], config: Config) -> Run {
    Run::margin(config.mutant(mutant).properties(properties))
}

pub(super) fn runs() -> Vec<Run> {
    let ballots = |greatest| Fence::Ballots { greatest };
    let window = |back, ahead, until| Fence::Window { back, ahead, until };
    // The same list twice is one list; {1,2,3} next to {3,4,5}.
    let (old, new) = (0b0_0111, 0b1_1100);
    let reused = Config::new("any order, two attempts of one client", 3, 3).client(&[0, 0, 2]);
    let asks_for_less = Config::new("an extension that asks for less", 3, 2);
    let drifting = |name| Config::new(name, 3, 2).ttl(3).gains(3);
    let stays = Config::new("at least 3 ticks, clocks that gain", 3, 2).at_least(3).gains(3);
    let two = |name| Config::new(name, 3, 2);
    vec![
        caught(Mutant::HalfIsAQuorum, EXCLUSION, two("three nodes")),
        caught(Mutant::HalfIsAQuorum, EXCLUSION, Config::new("five nodes", 5, 2)),
        caught(Mutant::DriftDropped, EXCLUSION, drifting("a clock that gains a tick in three")),
        caught(Mutant::ClockStartedLate, EXCLUSION, two("two clients")),
        caught(Mutant::ExtensionClockStartedLate, EXCLUSION, two("one round").rounds(&[1, 0])),
        caught(Mutant::RollbackSkipped, ORPHAN, two("an orphan").in_order(&[0, 1])),
        caught(
            Mutant::RollbackSkipped,
            &[Property::FreeAtOnce],
            two("the next has to wait").in_order(&[0, 1]),
        ),
        caught(
            Mutant::NilSettlesHolds,
            ORPHAN,
            two("topped up after a refusal").in_order(&[0, 1]).nil_settles().rounds(&[1, 0]),
        ),
        caught(Mutant::NoRestartGuard, EXCLUSION, two("three nodes").restarts(1)),
        caught(Mutant::NoRestartGuard, EXCLUSION, Config::new("five nodes", 5, 2).restarts(1)),
        caught(Mutant::RestartGuardOneShort, EXCLUSION, two("exclusion").restarts(1)),
        caught(Mutant::WarmingGrantCounts, EXCLUSION, two("a restart").restarts(1)),
        caught(
            Mutant::WarmingHeldCounts,
            EXCLUSION,
            two("two rounds, a restart").rounds(&[2, 0]).restarts(1),
        ),
        caught(
            Mutant::TopUpCounts,
            EXCLUSION,
            two("two rounds, two resources").rounds(&[2, 0]).claims(&[0b11, 0b11]),
        ),
        caught(
            Mutant::ExtendedAfterTheDeadline,
            &[Property::NeverReacquired],
            two("one round").rounds(&[1, 0]),
        ),
        caught(
            Mutant::UnsettledCounts,
            &[Property::NeverReacquired],
            two("handed over").handed_over(),
        ),
        caught(
            Mutant::WarmingSettles,
            &[Property::NeverReacquired],
            two("handed over beside a longer ttl, begun again, a restart").outlived(),
        ),
        caught(Mutant::KeptCounts, EXCLUSION, two("two clients").older(2)),
        caught(Mutant::TokenReused, EXCLUSION, reused),
        caught(Mutant::ReleaseUncompared, EXCLUSION, Config::new("three clients", 3, 3)),
        caught(Mutant::ReleaseUncompared, &[Property::OwnerOnly], two("two clients")),
        caught(
            Mutant::ForgottenIsDone,
            ORPHAN,
            two("a script forgotten").in_order(&[0, 1]).forgets(),
        ),
        caught(
            Mutant::ExtensionShortens,
            EXCLUSION,
            asks_for_less.ttl(3).extension_ttl(1).rounds(&[1, 0]),
        ),
        caught(
            Mutant::MajorityOfTheUnion,
            EXCLUSION,
            Config::new("{1,2,3} beside {1,2,3} and {3,4,5}", 5, 2)
                .lists(&[[old, old], [old, new]]),
        ),
        caught(Mutant::SomeOfSeveral, EXCLUSION, two("two and one of them").claims(&[0b11, 0b01])),
        caught(Mutant::PassedOnWhileHeld, EXCLUSION, two("one client").in_order(&[0, 0])),
        caught(Mutant::ShortenedTooEarly, &[Property::DelayKept], stays),
        caught(
            Mutant::DelayedKeysDeleted,
            &[Property::DelayKept],
            two("a lock-delay").lock_delay(1),
        ),
        violates(
            Kind::Mutant,
            TOKENS,
            Config::new("tokens as the greatest of per-node counters", 3, 3)
                .fence(Fence::Counters)
                .in_order(&[0, 1, 0]),
        ),
        caught(
            Mutant::TopUpAtTheFence,
            ORPHAN,
            two("fenced, one round").fence(ballots(2)).rounds(&[1, 0]),
        ),
        caught(Mutant::ReleaseRaisesNoFence, ORPHAN, two("fenced").fence(ballots(2))),
        caught(Mutant::NoWindow, TOKENS, two("a restart").restarts(1).fence(window(0, 1, 5))),
        caught(
            Mutant::RestartGuardOneShort,
            TOKENS,
            two("tokens").restarts(1).fence(window(1, 1, 6)),
        ),
        caught(
            Mutant::FenceExpiresEarly,
            TOKENS,
            two("no restart").fence(window(1, 1, 6)).fence_expires(),
        ),
        margin(
            Mutant::ExtendedAfterTheDeadline,
            EXCLUSION,
            two("never two holders, for all that").rounds(&[2, 1]),
        ),
        margin(
            Mutant::UnsettledCounts,
            EXCLUSION,
            two("handed over: never two holders, for all that").handed_over(),
        ),
        margin(Mutant::TopUpCounts, Property::ALWAYS, two("a plain SET NX").rounds(&[2, 0])),
    ]
}
