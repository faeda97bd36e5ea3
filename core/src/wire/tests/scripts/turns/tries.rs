//! What a try takes, and what it leaves for the first waiter.

use super::stage::{
    BEGIN, FENCE, KEPT, LIFE, Stage, WINDOW, claim, fenced, kept_for, token, without_place,
};
use crate::wire::Reply;

#[test]
fn a_try_takes_what_is_vacant_or_kept_for_whichever_waiter() {
    for value in [None, Some(kept_for(1)), Some(kept_for(2)), Some(kept_for(9))] {
        let mut stage = Stage::with_waiters(&[1, 2]);
        value.iter().for_each(|value| stage.set("r", value));
        assert_eq!(stage.tries(1).why(), None, "{value:?}");
        assert_eq!(stage.lock(), Some((token(1), LIFE)), "{value:?}");
        assert_eq!(stage.queue().len(), 2, "it stands there until it leaves");
    }
}

#[test]
fn a_try_by_its_holder_is_granted_and_prolongs_nothing() {
    let mut stage = Stage::with_waiters(&[2, 1]);
    stage.set("r", &token(1));
    stage.pass(1_000);
    assert_eq!(stage.tries(1).why(), None);
    assert_eq!(stage.lock(), Some((token(1), 4_000)));
}

#[test]
fn a_refused_try_keeps_what_is_vacant_for_the_first_waiter() {
    for (value, after) in [
        (None, (kept_for(2), KEPT)),
        // It is not prolonged.
        (Some(kept_for(2)), (kept_for(2), 5_000)),
        (Some(kept_for(1)), (kept_for(2), KEPT)),
        (Some(kept_for(9)), (kept_for(2), KEPT)),
    ] {
        let mut stage = Stage::with_waiters(&[2, 1]);
        value.iter().for_each(|value| stage.set("r", value));
        assert_eq!(stage.tries(1).refused().why, 2, "{value:?}");
        assert_eq!(stage.lock(), Some(after), "{value:?}");
    }
}

#[test]
fn a_late_try_keeps_for_the_waiter_that_is_first_by_its_ticket() {
    let mut stage = Stage::with_waiters(&[2]);
    let refusal = stage.asks(&claim(1, Some(BEGIN + 1)), true).refused();
    assert_eq!((refusal.why, refusal.ahead), (2, 1));
    assert_eq!(stage.lock(), Some((kept_for(2), KEPT)));
    assert_eq!(stage.asks(&claim(3, Some(BEGIN - 1)), true).why(), None);
    assert_eq!(stage.lock(), Some((token(3), LIFE)));
}

#[test]
fn a_try_beside_a_holder_changes_nothing_of_it() {
    for waiters in [&[1, 2], &[2, 1]] {
        let mut stage = Stage::with_waiters(waiters);
        stage.set("r", "theirs");
        let refusal = stage.tries(1).refused();
        assert_eq!((refusal.why, refusal.left, refusal.holder.as_str()), (0, 5_000, "theirs"));
        assert_eq!(stage.lock(), Some(("theirs".into(), 5_000)));
    }
}

#[test]
fn a_ballot_that_is_granted_is_the_fence_and_one_that_is_not_keeps_the_key() {
    for (ballot, fence, why) in [
        (BEGIN, None, None),
        (BEGIN, Some(BEGIN - 1), None),
        (BEGIN - WINDOW, None, None),
        (BEGIN + WINDOW, None, None),
        (BEGIN, Some(BEGIN), Some(-1)),
        (BEGIN, Some(BEGIN + 1), Some(-1)),
        (BEGIN - WINDOW - 1, None, Some(-2)),
        (BEGIN + WINDOW + 1, None, Some(-2)),
    ] {
        let mut stage = Stage::new();
        fence.iter().for_each(|fence| stage.set(FENCE, &fence.to_string()));
        let answer = stage.asks(&fenced(claim(1, None), ballot), true);
        assert_eq!(answer.why(), why, "{ballot} {fence:?}");
        let granted = why.is_none();
        let after = if granted { Some(ballot) } else { fence };
        assert_eq!(stage.value(FENCE), after.map(|fence| fence.to_string()), "{ballot} {fence:?}");
        let life = stage.ask(&["PTTL", FENCE]);
        assert!(!granted || life == Reply::Int(60_000), "{life:?}");
        let lock = if granted { (token(1), LIFE) } else { (kept_for(1), KEPT) };
        assert_eq!(stage.lock(), Some(lock), "{ballot} {fence:?}");
    }
}

/// The first attempt of a client that has not waited yet.
#[test]
fn a_key_that_is_kept_refuses_a_set_and_a_ballot_of_others() {
    let mut stage = Stage::new();
    stage.set("r", &kept_for(2));
    let first = without_place(1);
    assert_eq!(stage.does(|packer| first.acquire(packer).to_vec()), Reply::Nil);
    let ballot = fenced(without_place(1), BEGIN);
    let Reply::Array(parts) = stage.does(|packer| ballot.acquire(packer).to_vec()) else {
        panic!("no refusal")
    };
    assert_eq!(parts[..2], [Reply::Int(0), Reply::Int(5_000)]);
    assert_eq!((stage.lock(), stage.keys()), (Some((kept_for(2), 5_000)), 1));
    let mut stage = Stage::new();
    assert_eq!(stage.does(|packer| first.acquire(packer).to_vec()), Reply::Okay);
    assert_eq!((stage.lock(), stage.keys()), (Some((token(1), LIFE)), 1), "no queue");
}
