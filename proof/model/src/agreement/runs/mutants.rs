//! Rules broken on purpose, and properties that are not promised.

use super::{
    Client, Config, FIVE, ONE_REPLACED, Run, Search, both, numbers, scenes, scripts, to_the_full,
};
use crate::agreement::mutants::Mutant;
use crate::agreement::properties::{GOES_ON, Property, READERS, STOPS, TWO_UNKNOWN};
use crate::agreement::protocol::Action;
use crate::run::Kind;

fn caught(mutant: Mutant, config: Config) -> Run {
    Run::violates(Kind::Mutant, TWO_UNKNOWN, config.mutant(mutant))
}

fn written(mutant: Mutant, script: &'static [Action], config: Config) -> Run {
    Run { search: Search::Written(script), ..caught(mutant, config) }
}

pub(super) fn runs() -> Vec<Run> {
    let lists = |name| Config::new(name, 4, &ONE_REPLACED);
    let full = |name| Config::new(name, 4, &to_the_full(ONE_REPLACED));
    let [client, other] = ONE_REPLACED;
    let late = [client.late(), other];
    let extended = |name| full(name).tries(1, 1);
    let of_numbers = |name| Config::new(name, 3, &numbers(2, 1));
    let reader = [client, other.reader()];
    let reader =
        Config::new("its lists differ", 4, &reader).property(Property::ReadersStopNoClient);
    let five = |name, clients: &[Client]| Config::new(name, 6, clients).restarts(1);
    let margin = extended("never two holders, for all that").mutant(Mutant::TopUpUngated);
    vec![
        caught(Mutant::NoTimeLimit, lists("other lists")),
        caught(Mutant::NoTimeLimit, of_numbers("another max_ttl").restarts(1)),
        caught(Mutant::LimitFromTheAnswer, Config::new("other lists", 4, &late)),
        caught(Mutant::LifeWithoutSlack, full("other lists")),
        caught(Mutant::LifeWithoutSlack, of_numbers("another max_ttl").restarts(1)),
        caught(Mutant::ProlongedOnce, lists("other lists")),
        caught(Mutant::NoBarrier, lists("other lists")),
        caught(Mutant::NoBarrier, of_numbers("another max_ttl").restarts(1)),
        caught(Mutant::ListsCostOneVote, lists("other lists")),
        caught(Mutant::OneMoreThanAMajority, lists("other lists")),
        caught(Mutant::ForgottenAtAnyAnswer, lists("other lists")),
        caught(Mutant::NumbersCostOneVote, of_numbers("a restart").restarts(1)),
        caught(Mutant::NumbersHideLists, Config::new("both differ", 4, &both())),
        caught(Mutant::ExtensionUngated, extended("other lists")),
        caught(Mutant::ErrorIsAYes, lists("other lists").errors()),
        written(Mutant::WarmingShields, scripts::WARMING, five("five each, a restart", &FIVE)),
        written(
            Mutant::ShieldsWithoutTheTtl,
            scripts::UNSEEN,
            five("five each, an unseen restart", &to_the_full(FIVE)),
        ),
        caught(
            Mutant::BriefConfirms,
            Config::new("other lists", 4, &to_the_full(ONE_REPLACED).map(Client::brief)),
        ),
        caught(
            Mutant::UnconfirmedVotes,
            Config::new("another max_ttl", 3, &numbers(2, 1).map(Client::brief)).restarts(1),
        ),
        caught(
            Mutant::TakenBackWhileKeysStay,
            Config::new("other lists", 4, &[client.quits(), other]),
        ),
        written(
            Mutant::TakenBackForAll,
            scripts::BESIDE_ONE_THAT_LEAVES,
            Config::new("two of one list, one of them leaves", 4, &[other, client, client.quits()]),
        ),
        Run::violates(Kind::Mutant, READERS, reader.mutant(Mutant::ReaderNotes)),
        Run {
            search: Search::Scene(scenes::stray_stops_itself),
            ..Run::violates(
                Kind::Mutant,
                GOES_ON,
                five("a stray stops the fleet", &FIVE).mutant(Mutant::AnyDisagreementStops),
            )
        },
        Run {
            search: Search::Scene(scenes::both_stop),
            ..Run::violates(
                Kind::Mutant,
                STOPS,
                five("after a cut has healed", &FIVE).mutant(Mutant::ListsCostOneVote),
            )
        },
        Run::margin(margin),
        Run::violates(
            Kind::Limit,
            TWO_UNKNOWN,
            lists("the one master that could tell answers with an error")
                .errors()
                .property(Property::ErrorsTell),
        ),
    ]
}
