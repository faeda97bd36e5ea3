//! A key that is kept for a waiter, as the holder finds it: vacant, and taken over by a top-up.

use super::stage::{BEGIN, FENCE, LIFE, LOCK, Stage, WINDOW, claim, fenced, kept_for, token};
use crate::shared::{Keys, Queue};
use crate::wire::{ACQUIRE_READ, Claim, EXTEND_READ, Millis, Reply};
use std::time::Duration;

fn life() -> Millis {
    Millis::from(Duration::from_millis(LIFE.unsigned_abs()))
}

#[test]
fn what_is_kept_is_vacant_to_an_extension_and_stays() {
    for (value, answer) in [
        (None, 0),
        (Some(kept_for(1)), 0),
        (Some(kept_for(2)), 0),
        (Some("quorumlock:next".into()), -1),
        (Some(String::new()), -1),
        (Some("theirs".into()), -1),
        (Some(token(1)), 1),
    ] {
        let mut stage = Stage::new();
        value.iter().for_each(|value| stage.set(LOCK, value));
        let claim = claim(1, None);
        let reply = stage.does(|packer| claim.extend(packer, life()).to_vec());
        assert_eq!(reply, Reply::Int(answer), "{value:?}");
        let left = if answer == 1 { LIFE } else { 5_000 };
        assert_eq!(stage.lock(), value.map(|value| (value, left)));
    }
}

#[test]
fn one_key_that_is_taken_is_worse_than_one_that_is_kept() {
    for (s, answer) in [(kept_for(2), 0), ("theirs".into(), -1), (token(1), 0)] {
        let mut stage = Stage::new();
        stage.set("r", &kept_for(2));
        stage.set("s", &s);
        let keys = Keys::several(["r", "s"].map(Into::into)).unwrap();
        let claim = Claim { keys, ..claim(1, None) };
        let reply = stage.does(|packer| claim.extend(packer, life()).to_vec());
        assert_eq!(reply, Reply::Int(answer), "{s}");
    }
}

/// What each top-up finds, and whether it takes it.
fn found() -> Vec<(Option<String>, bool)> {
    vec![
        (None, true),
        (Some(kept_for(1)), true),
        (Some(kept_for(2)), true),
        (Some("quorumlock:next".into()), false),
        (Some(String::new()), false),
        (Some("theirs".into()), false),
        (Some("quorumlock:shared".into()), false),
    ]
}

#[test]
fn a_top_up_takes_over_what_is_kept_and_nothing_of_others() {
    let long_ago = BEGIN - 100 * WINDOW;
    let several =
        || Claim { keys: Keys::several(["r", "s"].map(Into::into)).unwrap(), ..claim(1, None) };
    for claim in [claim(1, None), fenced(claim(1, None), long_ago), several()] {
        let is_single = claim.ballot.is_none() && claim.keys.len() == 1;
        for (value, takes) in found() {
            let mut stage = Stage::new();
            value.iter().for_each(|value| stage.set(LOCK, value));
            let reply = stage.does(|packer| claim.top_up(packer, life()).to_vec());
            match reply {
                Reply::Int(set) if is_single => assert_eq!(set, i64::from(takes), "{value:?}"),
                Reply::Okay => assert!(takes, "{value:?}"),
                Reply::Array(parts) => assert!(!takes && parts[0] == Reply::Int(0), "{value:?}"),
                other => panic!("{other:?}"),
            }
            let kept = value.map(|value| (value, 5_000));
            let after = if takes { Some((token(1), LIFE)) } else { kept };
            assert_eq!(stage.lock(), after);
            let ballot = claim.ballot.as_ref().filter(|_| takes);
            let fence = ballot.map(|ballot| ballot.number.to_string());
            assert_eq!(stage.value(FENCE), fence);
            let both = (takes && claim.keys.len() == 2).then(|| token(1));
            assert_eq!(stage.value("s"), both, "all or none");
        }
    }
}

#[test]
fn a_top_up_does_not_prolong_what_is_there_already() {
    let two = Keys::several(["r", "s"].map(Into::into)).unwrap();
    for claim in [claim(1, None), Claim { keys: two, ..claim(1, None) }] {
        let mut stage = Stage::new();
        stage.set(LOCK, &token(1));
        stage.does(|packer| claim.top_up(packer, life()).to_vec());
        assert_eq!(stage.lock(), Some((token(1), 5_000)));
    }
}

#[test]
fn a_top_up_whose_ballot_is_stale_or_ahead_takes_nothing_over() {
    for (ballot, fence, why) in
        [(BEGIN, Some(BEGIN), -1), (BEGIN, Some(BEGIN + 1), -1), (BEGIN + WINDOW + 1, None, -2)]
    {
        let mut stage = Stage::new();
        stage.set(LOCK, &kept_for(2));
        fence.iter().for_each(|fence| stage.set(FENCE, &fence.to_string()));
        let claim = fenced(claim(1, None), ballot);
        let Reply::Array(parts) = stage.does(|packer| claim.top_up(packer, life()).to_vec()) else {
            panic!("{ballot}")
        };
        assert_eq!(parts[0], Reply::Int(why));
        assert_eq!(stage.lock(), Some((kept_for(2), 5_000)));
    }
}

/// A client of another kind may lock the same resource as a reader.
#[test]
fn a_new_reader_waits_where_a_key_is_kept_and_one_that_is_in_takes_it_over() {
    let ask = |stage: &mut Stage, was_let_in: &str| {
        let words = ["EVAL", ACQUIRE_READ, "3", LOCK, "readers", "hint", "me", "1000", was_let_in];
        stage.ask(&words)
    };
    let mut stage = Stage::new();
    stage.set(LOCK, &kept_for(2));
    let Reply::Array(parts) = ask(&mut stage, "0") else { panic!("let in") };
    assert_eq!(parts[..2], [Reply::Int(0), Reply::Int(5_000)]);
    let extended = stage.ask(&["EVAL", EXTEND_READ, "2", LOCK, "readers", "me", "1000"]);
    assert_eq!(extended, Reply::Int(0), "vacant");
    assert_eq!((stage.lock(), stage.keys()), (Some((kept_for(2), 5_000)), 1));
    assert_eq!(ask(&mut stage, "1"), Reply::Okay);
    assert_eq!(stage.lock(), Some(("quorumlock:shared".into(), 1_000)));
}

#[test]
fn the_queue_takes_no_part_in_a_top_up() {
    let queue = Queue { places: "queue".into(), alive: "alive".into() };
    let claim = Claim { keys: Keys::in_turn(LOCK.into(), queue), ..claim(1, None) };
    let mut stage = Stage::with_waiters(&[2]);
    stage.does(|packer| claim.top_up(packer, life()).to_vec());
    assert_eq!((stage.lock(), stage.queue()), (Some((token(1), LIFE)), vec![(2, BEGIN)]));
}
