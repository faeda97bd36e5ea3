//! The same for the slots of a semaphore, of which `r` is the channel: `r0`, `r1` and `r2`.

use super::*;
use crate::shared::Slots;
use std::sync::Arc;

pub(super) fn slots() -> Arc<Slots> {
    Slots::new("r".into(), ["r0", "r1", "r2"].map(Into::into))
}

impl Stage {
    fn holds(&mut self, slot: u8, millis: &str) {
        let key = format!("r{slot}");
        assert_eq!(self.asks(&pack(&["SET", &key, "theirs", "PX", millis])).0, Reply::Okay);
    }

    /// Creates a master at which these processes read their mailboxes, and all slots are held.
    fn full(processes: &[u8]) -> Self {
        let mut stage = Self::new(processes);
        for (slot, millis) in [(0, "7000"), (1, "5000"), (2, "9000")] {
            stage.holds(slot, millis);
        }
        stage
    }

    fn frees(&mut self, slot: u8) {
        self.asks(&pack(&["DEL", &format!("r{slot}")]));
    }

    /// Returns the answer to a waiter, and the messages that its question has led to.
    fn seeks_as(&mut self, asks: Asks) -> (Listed, Vec<String>) {
        let slots = slots();
        self.asks_for((&*slots).into(), asks)
    }

    fn seeks_with(&mut self, name: Token, stamp: Option<u64>) -> Listed {
        let (listed, messages) = self.seeks_as(Asks { stamp, ..newcomer(name) });
        assert_eq!(messages, [""; 0]);
        listed
    }

    /// Returns what was found, of which slot, and how many are ahead.
    fn seeks(&mut self, name: Token) -> (Found, u8, usize) {
        let Listed { what, slot, ahead, .. } = self.seeks_with(name, None);
        (what, slot.unwrap(), ahead)
    }

    fn calls_for_slot(&mut self, slot: u8) -> (Called, Vec<String>) {
        let slots = slots();
        self.calls_for(slots.keys(slot).unwrap())
    }
}

#[test]
fn waiters_learn_which_slot_is_free_or_will_be_first() {
    let mut stage = Stage::full(&[1, 2, 3]);
    assert_eq!(stage.seeks(waiter(1, 1)), (HELD, 1, 0));
    stage.pass(1);
    let first = Found::Held(Some(Duration::from_millis(4_999)));
    assert_eq!(stage.seeks(waiter(2, 1)), (first, 1, 1));
    assert_eq!(stage.life(), Some(Duration::from_secs(120)));
    stage.frees(2);
    // Only the first tries. Another calls it, leaves that slot to it for a moment, and may try the next that is free.
    let (listed, messages) = stage.seeks_as(newcomer(waiter(2, 1)));
    assert_eq!((listed.what, listed.slot), (Found::HasCalled(QUIET), Some(2)));
    assert_eq!(messages, [format!("slot {} 2 r", waiter(1, 1))]);
    stage.frees(0);
    assert_eq!(stage.seeks(waiter(2, 1)), (Found::Free, 0, 0));
    assert_eq!(stage.seeks(waiter(3, 1)), (Found::OtherCalled(QUIET), 0, 0));
    stage.pass(20);
    // Both are free still.
    let (listed, messages) = stage.seeks_as(newcomer(waiter(4, 1)));
    assert_eq!((listed.what, listed.slot), (Found::Free, Some(2)));
    assert_eq!(messages, [format!("slot {} 0 r", waiter(3, 1))]);
    assert_eq!(stage.listed(), [""; 0]);
}

/// No waiter stands in the list yet.
#[test]
fn waiters_that_ask_together_try_a_slot_each() {
    let mut stage = Stage::new(&[]);
    let answers = [1, 2, 3, 4].map(|process| stage.seeks(waiter(process, 1)));
    let free = [0, 1, 2].map(|slot| (Found::Free, slot, 0));
    assert_eq!(answers[..3], free);
    assert_eq!(answers[3], (Found::OtherCalled(QUIET), 0, 0));
    let mut stage = Stage::new(&[]);
    stage.seeks(waiter(1, 1));
    assert_eq!(stage.life(), Some(QUIET), "what one waiter leaves behind is gone at once");
}

#[test]
fn a_slot_that_is_held_for_good_is_not_waited_for() {
    let mut stage = Stage::full(&[]);
    for slot in ["r0", "r1"] {
        assert_eq!(stage.asks(&pack(&["SET", slot, "theirs"])).0, Reply::Okay);
    }
    let last = Found::Held(Some(Duration::from_secs(9)));
    assert_eq!(stage.seeks(waiter(1, 1)), (last, 2, 0));
    assert_eq!(stage.asks(&pack(&["SET", "r2", "theirs"])).0, Reply::Okay);
    assert_eq!(stage.seeks(waiter(1, 1)), (Found::Held(None), 0, 0));
}

#[test]
fn a_release_calls_the_first_for_its_slot_and_tells_the_last_to_watch() {
    let mut stage = Stage::full(&[1, 2, 3, 4]);
    let waiters = [1, 2, 3].map(|process| waiter(process, 9));
    for name in waiters {
        stage.seeks(name);
        stage.pass(1);
    }
    let called = |waiters| Called { waiters, goes_on: false, listeners: 1 };
    // What is held again is no reason to call any.
    assert_eq!(stage.calls_for_slot(1), (called(3), vec!["1".into()]));
    let [first, second, last] = waiters;
    stage.frees(1);
    let messages = [format!("slot {first} 1 r"), format!("watch {last} r"), "called 1".into()];
    assert_eq!(stage.calls_for_slot(1), (called(3), messages.into()));
    stage.frees(0);
    let messages = [format!("slot {second} 0 r"), "called 0".into()];
    assert_eq!(stage.calls_for_slot(0), (called(2), messages.into()));
    // Both calls count, each for its slot.
    assert!(stage.seeks_with(last, None).sight.has_call());
    assert_eq!(stage.seeks(last), (Found::OtherCalled(QUIET), 0, 0));
    stage.frees(2);
    let (listed, messages) = stage.seeks_as(newcomer(waiter(4, 9)));
    assert_eq!((listed.what, listed.slot), (Found::HasCalled(QUIET), Some(0)));
    assert_eq!(messages, [format!("slot {last} 2 r")]);
    let messages = [format!("slot {} 1 r", waiter(4, 9)), "called 1".into()];
    assert_eq!(stage.calls_for_slot(1), (called(1), messages.into()));
    assert_eq!((stage.listed(), stage.life()), (vec![], Some(Duration::from_secs(1))));
    assert_eq!(stage.calls_for_slot(2), (called(0), vec!["2".into()]));
    assert_eq!(stage.life(), None, "a release that finds no waiter ends the list");
}

#[test]
fn a_waiter_keeps_its_place_after_a_call_in_vain() {
    let mut stage = Stage::full(&[1, 2]);
    let stamp = stage.seeks_with(waiter(1, 1), None).stamp;
    stage.pass(1);
    stage.seeks(waiter(2, 1));
    stage.frees(1);
    assert_eq!(stage.calls_for_slot(1).1[0], format!("slot {} 1 r", waiter(1, 1)));
    stage.holds(1, "5000");
    assert_eq!(stage.seeks_with(waiter(1, 1), stamp).ahead, 0);
    assert_eq!(stage.listed(), names(&[waiter(1, 1), waiter(2, 1)]));
}

#[test]
fn a_newcomer_is_behind_all_that_wait_whatever_the_clock_says() {
    const MINUTE: Duration = Duration::from_secs(60);
    const SOON: Duration = Duration::from_secs(4);
    let mut stage = Stage::new(&[]);
    (0..3).for_each(|slot| stage.holds(slot, "600000"));
    for process in 1..=5 {
        assert_eq!(stage.seeks(waiter(process, 0)).2, usize::from(process) - 1);
        // Also behind the latest calls.
        let calls = ["ZADD", LIST, "4000000000000000", ">0", "4000000000000001", ">2"];
        stage.asks(&pack(&calls));
        // None is overdue by a step ahead.
        stage.now = if process == 2 { stage.now + SOON } else { stage.now - MINUTE };
    }
    // One that has found a slot free, and tries in vain, is behind them, too.
    stage.frees(1);
    stage.machine.deny(&["publish"]).unwrap();
    let found = stage.seeks_with(waiter(6, 0), None);
    stage.machine.deny(&[]).unwrap();
    assert_eq!((found.what, found.slot), (Found::Free, Some(1)));
    stage.holds(1, "5000");
    assert_eq!(stage.seeks_with(waiter(6, 0), found.stamp).ahead, 5);
}
