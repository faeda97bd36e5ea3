//! Waiters that have not asked when they were due: dead, stopped or cut off.

use super::*;

/// When one that is in front is due, and one that is behind so many: as `entry.rs` says.
const IN_FRONT: u64 = 5_000;
const fn behind(ahead: u64) -> u64 {
    ahead * 125 + 1_000
}

/// The time of a call, whichever it is.
fn is_held(listed: &Listed) -> bool {
    matches!(listed.what, Found::Held(_))
}

#[test]
fn a_waiter_that_has_not_asked_when_due_is_in_front_of_none_and_comes_back_with_its_stamp() {
    let mut stage = Stage::new(&[1, 2, 3, 4]);
    // Held for good: as where the key is stuck at this master.
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    let [stopped, other, last] = [waiter(1, 1), waiter(2, 1), waiter(3, 1)];
    let stamp = stage.waits(stopped).stamp;
    stage.pass(1);
    assert_eq!(stage.waits(other).ahead, 1);
    stage.pass(IN_FRONT - 1);
    // It is due in this very moment.
    assert_eq!(stage.waits(last).ahead, 2);
    stage.pass(1);
    let listed = stage.waits(last);
    assert!(is_held(&listed));
    assert_eq!((listed.ahead, stage.listed()), (1, names(&[other, last])));
    stage.pass(1);
    assert_eq!(stage.waits(last).ahead, 0);
    // Those that ask again keep their places, and the first comes back to its own.
    assert_eq!(stage.waits_with(stopped, stamp).ahead, 0);
    assert_eq!(stage.waits(last).ahead, 1);
}

#[test]
fn the_further_back_a_waiter_stands_the_later_it_is_due() {
    let mut stage = Stage::new(&[]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    let waiters: Vec<Token> = (0..=250_u8).map(|process| waiter(process, 1)).collect();
    for (ahead, name) in waiters.iter().enumerate() {
        assert_eq!(stage.waits(*name).ahead, ahead);
    }
    let newcomer = waiter(251, 1);
    let mut at = 0;
    for (due, left) in [
        (IN_FRONT, 251),
        // 32 caps of places are 16 of pauses: those in front of them are due together.
        (behind(32) + 1, 218),
        (behind(100) + 1, 150),
        (behind(240), 11),
        (behind(240) + 1, 0),
    ] {
        stage.pass(due - at);
        at = due;
        assert_eq!(stage.waits(newcomer).ahead, left, "after {due} ms");
        stage.asks(&leave_waitlist(LIST, newcomer));
    }
}

#[test]
fn a_call_passes_over_those_that_are_overdue_though_their_mailboxes_are_read() {
    let mut stage = Stage::new(&[1, 2]);
    stage.set("theirs");
    stage.waits(waiter(1, 1));
    stage.pass(IN_FRONT - 100);
    stage.waits(waiter(2, 1));
    stage.pass(101);
    stage.free();
    let messages = [format!("free {} r", waiter(2, 1)), "called".into()];
    assert_eq!(stage.calls().1, messages);
}

/// Of an older version, or put there by another client.
#[test]
fn a_waiter_that_notes_nothing_has_as_long_from_when_it_is_first() {
    let mut stage = Stage::new(&[]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    stage.asks(&pack(&["ZADD", LIST, "1", "a", "2", "b", "3", "c", "4", "d"]));
    assert_eq!(stage.waits(waiter(1, 1)).ahead, 4);
    stage.pass(IN_FRONT);
    assert_eq!(stage.waits(waiter(1, 1)).ahead, 4);
    stage.pass(1);
    assert_eq!(stage.waits(waiter(1, 1)).ahead, 0);
    // One that asks again by itself is noted again.
    stage.asks(&pack(&["ZADD", LIST, "1", "a"]));
    assert_eq!(stage.waits(waiter(1, 1)).ahead, 1);
    stage.pass(IN_FRONT + 1);
    assert_eq!(stage.waits(waiter(1, 1)).ahead, 0);
}

#[test]
fn a_clock_that_was_set_back_keeps_the_dead_in_front_no_longer_and_the_others_in_order() {
    let mut stage = Stage::new(&[]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    let [dead, first, other] = [waiter(1, 1), waiter(2, 1), waiter(3, 1)];
    for name in [dead, first, other] {
        stage.waits(name);
        stage.pass(1);
    }
    stage.now -= Duration::from_secs(3_600);
    assert_eq!(stage.waits(other).ahead, 2);
    stage.pass(IN_FRONT);
    assert_eq!(stage.waits(first).ahead, 1);
    assert_eq!(stage.waits(other).ahead, 2);
    stage.pass(1);
    assert_eq!(stage.waits(other).ahead, 1);
    assert_eq!(stage.listed(), names(&[first, other]));
}

#[test]
fn what_was_won_without_this_master_is_called_for_whatever_the_key_says_here() {
    let mut stage = Stage::new(&[1, 2]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    stage.waits(waiter(1, 1));
    stage.pass(1);
    stage.waits(waiter(2, 1));
    assert_eq!(stage.calls().1, [""]);
    let messages =
        [format!("free {} r", waiter(1, 1)), format!("watch {} r", waiter(2, 1)), "called".into()];
    assert_eq!(stage.calls_as(&LOCK.into(), Says::Nothing).1, messages);
}

#[test]
fn a_value_of_our_own_names_no_process() {
    let mut stage = Stage::new(&[]);
    let holder = |process: u8| format!("{}:a label", waiter(process, 1));
    stage.set(&holder(8));
    assert!(stage.waits(waiter(1, 1)).sight.uncalled().is_some());
    for value in ["quorumlock:done:9", "quorumlock:shared", "quorumlock:next:1"] {
        stage.set(value);
        assert_eq!(stage.waits(waiter(1, 1)).sight.uncalled(), None, "{value}");
    }
}

#[test]
fn of_those_that_seek_a_slot_the_overdue_are_passed_over_too() {
    let mut stage = Stage::new(&[1, 2]);
    for slot in ["r0", "r1", "r2"] {
        stage.asks(&pack(&["SET", slot, "theirs"]));
    }
    let slots = slots::slots();
    let seeks = |stage: &mut Stage, name| stage.asks_for((&*slots).into(), newcomer(name)).0.ahead;
    stage.asks(&pack(&["ZADD", LIST, "1", "a"]));
    seeks(&mut stage, waiter(1, 1));
    stage.pass(1);
    assert_eq!(seeks(&mut stage, waiter(2, 1)), 2);
    stage.pass(IN_FRONT - 1);
    assert_eq!(seeks(&mut stage, waiter(2, 1)), 2);
    stage.pass(1);
    assert_eq!(seeks(&mut stage, waiter(2, 1)), 0);
    let called = stage.calls_as(slots.keys(1).unwrap(), Says::Nothing).1;
    assert_eq!(called, [format!("slot {} 1 r", waiter(2, 1)), "called 1".into()]);
}

#[test]
fn however_long_its_pauses_are_a_waiter_is_due_before_the_list_ends() {
    let mut stage = Stage::new(&[]);
    stage.asks(&pack(&["SET", LOCK, "theirs"]));
    let waits = |stage: &mut Stage, name| {
        let spans = (QUIET, Duration::from_secs(60));
        let (lock, list) = (Arc::<str>::from(LOCK), list());
        let command =
            stage.packer.wait(((&lock).into(), &list), newcomer(name), "free:", spans).to_vec();
        Listed::in_reply(&stage.asks(&command).0).unwrap().ahead
    };
    waits(&mut stage, waiter(1, 1));
    stage.pass(119_000);
    assert_eq!(waits(&mut stage, waiter(2, 1)), 1);
    stage.pass(2_001);
    assert_eq!(waits(&mut stage, waiter(2, 1)), 0);
}
