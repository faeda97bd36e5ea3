//! A lock that is not extended ends at its deadline: its loss is reported in time, once, and for
//! good, even if the masters can't be reached.

use crate::support::prelude::*;
use crate::support::proxy::{Cut, Proxy, in_front_of};
use crate::support::samples::Samples;
use futures::future::join_all;
use quorumlock::error::LossReason;
use quorumlock::{ExtendError, Guard};
use std::time::{Duration, Instant};

/// Allowed time between the deadline and the notification, beyond the delay of the runtime itself.
const NOTICE: Duration = Duration::from_millis(20);
/// Longest delay that a busy machine explains.
const HELD_UP: Duration = Duration::from_millis(250);
/// Two clocks are read one after the other; no notification may come earlier than that explains.
const READING: Duration = Duration::from_millis(2);

/// Times at which the loss was due, was reported, and at which a plain timer of the same runtime
/// fired.
struct Notice {
    due: Instant,
    noticed: Instant,
    timer: Instant,
}

impl Notice {
    fn late(&self) -> Duration {
        self.noticed.saturating_duration_since(self.due)
    }

    fn noise(&self) -> Duration {
        self.timer.saturating_duration_since(self.due)
    }
}

/// Watches one guard to its end. At the notification it is over, and it stays over.
async fn watch(guard: &Guard) -> Notice {
    let due = Instant::now() + guard.remaining();
    let timer = async {
        tokio::time::sleep_until(due.into()).await;
        Instant::now()
    };
    let noticed = async {
        let lost = guard.lost().await;
        let noticed = Instant::now();
        assert!(!guard.is_valid(), "lost, and still valid");
        assert_eq!(lost.reason, LossReason::Lapsed);
        assert_eq!(guard.check(), Err(lost));
        noticed
    };
    let (noticed, timer) = tokio::join!(noticed, timer);
    Notice { due, noticed, timer }
}

fn assert_in_time(notices: &[Notice]) {
    for notice in notices {
        let (late, noise) = (notice.late(), notice.noise());
        assert!(late <= noise + HELD_UP, "noticed {late:?} late, where a timer was {noise:?} late");
        assert!(notice.noticed + READING >= notice.due, "noticed before it was due");
    }
    let late: Samples = notices.iter().map(Notice::late).collect();
    let noise: Samples = notices.iter().map(Notice::noise).collect();
    eprintln!("lost() after the deadline: {late}; a timer of the runtime: {noise}");
    // Other load here may hold up one of two threads; nineteen of twenty notifications are not held
    // up.
    let (late, noise) = (late.percentile(95), noise.percentile(95));
    assert!(late <= noise + NOTICE, "noticed {late:?} late, where a timer was {noise:?} late");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_loss_is_reported_at_its_deadline() {
    let _turn = crate::alone().await;
    let (_masters, redlock) = three().await;
    let mut guards = Vec::new();
    for n in 0..60 {
        let ttl = Duration::from_millis(500 + 23 * n);
        guards.push(redlock.acquire(format!("r{n}")).ttl(ttl).await.unwrap());
    }
    let notices = join_all(guards.iter().map(watch)).await;
    assert_in_time(&notices);
    for guard in guards {
        assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    }
}

#[tokio::test]
async fn a_lock_outlives_its_masters_up_to_its_deadline() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let proxies = in_front_of(masters.iter().map(Server::addr));
    let builder = builder().nodes(proxies.iter().map(Proxy::url));
    let redlock = builder.ttl(Duration::from_millis(1_500)).connect().await.unwrap();
    let mut guards = Vec::new();
    for resource in ["a", "b", "c", "d"] {
        guards.push(redlock.acquire(resource).await.unwrap());
    }
    for proxy in &proxies[..3] {
        proxy.refuse_new(true).await;
        proxy.cut(Cut::Reset);
    }
    // A failed extension does not make it end any earlier.
    match guards[0].extend().await {
        Err(ExtendError::Unextended(unextended)) => assert!(guards[0].is_valid(), "{unextended}"),
        other => panic!("{other:?}"),
    }
    let notices = join_all(guards.iter().map(watch)).await;
    assert_in_time(&notices);
    for proxy in &proxies[..3] {
        proxy.refuse_new(false).await;
    }
    for guard in guards {
        assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    }
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test]
async fn a_lapse_is_final_whatever_the_masters_say_later() {
    let _turn = crate::alone().await;
    let (masters, redlock) = three().await;
    let guard = redlock.acquire("r").ttl(Duration::from_millis(800)).await.unwrap();
    everywhere(&masters, "r").await;
    for server in masters.iter() {
        let prolong = redis::cmd("PEXPIRE").arg("r").arg(60_000).to_owned();
        assert_eq!(witness::ask::<i64>(server, &prolong).await, Ok(1));
    }
    let lost = guard.lost().await;
    // Our token is still on every master.
    assert_eq!(witness::holders(&masters, "r").await, [0, 1, 2]);
    assert_eq!(guard.extend().await, Err(ExtendError::Lost(lost.clone())));
    assert_eq!((guard.check(), guard.remaining()), (Err(lost.clone()), Duration::ZERO));
    assert!(lost.held_for <= Duration::from_millis(790), "{lost}");
    assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    witness::eventually_no_keys(&masters, SOON).await;
}

/// No task looks at the clock until long after the deadline: the runtime's only thread is busy.
#[tokio::test]
async fn a_deadline_that_passes_unseen_has_passed() {
    let _turn = crate::alone().await;
    let (_masters, redlock) = three().await;
    let guard = redlock.acquire("r").ttl(Duration::from_millis(500)).await.unwrap();
    // Not a wait for something: the pause itself is under test.
    std::thread::sleep(Duration::from_millis(600));
    assert!(!guard.is_valid());
    let lost = guard.check().unwrap_err();
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert!(lost.held_for <= Duration::from_millis(493), "it ended at its deadline: {lost}");
    assert_eq!(guard.extend().await, Err(ExtendError::Lost(lost.clone())));
    assert_eq!(guard.lost().await, lost);
    assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
}
