//! Without a right, without memory, and where something else has the names: a client that could not
//! wait learns so before it stands there, and one that leaves takes its key away all the same.

use super::stage::{
    ALIVE, Answer, BEGIN, FENCE, KEPT, LOCK, PLACES, Stage, claim, fenced, kept_for, token, waiter,
};
use crate::wire::{Leaves, Reply};

const COMMANDS: [&str; 7] = ["zadd", "zrem", "zscore", "zrange", "zrangebyscore", "zrank", "zcard"];

fn fails(answer: Answer) -> String {
    match answer {
        Answer::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_waiter_that_lacks_a_right_writes_nothing() {
    for denied in COMMANDS.into_iter().chain(["time", "get", "pexpire", "pttl"]) {
        for (waiters, tries) in [(&[][..], false), (&[], true), (&[2], false), (&[2, 3], true)] {
            let mut stage = Stage::with_waiters(waiters);
            stage.pass(10);
            let before = (stage.queue(), stage.alive(), stage.keys());
            stage.machine.deny(&[denied]).unwrap();
            let error = fails(stage.asks(&claim(1, Some(7)), tries));
            assert!(error.contains("can't run this command"), "{error}");
            stage.machine.deny(&[]).unwrap();
            assert_eq!((stage.queue(), stage.alive(), stage.keys()), before, "{denied} {tries}");
        }
    }
}

/// The denied command stands in for a master that is out of memory.
#[test]
fn a_waiter_that_may_not_set_may_look_and_takes_nothing() {
    let mut stage = Stage::with_waiters(&[1]);
    stage.machine.deny(&["set"]).unwrap();
    assert_eq!(stage.looks(1).why(), Some(-3));
    fails(stage.tries(1));
    assert_eq!((stage.lock(), stage.queue()), (None, vec![(1, BEGIN)]));
}

/// A dead waiter is first: what cannot be dropped must not be asked for again and again.
#[test]
fn a_client_without_rights_takes_its_key_away_and_comes_to_an_end() {
    let sets = ["zrem", "zrange", "zscore"];
    let other = ["time", "set", "publish", "zadd"];
    for denied in sets.iter().chain(&other).map(|command| vec![*command]).chain([sets.to_vec()]) {
        for leaves in [Leaves::Nothing, Leaves::Place, Leaves::Hold] {
            let mut stage = Stage::with_waiters(&[3, 2]);
            stage.ask(&["ZREM", ALIVE, &waiter(3)]);
            stage.set(LOCK, &token(1));
            let before = stage.queue();
            stage.machine.deny(&denied).unwrap();
            let (answer, _) = stage.leaves(&claim(1, None), leaves);
            stage.machine.deny(&[]).unwrap();
            assert_eq!(answer, Reply::Int(1), "without {denied:?}, {leaves:?}");
            let keeps = matches!(denied[..], ["publish" | "zadd"]);
            let kept = keeps.then(|| (kept_for(2), KEPT));
            assert_eq!(stage.lock(), kept, "without {denied:?}, {leaves:?}");
            let drops = keeps || denied == ["set"];
            let queue = if drops { vec![(2, BEGIN + 1)] } else { before };
            assert_eq!(stage.queue(), queue, "without {denied:?}");
        }
    }
}

#[test]
fn a_release_that_can_raise_no_fence_deletes_and_a_late_one_is_still_owed() {
    for denied in ["set", "time"] {
        let mut stage = Stage::new();
        stage.set(LOCK, &token(1));
        let claim = fenced(claim(1, None), BEGIN);
        stage.machine.deny(&[denied]).unwrap();
        assert_eq!(stage.leaves(&claim, Leaves::Hold).0, Reply::Int(1), "without {denied}");
        assert_eq!((stage.value(LOCK), stage.value(FENCE)), (None, None));
        let (answer, _) = stage.leaves(&claim, Leaves::Hold);
        assert!(answer.error().is_some(), "{answer:?} without {denied}");
    }
}

#[test]
fn a_name_that_something_else_has_is_an_error_and_nothing_is_written() {
    for key in [LOCK, PLACES, ALIVE, FENCE] {
        for tries in [false, true] {
            let mut stage = Stage::new();
            assert_eq!(stage.ask(&["HSET", key, "field", "1"]), Reply::Int(1));
            let error = fails(stage.asks(&fenced(claim(1, None), BEGIN), tries));
            assert!(error.starts_with("WRONGTYPE"), "{error}");
            assert_eq!(stage.keys(), 1, "{key}");
            if key == PLACES || key == ALIVE {
                stage.set(LOCK, &token(1));
                let (answer, messages) = stage.leaves(&claim(1, None), Leaves::Hold);
                assert_eq!(
                    (answer, messages, stage.value(LOCK)),
                    (Reply::Int(1), vec![String::new()], None)
                );
            }
        }
    }
}
