//! Proof that the models find faults: with a load and a store in place of each swap, they fail.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

const OVER: u64 = 1 << 63;

#[test]
#[should_panic(expected = "told as held, and over")]
fn a_lapse_that_is_stored_without_a_swap_is_caught() {
    loom::model(|| {
        let deadline = Arc::new(AtomicU64::new(100));
        let extended = deadline.clone();
        let extending = thread::spawn(move || {
            let seen = extended.load(Ordering::Acquire);
            let wins = seen & OVER == 0;
            if wins {
                extended.store(seen.max(200), Ordering::Release);
            }
            wins
        });
        let seen = deadline.load(Ordering::Acquire);
        if seen & OVER == 0 && seen <= 150 {
            deadline.store(seen | OVER, Ordering::Release);
        }
        let extended = extending.join().unwrap();
        let over = deadline.load(Ordering::Acquire) & OVER != 0;
        assert!(!(extended && over), "told as held, and over");
    });
}

#[test]
#[should_panic(expected = "both have it")]
fn a_claim_without_a_swap_is_caught() {
    loom::model(|| {
        let claim = Arc::new(AtomicBool::new(false));
        let take = |claim: &AtomicBool| {
            let free = !claim.load(Ordering::Acquire);
            claim.store(true, Ordering::Release);
            free
        };
        let theirs = claim.clone();
        let caller = thread::spawn(move || take(&theirs));
        let driver = take(&claim);
        assert!(!(caller.join().unwrap() && driver), "both have it");
    });
}

#[test]
#[should_panic(expected = "two are inside")]
fn a_hold_that_is_looked_at_and_then_taken_is_caught() {
    loom::model(|| {
        let (turn, inside) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let take = |turn: &AtomicU64, inside: &AtomicBool| {
            if turn.load(Ordering::Acquire) == 0 {
                turn.store(1, Ordering::Release);
                assert!(!inside.swap(true, Ordering::AcqRel), "two are inside");
            }
        };
        let theirs = (turn.clone(), inside.clone());
        let guard = thread::spawn(move || take(&theirs.0, &theirs.1));
        take(&turn, &inside);
        guard.join().unwrap();
    });
}
