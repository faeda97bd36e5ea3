//! A test of the target: each problem that it must notice is planted, and is noticed.

use super::*;

/// Makes three healthy masters, and a lock that two of them have granted.
fn won(meddle: impl FnOnce(&mut Play)) -> Play {
    let mut play = Play::of_defaults().expect("three masters");
    play.open_all();
    play.acquire(wanted(&mut Bytes(&[0b100, 0, 0])));
    meddle(&mut play);
    play.reply(0, b"+OK\r\n");
    play.reply(1, b"+OK\r\n");
    play
}

#[test]
fn healthy_masters_grant_a_lock_and_an_ended_hold_is_forgotten() {
    let mut play = won(|_| {});
    assert_eq!((play.holds.len(), play.open.len()), (1, 0));
    play.pass(Duration::from_secs(11));
    assert_eq!(play.holds.len(), 0);
}

#[test]
#[should_panic(expected = "no caller waits for it")]
fn an_answer_that_no_caller_waits_for_is_noticed() {
    won(|play| play.open.clear());
}

#[test]
#[should_panic(expected = "two hold one key")]
fn two_that_hold_one_key_are_noticed() {
    let mut play = won(|_| {});
    let released = play.holds.clone();
    play.step(&mut Bytes(&[9]));
    assert!(play.holds.is_empty());
    play.holds = released;
    play.acquire(wanted(&mut Bytes(&[0b100, 0, 0])));
    for node in 0..2 {
        play.reply(node, b":1\r\n+OK\r\n");
    }
}
