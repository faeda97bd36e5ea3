//! Each hole is found within 200 plays, under the rule that it breaks.

use crate::planted_store::{Hole, probe};
use quorumlock_fencing::probe::{Report, Rule};

const PLAYS: u64 = 200;

/// Each hole, and the rules under which it may be found, by writes and by updates.
const HOLES: [(Hole, &[Rule], &[Rule]); 19] = {
    use Rule::{EveryWriter, OneStep, RaiseFirst, RefuseSmaller, Remember};
    [
        (Hole::ExistsLocksNothing, &[OneStep], &[OneStep, RaiseFirst]),
        (Hole::CheckApart, &[OneStep], &[OneStep]),
        (Hole::TokenStartsAgain, &[RefuseSmaller], &[RefuseSmaller]),
        (Hole::TokenStartsAgainAtRestart, &[RefuseSmaller], &[RefuseSmaller]),
        (Hole::ThrownAway, &[RefuseSmaller], &[RefuseSmaller]),
        // Chance has no one rule.
        (Hole::Random, &[RefuseSmaller, Remember, OneStep], &[RefuseSmaller, Remember, OneStep]),
        (Hole::EqualRefused, &[RefuseSmaller], &[RefuseSmaller]),
        (Hole::NoRaiseBeforeRead, &[], &[RaiseFirst]),
        (Hole::LostAtRestart, &[Remember], &[Remember]),
        (Hole::DroppedByCleanup, &[Remember], &[Remember]),
        (Hole::RollbackOfTheRaiseAlone, &[OneStep], &[OneStep]),
        (Hole::FailureLowersTheFence, &[Remember], &[Remember]),
        (Hole::Gateway, &[OneStep], &[OneStep]),
        (Hole::GatewayOfManyWorkers, &[OneStep], &[OneStep]),
        (Hole::RefusedYetWritten, &[OneStep], &[OneStep]),
        (Hole::LastNotGreatest, &[OneStep], &[OneStep, RaiseFirst]),
        (Hole::ComparedAsText, &[RefuseSmaller], &[RefuseSmaller]),
        (Hole::ComparedAsFloat, &[RefuseSmaller], &[RefuseSmaller]),
        (Hole::Unfenced, &[EveryWriter], &[EveryWriter]),
    ]
};

/// Plays until the hole is found.
async fn find(hole: Hole, updates: bool, first: u64) -> Option<Report> {
    probe(hole, updates, first..first + PLAYS).await.err()
}

#[tokio::test(start_paused = true)]
async fn each_is_found_from_any_seed_and_repeated_by_its_seed() {
    for (hole, by_writes, by_updates) in HOLES {
        for (updates, rules) in [(false, by_writes), (true, by_updates)] {
            let mut most = 0;
            for first in (0..20).map(|run| run * 7_919) {
                let found = find(hole, updates, first).await;
                if rules.is_empty() {
                    assert_eq!(found, None, "{hole:?}");
                    continue;
                }
                let found =
                    found.unwrap_or_else(|| panic!("{hole:?}, {updates}: not found from {first}"));
                assert!(found.rule.is_some_and(|rule| rules.contains(&rule)), "{hole:?}: {found}");
                most = most.max(found.seed.unwrap() - first + 1);
                let repeated = probe(hole, updates, found.seed).await.unwrap_err();
                assert_eq!(repeated.to_string(), found.to_string(), "{hole:?}");
            }
            eprintln!("{hole:?}, updates {updates}: within {most} plays");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_hole_the_same_store_breaks_no_rule() {
    for updates in [false, true] {
        let report = probe(Hole::None, updates, 0..10_000).await.unwrap();
        assert!(report.cases.values().all(|plays| plays.error.is_none()), "{report}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_shows_rule_case_schedule_and_seed() {
    let found = find(Hole::CheckApart, false, 0).await.unwrap();
    let report = found.to_string();
    for part in [
        "rule 3 (check and write in one step) is broken: ",
        &format!("\nthe play of {:?}:\n  A (token ", found.case.unwrap()),
        "is held at \"checked\"\n",
        &format!("\nrepeat it with the seed {}", found.seed.unwrap()),
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}
