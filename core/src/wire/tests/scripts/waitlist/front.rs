//! Only the first of a list goes.

use super::*;
use crate::wire::waitlist::Sight;

#[test]
fn who_finds_a_free_key_without_waiters_may_try_and_for_a_moment_no_other() {
    let mut stage = Stage::new(&[]);
    assert_eq!(stage.waits(waiter(1, 1)).what, Found::Free);
    assert_eq!((stage.listed(), stage.life()), (vec![], Some(QUIET)), "it ends with the moment");
    assert_eq!(stage.waits(waiter(2, 1)).what, Found::OtherCalled(QUIET));
    stage.pass(19);
    assert_eq!(stage.waits(waiter(2, 1)).what, Found::OtherCalled(Duration::from_millis(1)));
    stage.pass(1);
    assert_eq!(stage.waits(waiter(2, 1)).what, Found::Free);
}

#[test]
fn who_finds_a_free_key_behind_others_calls_the_first_of_them() {
    let mut stage = Stage::new(&[1, 2]);
    stage.set("theirs");
    let first = stage.waits(waiter(1, 1));
    stage.pass(1);
    let second = stage.waits(waiter(2, 1));
    stage.free();
    let answers =
        [(waiter(3, 1), Found::HasCalled(QUIET)), (waiter(2, 1), Found::OtherCalled(QUIET))];
    for (behind, what) in answers {
        let asks =
            Asks { stamp: second.stamp.filter(|_| behind == waiter(2, 1)), ..newcomer(behind) };
        let (listed, messages) = stage.asks_with(asks);
        let called = Vec::from_iter(first.stamp.filter(|_| behind == waiter(3, 1)));
        assert_eq!(listed.what, what);
        assert_eq!(
            messages,
            called.iter().map(|_| format!("free {} r", waiter(1, 1))).collect::<Vec<_>>()
        );
    }
    assert_eq!(stage.listed(), names(&[waiter(2, 1), waiter(3, 1)]));
    // The one that was called may ask, too, and has its place still, also once its moment is over.
    stage.pass(21);
    let asks = Asks { stamp: first.stamp, ..newcomer(waiter(1, 1)) };
    assert_eq!(
        stage.asks_with(asks),
        (Listed { what: Found::Free, ..first_answer(first.stamp) }, vec![])
    );
}

fn first_answer(stamp: Option<u64>) -> Listed {
    Listed { what: Found::Free, stamp, ahead: 0, sight: Sight::default(), slot: None }
}

#[test]
fn those_that_no_call_reaches_are_taken_out_by_the_next_question() {
    let mut stage = Stage::behind_the_gone(200);
    for left in [137, 73, 9] {
        let (listed, messages) = stage.asks_with(newcomer(waiter(201, 0)));
        assert_eq!((listed.what, listed.ahead, messages.len()), (Found::GoesOn, left - 1, 0));
        assert_eq!(stage.listed().len(), left);
    }
    let (listed, messages) = stage.asks_with(newcomer(waiter(201, 0)));
    assert_eq!((listed.what, listed.ahead), (Found::HasCalled(QUIET), 0));
    assert_eq!(messages, [format!("free {} r", waiter(200, 0))]);
}

#[test]
fn where_calls_are_denied_any_waiter_may_try() {
    let mut stage = Stage::new(&[1, 2]);
    stage.set("theirs");
    stage.waits(waiter(1, 1));
    stage.free();
    stage.machine.deny(&["publish"]).unwrap();
    assert_eq!(stage.waits(waiter(2, 1)).what, Found::Free);
    assert_eq!(stage.listed(), names(&[waiter(1, 1)]));
}

#[test]
fn one_that_has_waited_elsewhere_stands_where_it_would_stand_if_it_had_waited_here() {
    let mut stage = Stage::new(&[]);
    stage.set("theirs");
    let [old, young, newcomer] = [(1, 300), (2, 100), (3, 0)].map(|(process, age)| Asks {
        age: Duration::from_millis(age),
        ..newcomer(waiter(process, 1))
    });
    let names = names(&[old.waiter, young.waiter, newcomer.waiter]);
    for (asks, ahead) in [(newcomer, 0), (young, 0), (old, 0)] {
        assert_eq!(stage.asks_with(asks).0.ahead, ahead);
        stage.pass(1);
    }
    assert_eq!(stage.listed(), names);
    // A clock that was set back since keeps them in order: an age counts from the last stamp.
    stage.now -= Duration::from_secs(3_600);
    let back = Asks { age: Duration::from_millis(200), ..self::newcomer(waiter(4, 1)) };
    assert_eq!(stage.asks_with(back).0.ahead, 1);
}

#[test]
fn another_waiter_of_the_process_that_was_called_calls_the_next() {
    let mut stage = Stage::new(&[1, 2]);
    stage.set("theirs");
    for name in [waiter(1, 1), waiter(2, 1)] {
        stage.waits(name);
        stage.pass(1);
    }
    stage.free();
    assert_eq!(stage.calls().1.len(), 3);
    assert_eq!(stage.waits(waiter(2, 1)).what, Found::OtherCalled(QUIET));
    let (listed, messages) = stage.asks_with(newcomer(waiter(1, 2)));
    assert_eq!((listed.what, listed.ahead), (Found::HasCalled(QUIET), 0));
    assert_eq!(messages, [format!("free {} r", waiter(2, 1))]);
    assert_eq!(stage.listed(), names(&[waiter(1, 2)]));
}
