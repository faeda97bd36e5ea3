//! What a rollback, a withdrawal and a release leave, and which waiters they notify.

use super::stage::{
    ALIVE, BEGIN, FENCE, KEPT, PLACE, Stage, WINDOW, claim, fenced, kept_for, token, waiter,
    without_place,
};
use crate::wire::{Claim, Leaves, Reply};

const ALL: [Leaves; 3] = [Leaves::Nothing, Leaves::Place, Leaves::Hold];

/// Waiter 1 leaves; before it, or behind it, is another one.
struct Case {
    finds: Option<String>,
    leaves: Leaves,
    /// What is under the key then, if others wait, with its life.
    after: Option<(String, i64)>,
    /// Whether the others are notified.
    tells: bool,
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut case = |finds: Option<String>, leaves, after: Option<(String, i64)>, tells| {
        all.push(Case { finds, leaves, after, tells });
    };
    let next = || Some((kept_for(2), KEPT));
    for leaves in ALL {
        case(Some(token(1)), leaves, next(), leaves != Leaves::Nothing);
        case(Some("theirs".into()), leaves, Some(("theirs".into(), 5_000)), false);
        case(Some(token(2)), leaves, Some((token(2), 5_000)), false);
    }
    case(None, Leaves::Nothing, None, false);
    case(None, Leaves::Place, None, false);
    case(None, Leaves::Hold, next(), true);
    let stays = |who| Some((kept_for(who), 5_000));
    case(Some(kept_for(1)), Leaves::Nothing, stays(1), false);
    case(Some(kept_for(1)), Leaves::Place, next(), true);
    case(Some(kept_for(1)), Leaves::Hold, next(), true);
    for who in [2, 9] {
        case(Some(kept_for(who)), Leaves::Nothing, stays(who), false);
        case(Some(kept_for(who)), Leaves::Place, stays(who), false);
        // A notified waiter may try: what is kept binds no one else.
        case(Some(kept_for(who)), Leaves::Hold, stays(who), true);
    }
    all
}

#[test]
fn a_client_that_leaves_takes_its_own_away_and_hands_on_what_it_frees() {
    for Case { finds, leaves, after, tells } in cases() {
        let case = format!("{leaves:?} finds {finds:?}");
        for waiters in [&[1, 2, 3][..], &[2, 1, 3]] {
            let mut stage = Stage::with_waiters(waiters);
            finds.iter().for_each(|value| stage.set("r", value));
            let (answer, messages) = stage.leaves(&claim(1, None), leaves);
            assert_eq!(answer, Reply::Int(i64::from(finds == Some(token(1)))), "{case}");
            // A waiter that rolls a try back stands where it stood, and may be first.
            let first = if leaves == Leaves::Nothing && waiters[0] == 1 { 1 } else { 2 };
            let mut after = after.clone();
            if first == 1 && finds == Some(token(1)) {
                after = Some((kept_for(1), KEPT));
            }
            assert_eq!(stage.lock(), after, "{case}");
            let named: Vec<String> = tells.then(|| waiter(2)).into_iter().collect();
            assert_eq!(messages, named, "{case}");
            let stays = leaves == Leaves::Nothing;
            assert_eq!(stage.queue().iter().any(|(who, _)| *who == 1), stays, "{case}");
            assert_eq!(stage.alive().contains(&1), stays, "{case}");
        }
    }
}

#[test]
fn where_others_do_not_wait_what_is_freed_is_free_and_announced_to_all() {
    for Case { finds, leaves, tells, .. } in cases() {
        let mut stage = Stage::new();
        finds.iter().for_each(|value| stage.set("r", value));
        let (_, messages) = stage.leaves(&claim(1, None), leaves);
        let case = format!("{leaves:?} finds {finds:?}");
        let expected: Vec<String> = tells.then(String::new).into_iter().collect();
        assert_eq!(messages, expected, "{case}");
        let ours = finds == Some(token(1));
        let freed = ours || leaves != Leaves::Nothing && finds == Some(kept_for(1));
        assert_eq!(stage.value("r"), finds.filter(|_| !freed), "{case}");
    }
}

/// A place that was to live for longer is cut: its client has other lives, or the clock was set back.
#[test]
fn the_place_that_a_key_is_kept_for_ends_before_the_key() {
    for (far, left) in [(-500, PLACE - 500), (0, PLACE), (1, PLACE), (6_000, PLACE)] {
        let begins = i64::try_from(BEGIN / 1_000).unwrap();
        let far = (begins + PLACE + far).to_string();
        for is_release in [true, false] {
            let mut stage = Stage::with_waiters(&[2, 3]);
            stage.ask(&["ZADD", ALIVE, &far, &waiter(2)]);
            if is_release {
                stage.set("r", &token(1));
                stage.leaves(&claim(1, None), Leaves::Hold);
            } else {
                assert_eq!(stage.tries(3).why(), Some(2));
            }
            assert_eq!(stage.lock(), Some((kept_for(2), KEPT)), "{is_release}");
            let ends = stage.ask(&["ZSCORE", ALIVE, &waiter(2)]);
            assert_eq!(ends.text(), Some(&*(begins + left).to_string()), "{is_release}");
        }
    }
    const { assert!(KEPT > PLACE) };
}

/// Its acquire was a plain SET: it has a token, and no place.
#[test]
fn a_client_that_never_waited_is_released_and_rolled_back_likewise() {
    for leaves in ALL {
        let mut stage = Stage::with_waiters(&[2]);
        stage.set("r", &token(1));
        let (answer, messages) = stage.leaves(&without_place(1), leaves);
        assert_eq!((answer, stage.lock()), (Reply::Int(1), Some((kept_for(2), KEPT))));
        let silent = leaves == Leaves::Nothing;
        assert_eq!(messages, if silent { Vec::new() } else { vec![waiter(2)] }, "{leaves:?}");
        let mut stage = Stage::new();
        stage.set("r", &token(1));
        assert_eq!(stage.leaves(&without_place(1), leaves).0, Reply::Int(1));
        assert_eq!(stage.keys(), 0);
    }
}

#[test]
fn a_release_that_comes_twice_tells_twice_and_takes_nothing_away() {
    let mut stage = Stage::with_waiters(&[2]);
    stage.set("r", &token(1));
    stage.leaves(&claim(1, None), Leaves::Hold);
    stage.pass(500);
    let (answer, messages) = stage.leaves(&claim(1, None), Leaves::Hold);
    assert_eq!((answer, messages), (Reply::Int(0), vec![waiter(2)]));
    assert_eq!(stage.lock(), Some((kept_for(2), KEPT - 500)));
    stage.tries(2);
    let (answer, messages) = stage.leaves(&claim(1, None), Leaves::Hold);
    assert_eq!((answer, messages), (Reply::Int(0), Vec::new()));
    assert_eq!(stage.value("r"), Some(token(2)));
}

#[test]
fn a_dead_waiter_is_passed_over() {
    for (passes, first) in [(PLACE, 2), (PLACE + 1, 3)] {
        let mut stage = Stage::with_waiters(&[4, 2]);
        stage.ask(&["ZREM", ALIVE, &waiter(4)]);
        stage.pass(passes - 10);
        stage.asks(&claim(3, Some(BEGIN + 9)), false);
        // Its look would have dropped 2, had it been dead by then.
        stage.pass(10);
        stage.set("r", &token(1));
        let (_, messages) = stage.leaves(&claim(1, None), Leaves::Hold);
        assert_eq!((messages, stage.value("r")), (vec![waiter(first)], Some(kept_for(first))));
        assert_eq!(stage.queue()[0].0, first);
    }
    let mut stage = Stage::with_waiters(&[2, 3]);
    stage.pass(PLACE + 1);
    stage.set("r", &token(1));
    assert_eq!(stage.leaves(&claim(1, None), Leaves::Hold).1, [""]);
    assert_eq!((stage.value("r"), stage.queue()), (None, Vec::new()));
}

#[test]
fn a_fence_is_raised_to_the_ballot_that_leaves_and_never_lowered() {
    for (ballot, fence, after) in [
        (BEGIN, None, Some(BEGIN)),
        (BEGIN, Some(BEGIN - 1), Some(BEGIN)),
        (BEGIN, Some(BEGIN + 1), Some(BEGIN + 1)),
        (BEGIN + WINDOW, None, Some(BEGIN + WINDOW)),
        (BEGIN + WINDOW + 1, None, None),
        (1, None, Some(1)),
    ] {
        let both = |leaves| [(leaves, token(1)), (leaves, "x".into())];
        for (leaves, value) in ALL.into_iter().flat_map(both) {
            let mut stage = Stage::with_waiters(&[2]);
            stage.set("r", &value);
            fence.iter().for_each(|fence| stage.set(FENCE, &fence.to_string()));
            let claim = fenced(claim(1, None), ballot);
            let ours = value == token(1);
            assert_eq!(stage.leaves(&claim, leaves).0, Reply::Int(ours.into()));
            let after = after.map(|fence| fence.to_string());
            assert_eq!(stage.value(FENCE), after, "{ballot} {fence:?}");
            assert_eq!(stage.value("r"), Some(if ours { kept_for(2) } else { value }));
        }
    }
}

/// A late try of this ballot is refused: it is stale.
#[test]
fn a_try_that_arrives_after_its_rollback_is_stale() {
    let mut stage = Stage::new();
    let claim: Claim = fenced(claim(1, None), BEGIN);
    assert_eq!(stage.leaves(&claim, Leaves::Nothing).0, Reply::Int(0));
    assert_eq!(stage.asks(&claim, true).why(), Some(-1));
}
