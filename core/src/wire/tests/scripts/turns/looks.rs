//! What a look learns: by what holds the lock, by the first waiter, and by the ballot.

use super::stage::{BEGIN, FENCE, Stage, WINDOW, claim, fenced, kept_for, token};
use crate::wire::{LEAVE, Leaves, Reply};

/// Everything that may be under the key, for waiter 1, with the reason where it is first.
fn holders() -> Vec<(Option<String>, i64)> {
    vec![
        (None, -3),
        (Some(kept_for(1)), -3),
        (Some(kept_for(2)), -3),
        (Some(kept_for(9)), -3),
        (Some("theirs".into()), 0),
        (Some(String::new()), 0),
        (Some(token(1)), 0),
        (Some("quorumlock:shared".into()), 0),
        (Some("quorumlock:next".into()), 0),
    ]
}

#[test]
fn a_look_says_why_and_changes_nothing_under_the_key() {
    for (holder, why) in holders() {
        for (waiters, ahead) in [(&[1, 2][..], 0), (&[2, 1], 1), (&[2, 3, 1], 2), (&[], 0)] {
            let mut stage = Stage::with_waiters(waiters);
            holder.iter().for_each(|value| stage.set("r", value));
            stage.pass(100);
            let look = stage.looks(1).refused();
            let others_are_first = ahead > 0 && why == -3;
            assert_eq!(look.why, if others_are_first { 2 } else { why }, "{holder:?} {waiters:?}");
            assert_eq!(look.ahead, ahead, "{holder:?} {waiters:?}");
            assert_eq!(look.left, if holder.is_some() { 4_900 } else { 0 });
            let named = if why == 0 { holder.clone().unwrap() } else { String::new() };
            assert_eq!((look.holder, look.clock), (named, BEGIN + 100_000));
            assert_eq!(stage.lock(), holder.clone().map(|value| (value, 4_900)), "{waiters:?}");
        }
    }
}

#[test]
fn a_look_says_granted_exactly_where_a_try_is() {
    for (holder, _) in holders().into_iter().filter(|(holder, _)| *holder != Some(token(1))) {
        for waiters in [&[1, 2][..], &[2, 1], &[]] {
            for ballot in
                [None, Some(1), Some(BEGIN - WINDOW), Some(BEGIN), Some(BEGIN + WINDOW + 1)]
            {
                for fence in [None, Some(BEGIN - WINDOW), Some(BEGIN + 5)] {
                    let reasons = [false, true].map(|tries| {
                        let mut stage = Stage::with_waiters(waiters);
                        holder.iter().for_each(|value| stage.set("r", value));
                        fence.iter().for_each(|fence| stage.set(FENCE, &fence.to_string()));
                        let claim = claim(1, None);
                        let claim = match ballot {
                            Some(number) => fenced(claim, number),
                            None => claim,
                        };
                        stage.asks(&claim, tries).why()
                    });
                    let [look, tried] = reasons;
                    assert_eq!(
                        look,
                        tried.or(Some(-3)),
                        "{holder:?} {waiters:?} {ballot:?} {fence:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_look_tells_a_ballot_that_would_be_refused_and_raises_no_fence() {
    const FENCE_AT: u64 = BEGIN - 500_000;
    for (ballot, why) in [
        (BEGIN - WINDOW - 1, -1),
        (FENCE_AT, -1),
        (FENCE_AT + 1, -3),
        (BEGIN + WINDOW, -3),
        (BEGIN + WINDOW + 1, -2),
    ] {
        let mut stage = Stage::new();
        stage.set(FENCE, &FENCE_AT.to_string());
        let refusal = stage.asks(&fenced(claim(1, None), ballot), false).refused();
        assert_eq!((refusal.why, refusal.fence), (why, FENCE_AT.to_string()), "{ballot}");
        assert_eq!(stage.value(FENCE), Some(FENCE_AT.to_string()));
        // One that is not first, or finds a holder, does not learn of it: neither can it win.
        stage.set("r", "theirs");
        assert_eq!(stage.asks(&fenced(claim(1, None), ballot), false).why(), Some(0));
        stage.ask(&["DEL", "r"]);
        assert_eq!(stage.asks(&fenced(claim(2, None), ballot), false).why(), Some(2));
    }
    for (ballot, why) in [(BEGIN - WINDOW - 1, -2), (BEGIN - WINDOW, -3)] {
        let refusal = Stage::new().asks(&fenced(claim(1, None), ballot), false).refused();
        assert_eq!((refusal.why, refusal.fence), (why, "0".into()), "without a fence, {ballot}");
    }
}

#[test]
fn a_look_tells_the_life_of_what_never_expires_and_bounds_what_it_names() {
    let mut stage = Stage::new();
    stage.ask(&["SET", "r", &"x".repeat(700)]);
    let look = stage.looks(1).refused();
    assert_eq!((look.why, look.left, look.holder), (0, -1, "x".repeat(600)));
}

/// A lock of another client, whose value is empty, is neither granted to a look nor released.
#[test]
fn an_empty_value_is_nothing_of_ours() {
    let mut stage = Stage::with_waiters(&[1]);
    stage.set("r", "");
    assert_eq!(stage.looks(1).why(), Some(0));
    for leaves in [Leaves::Nothing, Leaves::Place, Leaves::Hold] {
        stage.leaves(&claim(1, None), leaves);
        assert_eq!(stage.value("r").as_deref(), Some(""));
    }
    // No claim has an empty token; the script is asked with one.
    for waiter in ["", "w"] {
        for kind in ["try", "place", "hold"] {
            for value in ["", "quorumlock:next:"] {
                stage.set("r", value);
                let words = [
                    "EVAL", LEAVE, "3", "r", "queue", "alive", "", waiter, kind, "3000", "4000", "",
                ];
                assert_eq!(stage.ask(&words), Reply::Int(0));
                assert_eq!(stage.value("r").as_deref(), Some(value), "{kind} {waiter}");
            }
        }
    }
}
