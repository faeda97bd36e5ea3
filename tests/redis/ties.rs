//! Split votes end at once: foreign keys on every subset of the masters, for one to six masters, of
//! which some may be dead. No tie waits for a timeout, and an even number is not special.

use crate::support::prelude::*;
use quorumlock::report::{Answer, Refusal};
use quorumlock::{AcquireError, Guard, Redlock};
use std::time::{Duration, Instant};

/// Bound on a master's answer: far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(5);
/// Meaning of "at once" on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Masters, dead ones among them, and the outcome of an attempt against this many foreign keys on
/// the living ones, from none to all: `W`on, `C`ontended, no `Q`uorum.
const TABLE: [(usize, &[&str]); 6] = [
    (1, &["WC", "Q"]),
    (2, &["WCC", "QQ"]),
    (3, &["WWCC", "WCC", "QQ"]),
    (4, &["WWCCC", "WCCC", "QQQ"]),
    (5, &["WWWCCC", "WWCCC", "WCCC", "QQQ"]),
    (6, &["WWWCCCC", "WWCCCC", "WCCCC", "QQQQ"]),
];

fn holds(foreign: usize, node: usize) -> bool {
    foreign >> node & 1 == 1
}

fn resource(dead: usize, foreign: usize) -> String {
    format!("{dead} dead, foreign {foreign:06b}")
}

/// Puts foreign keys on a living master, one for each subset that it is in.
async fn occupy(masters: &Masters, node: usize, dead: usize, subsets: usize) {
    let mut set = redis::cmd("MSET");
    for foreign in (0..subsets).filter(|foreign| holds(*foreign, node)) {
        set.arg(resource(dead, foreign)).arg("theirs");
    }
    witness::ask::<()>(&masters[node], &set).await.unwrap();
}

fn glyph(result: &Result<Guard, AcquireError>) -> char {
    match result {
        Ok(_) => 'W',
        Err(AcquireError::Contended(_)) => 'C',
        Err(AcquireError::NoQuorum(_)) => 'Q',
        Err(other) => panic!("{other}"),
    }
}

/// Asserts that every named master reports what it must: nothing is invented, nothing left out.
fn assert_reported(error: &AcquireError, living: usize, foreign: usize) {
    for (node, report) in error.nodes().iter().enumerate() {
        let fits = match &report.answer {
            Answer::Outstanding => true,
            Answer::Available => node < living,
            Answer::Granted => node < living && !holds(foreign, node),
            Answer::Refused(Refusal::Held { .. }) => node < living && holds(foreign, node),
            Answer::Refused(Refusal::Down(_)) => node >= living,
            _ => false,
        };
        assert!(fits, "node {node} of {living} living, foreign {foreign:b}: {error}");
    }
}

/// Makes one attempt against every subset of the living masters.
async fn every_subset(redlock: &Redlock, masters: &Masters, dead: usize, outcomes: &str) {
    let living = masters.len() - dead;
    let subsets = 1 << living;
    for node in 0..living {
        occupy(masters, node, dead, subsets).await;
    }
    for foreign in 0..subsets {
        let resource = resource(dead, foreign);
        let began = Instant::now();
        let result = redlock.try_acquire(&*resource).await;
        let took = began.elapsed();
        let expected = outcomes.chars().nth(foreign.count_ones() as usize).unwrap();
        let picture = format!("{} masters, {resource}: {result:?}", masters.len());
        assert_eq!(glyph(&result), expected, "{picture}");
        assert!(took < AT_ONCE, "{picture} took {took:?}");
        match result {
            Ok(guard) => drop(guard.release().await),
            Err(error) => assert_reported(&error, living, foreign),
        }
    }
}

/// Asserts that what others had set is there, and nothing of ours.
async fn only_foreign_keys_are_left(masters: &Masters, dead: usize) {
    let living = masters.len() - dead;
    for node in 0..living {
        let mut theirs: Vec<String> = Vec::new();
        for dead in 0..=dead {
            let subsets = (0..1 << (masters.len() - dead)).filter(|subset| holds(*subset, node));
            theirs.extend(subsets.map(|subset| resource(dead, subset)));
        }
        theirs.sort();
        let restored = async || witness::keys(&masters[node]).await == Ok(theirs.clone());
        eventually("what others had set is there, and nothing of ours", PATIENCE, restored).await;
    }
}

async fn every_split_of(n: usize) {
    let (_, rows) = TABLE.iter().find(|(masters, _)| *masters == n).unwrap();
    let masters = Masters::start(n);
    let redlock = masters
        .builder()
        .max_ttl(Duration::from_secs(100))
        .ttl(Duration::from_secs(100))
        .operation_timeout(PATIENCE)
        .connect()
        .await
        .unwrap();
    for (dead, outcomes) in rows.iter().enumerate() {
        if dead > 0 {
            let node = n - dead;
            masters.kill(node);
            let noticed = async || {
                let error = redlock.try_acquire("probe").await.err();
                let nodes = error.iter().flat_map(AcquireError::nodes);
                let answers: Vec<_> = nodes.map(|node| node.answer.clone()).collect();
                matches!(answers.get(node), Some(Answer::Refused(Refusal::Down(_))))
            };
            // A foreign key on the first master causes a refusal, which reports the dead one.
            let occupied = Duration::from_secs(60);
            for living in 0..node {
                witness::set_foreign(&masters[living], "probe", "theirs", occupied).await;
            }
            eventually("the death is noticed", PATIENCE, noticed).await;
            for living in 0..node {
                let deleted = redis::cmd("DEL").arg("probe").to_owned();
                witness::ask::<()>(&masters[living], &deleted).await.unwrap();
            }
        }
        every_subset(&redlock, &masters, dead, outcomes).await;
        only_foreign_keys_are_left(&masters, dead).await;
    }
}

macro_rules! splits {
    ($($claim:ident: $n:literal,)+) => {
        $(#[tokio::test]
        async fn $claim() {
            every_split_of($n).await;
        })+
    };
}

splits! {
    every_split_of_one_master_ends_at_once: 1,
    every_split_of_two_masters_ends_at_once: 2,
    every_split_of_three_masters_ends_at_once: 3,
    every_split_of_four_masters_ends_at_once: 4,
    every_split_of_five_masters_ends_at_once: 5,
    every_split_of_six_masters_ends_at_once: 6,
}
