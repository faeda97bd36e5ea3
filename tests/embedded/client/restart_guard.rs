//! A master that has lost its memory does not vote until no lock that it had granted can still be
//! held: the masters are killed and come back empty under a lock. Another test shows what the same restarts
//! do to a client without the guard.

use super::prelude::*;
use crate::support::reports::warming;
use quorumlock::{
    AcquireError, Backoff, FencingWindow, Guard, Redlock, RedlockBuilder, Released, RestartGuard,
};
use std::time::Duration;

/// The ttl of each lock, and the longest that is allowed.
const TTL: Duration = Duration::from_secs(3);
/// Time for which a restarted master does not vote: the longest ttl and its drift.
const QUARANTINE: Duration = Duration::from_millis(3_032);
/// The timers of virtual time are due by the millisecond.
const AT_ONCE: Duration = Duration::from_millis(5);

fn guarded(masters: &Masters) -> RedlockBuilder {
    let builder = masters
        .builder()
        .restart_guard(RestartGuard::On)
        .ttl(TTL)
        .max_ttl(TTL)
        .acquire_timeout(LONG);
    builder.fencing_window(FencingWindow { back: 500 * MS, ahead: 500 * MS })
}

fn unguarded(masters: &Masters) -> RedlockBuilder {
    guarded(masters).restart_guard(RestartGuard::Off)
}

async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect().await.unwrap()
}

/// The outcome of restarts under a held lock.
#[derive(Default, Debug)]
struct Outcome {
    /// Number of times that another client won while its holder's guard was valid.
    second_holders: u32,
    /// The most non-voting masters that an acquire met.
    warming: usize,
}

/// A quorum of masters comes back empty, one after the other, under one held lock. Two rivals try
/// all the time: one that was connected before, and one that connects afterwards.
async fn restarts_under_a_lock(
    masters: &Masters,
    client: fn(&Masters) -> RedlockBuilder,
) -> Outcome {
    let (ours, before) = (connect(client(masters)).await, connect(client(masters)).await);
    let guard = ours.acquire("r").await.unwrap();
    everywhere(masters, "r").await;
    let mut outcome = Outcome::default();
    for node in 0..=masters.len() / 2 {
        masters[node].restart();
        outcome.try_once(&before, &guard).await;
    }
    assert!(guard.remaining() > TTL / 3, "the restarts took too long to show anything");
    let after = connect(client(masters)).await;
    while guard.is_valid() && outcome.second_holders == 0 {
        tokio::time::sleep(50 * MS).await;
        for rival in [&before, &after] {
            outcome.try_once(rival, &guard).await;
        }
    }
    outcome
}

impl Outcome {
    async fn try_once(&mut self, rival: &Redlock, guard: &Guard) {
        match rival.try_acquire("r").await {
            Ok(theirs) => {
                // If this guard is valid after the check of the other one, it was also valid during
                // that check.
                if theirs.is_valid() && guard.is_valid() {
                    self.second_holders += 1;
                }
                drop(theirs.release().await);
            }
            Err(error) => self.warming = self.warming.max(warming(error.nodes()).len()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn restarts_under_a_lock_let_no_client_in_beside_it() {
    for n in [3, 5] {
        let outcome = restarts_under_a_lock(&Masters::start(n), guarded).await;
        assert_eq!(outcome.second_holders, 0, "{n} masters: {outcome:?}");
        assert!(outcome.warming > n / 2, "the rivals have met those that restarted: {outcome:?}");
    }
}

/// The same restarts: without the guard they lead to two holders, so the test above can fail.
#[tokio::test(start_paused = true)]
async fn without_the_guard_the_same_restarts_let_a_second_holder_in() {
    for n in [3, 5] {
        let outcome = restarts_under_a_lock(&Masters::start(n), unguarded).await;
        assert!(outcome.second_holders > 0, "{n} masters: {outcome:?}");
        assert_eq!(outcome.warming, 0);
    }
}

/// The quarantine counts from the restart, and ends by itself.
#[tokio::test(start_paused = true)]
async fn after_restarts_the_next_holder_enters_once_the_guard_ends() {
    let masters = Masters::start(3);
    let (ours, theirs) = (connect(guarded(&masters)).await, connect(guarded(&masters)).await);
    let guard = ours.acquire("r").await.unwrap();
    everywhere(&masters, "r").await;
    masters[0].restart();
    let first = Instant::now();
    masters[1].restart();
    let second = Instant::now();
    let _next = theirs.acquire("r").await.unwrap();
    let (waited, since_second) = (first.elapsed(), second.elapsed());
    assert!(!guard.is_valid());
    // The third master had the key until it expired; next to it, one of the two is enough.
    assert!(waited >= QUARANTINE, "after {waited:?}");
    // A server reports its uptime in whole seconds, so it may be thought a second younger.
    let latest = QUARANTINE + Duration::from_secs(1) + AT_ONCE;
    assert!(since_second < latest, "after {since_second:?}");
}

/// One master at a time, each after the one before it votes again: a rolling restart.
#[tokio::test(start_paused = true)]
async fn restarts_one_quarantine_apart_cost_no_holder_its_lock() {
    let masters = Masters::start(3);
    let (ours, theirs) = (connect(guarded(&masters)).await, connect(guarded(&masters)).await);
    let guard = ours.acquire("r").keep_alive().await.unwrap();
    for server in masters.iter() {
        everywhere(&masters, "r").await;
        server.restart();
        let votes_again = Instant::now() + QUARANTINE + AT_ONCE;
        while Instant::now() < votes_again {
            guard.check().unwrap();
            let refused = theirs.try_acquire("r").await.unwrap_err();
            assert!(!warming(refused.nodes()).is_empty() || refused.is_contended(), "{refused}");
            tokio::time::sleep(100 * MS).await;
        }
    }
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
}

#[tokio::test(start_paused = true)]
async fn an_acquire_on_fresh_masters_reports_how_long_they_warm_up() {
    let masters = Masters::start_young(3);
    let redlock = connect(guarded(&masters)).await;
    let asked = Instant::now();
    let refused = redlock.try_acquire("r").await.unwrap_err();
    assert!(matches!(refused, AcquireError::NoQuorum(_)), "{refused}");
    let waits = warming(refused.nodes());
    assert_eq!(waits.len(), 3, "{refused}");
    for remaining in &waits {
        assert!(*remaining <= QUARANTINE && *remaining + AT_ONCE > QUARANTINE, "{refused}");
    }
    let text = refused.to_string();
    assert!(
        text.contains("warming up (may vote in 2.9 s") || text.contains("(may vote in 3 s"),
        "{text}"
    );
    witness::eventually_none(&masters, |key| key == "r", SOON).await;

    // The reported wait was true: not before, and then without another pause.
    let mut waits = waits;
    waits.sort_unstable();
    let due = asked + waits[1];
    let guard = redlock.acquire("r").await.unwrap();
    let served = Instant::now();
    assert!(served >= due, "{:?} too early", due - served);
    assert!(served < due + AT_ONCE, "{:?} late", served - due);
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
}

/// The end of the guard wakes a waiter, before its own next try.
#[tokio::test(start_paused = true)]
async fn a_waiting_acquire_is_served_when_the_guard_ends() {
    let masters = Masters::start_young(3);
    let redlock = connect(guarded(&masters).backoff(Backoff { base: LONG, cap: LONG })).await;
    let began = Instant::now();
    redlock.acquire("r").await.unwrap().release().await.unwrap();
    let waited = began.elapsed();
    assert!(waited >= QUARANTINE, "after {waited:?}");
    assert!(waited < QUARANTINE + AT_ONCE, "after {waited:?}");
}

/// A master whose age clients may not read waits from each connect on, however old it is.
#[tokio::test(start_paused = true)]
async fn a_master_of_unknown_age_waits_from_the_connect_on() {
    let masters = Masters::start(3);
    assert!(connect(guarded(&masters)).await.try_acquire("r").await.is_ok());
    for master in masters.iter() {
        master.deny(&["info"]).unwrap();
    }
    let denied = connect(guarded(&masters)).await;
    let began = Instant::now();
    let refused = denied.try_acquire("s").await.unwrap_err();
    assert_eq!(warming(refused.nodes()).len(), 3, "{refused}");
    denied.acquire("s").await.unwrap().release().await.unwrap();
    assert!(began.elapsed() >= QUARANTINE, "after {:?}", began.elapsed());
    assert!(began.elapsed() < QUARANTINE + AT_ONCE, "after {:?}", began.elapsed());
}
