//! The properties that must hold in every order.

use crate::deadline::AtomicDeadline;
use crate::latch::Latch;
use crate::turn::{Turn, Turns};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use quorumlock_core::quorum::Instant;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Runs a model, and prints how many orders there were. There must be more than one, or nothing was
/// tried.
fn every_order(model: impl Fn() + Send + Sync + 'static) {
    let orders = std::sync::Arc::new(AtomicU32::new(0));
    let counted = orders.clone();
    loom::model(move || {
        counted.fetch_add(1, Relaxed);
        model();
    });
    let orders = orders.load(Relaxed);
    println!("{orders} orders");
    assert!(orders > 1, "only one order");
}

fn spawn<T: 'static>(
    deadline: &Arc<AtomicDeadline>,
    act: impl FnOnce(&AtomicDeadline) -> T + 'static,
) -> thread::JoinHandle<T> {
    let deadline = deadline.clone();
    thread::spawn(move || act(&deadline))
}

#[test]
fn a_lapse_and_an_extension_agree_for_good_on_which_came_first() {
    every_order(|| {
        let deadline = Arc::new(AtomicDeadline::new(at(100)));
        let extending = spawn(&deadline, |deadline| deadline.extend(at(200)));
        let look = |deadline: &AtomicDeadline| deadline.remaining(at(150)).is_some();
        let (first, second) = (spawn(&deadline, look), spawn(&deadline, look));
        let extended = extending.join().unwrap();
        let held = [first.join().unwrap(), second.join().unwrap()];
        assert_eq!(held, [extended; 2]);
        assert_eq!(deadline.remaining(at(120)).is_some(), extended);
        assert_eq!(deadline.instant(), at(if extended { 200 } else { 100 }));
    });
}

#[test]
fn what_one_thread_finds_over_is_over_for_all() {
    every_order(|| {
        let deadline = Arc::new(AtomicDeadline::new(at(100)));
        let is_over = Arc::new(AtomicBool::new(false));
        let extending = spawn(&deadline, |deadline| deadline.extend(at(200)));
        let report = is_over.clone();
        let looking = spawn(&deadline, move |deadline| {
            let held = deadline.remaining(at(150)).is_some();
            report.store(!held, Ordering::Release);
            held || deadline.remaining(at(10)).is_none()
        });
        if is_over.load(Ordering::Acquire) {
            assert_eq!(deadline.remaining(at(10)), None, "also for an older clock");
            assert!(!deadline.extend(at(300)));
        }
        assert!(looking.join().unwrap(), "over, and then not, for one and the same");
        extending.join().unwrap();
    });
}

#[test]
fn two_extensions_leave_the_later_deadline() {
    every_order(|| {
        let deadline = Arc::new(AtomicDeadline::new(at(100)));
        let (earlier, later) = (
            spawn(&deadline, |deadline| deadline.extend(at(200))),
            spawn(&deadline, |deadline| deadline.extend(at(300))),
        );
        assert!(earlier.join().unwrap() && later.join().unwrap());
        assert_eq!(deadline.remaining(at(250)), Some(Duration::from_millis(50)));
    });
}

#[test]
fn an_end_is_final_whatever_else_is_going_on() {
    every_order(|| {
        let deadline = Arc::new(AtomicDeadline::new(at(100)));
        let extending = spawn(&deadline, |deadline| deadline.extend(at(200)));
        let looking = spawn(&deadline, |deadline| deadline.remaining(at(50)));
        deadline.end();
        assert_eq!(deadline.remaining(at(50)), None);
        extending.join().unwrap();
        looking.join().unwrap();
        assert_eq!(deadline.remaining(at(50)), None);
        assert!(!deadline.extend(at(300)));
    });
}

#[test]
fn a_guard_in_transit_is_delivered_or_taken_back_and_never_both() {
    every_order(|| {
        let latch = Arc::new(Latch::default());
        let theirs = latch.clone();
        let caller = thread::spawn(move || theirs.take());
        let driver = latch.take();
        assert!(caller.join().unwrap() ^ driver);
        assert!(!latch.take() && latch.is_taken());
    });
}

/// A hold on the shelf, and whether any side is inside.
#[derive(Clone)]
struct Shared {
    turns: Arc<Turns<u8>>,
    inside: Arc<AtomicBool>,
}

impl Shared {
    fn new() -> Self {
        Self { turns: Arc::new(Turns::idle(at(1))), inside: Arc::new(AtomicBool::new(false)) }
    }

    /// Enters, alone.
    fn enter(&self) {
        assert!(!self.inside.swap(true, Ordering::AcqRel), "two are inside");
    }

    /// Takes the hold for a guard, and gives it back if the guard finds it on the shelf. Returns whether the
    /// coordinator is to end it.
    fn takes(&self, guard: u8) -> bool {
        if self.turns.take(at(0), || guard).is_none() {
            return false;
        }
        self.enter();
        self.inside.store(false, Ordering::Release);
        !self.turns.give_back(at(2))
    }
}

#[test]
fn one_guard_or_the_coordinator_has_a_hold_of_the_shelf() {
    every_order(|| {
        let shared = Shared::new();
        let takers = [1, 2].map(|guard| {
            let shared = shared.clone();
            thread::spawn(move || shared.takes(guard))
        });
        let found = match shared.turns.recall() {
            Turn::Idle { until } => {
                assert!(until == at(1) || until == at(2));
                shared.enter();
                None
            }
            Turn::Guard { guard, .. } => Some(guard),
            Turn::Recalled => panic!("it was there"),
        };
        let ended = takers.map(|taker| taker.join().unwrap());
        let left: Vec<u8> =
            (1..).zip(ended).filter(|(_, left)| *left).map(|(guard, _)| guard).collect();
        assert_eq!(
            left,
            Vec::from_iter(found),
            "what a guard does not put back, the coordinator knows of"
        );
    });
}

#[test]
fn the_coordinator_learns_of_a_guard_that_claims_its_hold() {
    every_order(|| {
        let shared = Shared::new();
        let theirs = shared.clone();
        assert_eq!(shared.turns.take(at(0), || 1), Some(1));
        assert_eq!(shared.turns.guard(), Some(1));
        let guard = thread::spawn(move || theirs.turns.claim());
        let recalled = matches!(shared.turns.recall(), Turn::Guard { guard: 1, .. });
        guard.join().unwrap();
        assert!(recalled, "whether it was claimed or not");
        assert!(!shared.turns.claim() && !shared.turns.give_back(at(1)));
    });
}
