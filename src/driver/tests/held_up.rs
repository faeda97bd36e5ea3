//! The driver's thread is held up in the middle of its work, and a holder looks in the meantime.

use super::*;
use crate::Lease;
use crate::failure::LossReason;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a caller late, as a scheduler may: time passes, and another thread looks at the lease.
struct HoldUp {
    lease: Lease,
    lasts: Duration,
    seen: Mutex<Option<bool>>,
}

impl Wake for HoldUp {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.seen.lock().unwrap().get_or_insert_with(|| {
            Clock::suspend(self.lasts);
            self.lease.is_valid()
        });
    }
}

/// The driver reads its clock once for all that it reports at a time. Here it has read the clock
/// before the deadline, is held up beyond the deadline, and only then moves it: the swap fails.
#[tokio::test(start_paused = true)]
async fn a_late_driver_reports_at_once_a_lapse_the_holder_has_seen() {
    let (masters, redlock) = five_and_client().await;
    let began = now();
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    sleep(guard.remaining() - 10 * MS).await;
    let lasts = guard.remaining() + MS;
    let hold_up = Arc::new(HoldUp { lease: guard.lease(), lasts, seen: Mutex::default() });
    // Asked first, so answered first, and at the same time.
    let mut other = pin!(redlock.try_acquire("other").into_future());
    let waker = Waker::from(hold_up.clone());
    assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // The driver takes acquires behind all other requests.
    tokio::task::yield_now().await;
    let mut extending = pin!(guard.extend());
    let first = extending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(first, Poll::Pending));
    settle().await;
    assert_eq!(*hold_up.seen.lock().unwrap(), Some(false), "the holder looked, and saw the loss");
    assert_eq!(holders(&masters), [0, 1, 2, 3, 4], "the masters did extend it");

    let lost = guard.lost().await;
    assert_eq!((&lost.reason, lost.held_for), (&LossReason::Lapsed, VALIDITY));
    let late = now().since(began.after(VALIDITY));
    assert!(late < 5 * MS, "notified {late:?} after the deadline");
    assert!(matches!(extending.await, Err(ExtendError::Lost(_))));
    assert!(now().since(began.after(VALIDITY)) < 5 * MS);
}
