//! The order in which timers come, whatever was cancelled in between.

use super::*;
use proptest::prelude::*;

/// One step: a timer is set or cancelled, or the test takes what is due.
#[derive(Clone, Debug)]
enum Step {
    Set(u64, u64),
    Cancel(u64, u64),
    Pop(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..40_u64, 0..6_u64).prop_map(|(at, id)| Step::Set(at, id)),
        3 => (0..40_u64, 0..6_u64).prop_map(|(at, id)| Step::Cancel(at, id)),
        1 => (0..40_u64).prop_map(Step::Pop),
    ]
}

proptest! {
    /// A sorted set gives the expected order.
    #[test]
    fn a_line_tells_what_a_sorted_set_would(steps in prop::collection::vec(step(), 0..400)) {
        let (mut line, mut set) = (Line::default(), BTreeSet::new());
        for step in steps {
            match step {
                Step::Set(at, id) => {
                    line.set(Instant::from_nanos(at), id);
                    set.insert((at, id));
                }
                Step::Cancel(at, id) => {
                    line.cancel(Instant::from_nanos(at), id);
                    set.remove(&(at, id));
                }
                Step::Pop(at) => {
                    let first = set.first().copied().filter(|(first, _)| *first == at);
                    prop_assert_eq!(line.take(Instant::from_nanos(at)), first.map(|(_, id)| id));
                    first.map(|first| set.remove(&first));
                }
            }
            let first = line.first().map(|(at, id)| (at.as_nanos(), id));
            prop_assert_eq!(first, set.first().copied());
        }
    }
}

#[test]
fn due_timers_come_in_order_and_rounds_before_deadlines() {
    let (mut timers, at) = (Timers::default(), Instant::from_nanos);
    timers.set(at(9), Timer::Deadline(AttemptId::NONE));
    timers.set(at(9), Timer::Attempt(RequestId(2)));
    timers.set(at(9), Timer::Attempt(RequestId(1)));
    timers.set(at(5), Timer::Keep(AttemptId::NONE));
    timers.set(at(7), Timer::Attempt(RequestId(3)));
    timers.cancel(at(7), Timer::Attempt(RequestId(3)));
    assert_eq!((timers.next_at(), timers.pop(at(4))), (at(5), None));
    let due: Vec<Timer> = std::iter::from_fn(|| timers.pop(at(9))).collect();
    let attempts = [1, 2].map(|id| Timer::Attempt(RequestId(id)));
    let [first, second] = attempts;
    let expected = [Timer::Keep(AttemptId::NONE), first, second, Timer::Deadline(AttemptId::NONE)];
    assert_eq!(due, expected);
    assert_eq!(timers.next_at(), Instant::NEVER);
}

#[test]
fn a_line_that_was_long_and_is_cancelled_gives_its_memory_back() {
    let mut line = Line::default();
    for id in 0..10_000_u64 {
        line.set(Instant::from_nanos(id), id);
    }
    (1..9_999).rev().for_each(|id| line.cancel(Instant::from_nanos(id), id));
    assert_eq!(line.first(), Some((Instant::from_nanos(0), 0)));
    assert!(line.queue.capacity() < 1_000, "{}", line.queue.capacity());
}
