//! A ttl is exactly what the caller asked for on every master, to the millisecond, or an error
//! names it: nothing is rounded away, wraps around or changes its unit.

use super::prelude::*;
use quorumlock::{
    AcquireError, ClockDrift, ConnectError, Guard, InvalidSetting, Redlock, RedlockBuilder,
};
use std::time::Duration;

const MAX_TTL: Duration = Duration::from_secs(20);
/// The longest ttl that is allowed: an `i64` of nanoseconds.
const AGES: Duration = Duration::from_nanos(i64::MAX as u64);
const DAY: Duration = Duration::from_secs(86_400);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn builder(masters: &Masters) -> RedlockBuilder {
    masters.builder().ttl(ms(10_000)).max_ttl(MAX_TTL)
}

/// Returns the life of the key in milliseconds: as long as no time passes, that of the one SET.
async fn px(server: &Master, key: &str) -> u128 {
    let mut life = None;
    let stands = async || {
        life = witness::pttl(server, key).await;
        life.is_some()
    };
    eventually("the SET has arrived", Duration::ZERO, stands).await;
    life.unwrap().as_millis()
}

/// Returns `ttl - drift`, with the default drift: the most validity that a holder may assume.
fn most(ttl: Duration) -> Duration {
    ttl - ttl / 100 - ms(2)
}

/// Acquires; a lock this short may well expire before it is won, and is then retried.
async fn acquire(redlock: &Redlock, resource: &str, ttl: Duration) -> (Guard, Duration) {
    for _ in 0..1_000 {
        match redlock.acquire(resource).ttl(ttl).await {
            Ok(guard) => {
                let remaining = guard.remaining();
                return (guard, remaining);
            }
            Err(AcquireError::NoQuorum(_)) => {}
            Err(other) => panic!("{ttl:?}: {other}"),
        }
    }
    panic!("no lock of {ttl:?} in a thousand tries");
}

async fn refusal(redlock: &Redlock, ttl: Duration) -> InvalidSetting {
    match redlock.try_acquire("refused").ttl(ttl).await {
        Err(AcquireError::InvalidSetting(invalid)) => invalid,
        other => panic!("{ttl:?}: {other:?}"),
    }
}

async fn misbuilt(builder: RedlockBuilder) -> InvalidSetting {
    match builder.connect().await {
        Err(ConnectError::InvalidSetting(invalid)) => invalid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_ttl_reaches_every_master_to_the_millisecond() {
    let masters = Masters::start(3);
    let redlock = builder(&masters).connect().await.unwrap();
    for ttl in [ms(4), ms(99), ms(100), ms(500), ms(1_000), ms(12_345), MAX_TTL] {
        let resource = format!("{ttl:?}");
        let began = Instant::now();
        let (guard, remaining) = acquire(&redlock, &resource, ttl).await;
        assert!(remaining <= most(ttl), "{ttl:?}: {remaining:?}");
        assert!(guard.remaining() <= remaining, "{ttl:?}");
        for server in masters.iter() {
            assert_eq!(px(server, &resource).await, ttl.as_millis(), "{ttl:?}");
        }
        if ttl >= ms(500) {
            for server in masters.iter() {
                let left = witness::pttl(server, &resource).await.expect("the key");
                let passed = began.elapsed() + ms(1);
                assert!(left <= ttl && left + passed >= ttl, "{ttl:?}: {left:?} of it");
            }
            assert!(
                remaining + began.elapsed() >= most(ttl),
                "{ttl:?}: {remaining:?} is too little"
            );
        }
        let _may_have_lapsed = guard.release().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_fraction_of_a_millisecond_is_cut_off_and_never_held() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).connect().await.unwrap();
    let ttl = Duration::from_nanos(500_999_999);
    let guard = redlock.acquire("r").ttl(ttl).await.unwrap();
    assert!(guard.remaining() <= most(ms(500)), "{:?}", guard.remaining());
    assert_eq!(px(&masters[0], "r").await, 500);
}

#[tokio::test(start_paused = true)]
async fn an_extension_prolongs_by_the_ttl_of_the_call() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).connect().await.unwrap();
    let ttl = ms(7_654);
    let guard = redlock.acquire("r").ttl(ttl).await.unwrap();
    tokio::time::sleep(SECOND).await;
    guard.extend().await.unwrap();
    assert_eq!(guard.remaining(), most(ttl));
    assert_eq!(px(&masters[0], "r").await, 7_654);
}

#[tokio::test(start_paused = true)]
async fn a_ttl_that_can_not_work_is_an_error_that_names_it() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).connect().await.unwrap();
    for (ttl, problem) in [
        (ms(0), "0s leaves no validity"),
        (ms(1), "1ms leaves no validity"),
        (ms(2), "2ms leaves no validity"),
        (ms(3), "3ms leaves no validity"),
        (Duration::from_nanos(3_999_999), "leaves no validity"),
        (MAX_TTL + ms(1), "20s 1ms is above max_ttl (20s)"),
        (ms(u64::MAX), "is above max_ttl (20s)"),
        (Duration::MAX, "is above max_ttl (20s)"),
    ] {
        for invalid in [refusal(&redlock, ttl).await, misbuilt(builder(&masters).ttl(ttl)).await] {
            assert_eq!(invalid.field, "ttl", "{ttl:?}: {invalid}");
            assert!(invalid.problem.contains(problem), "{ttl:?}: {invalid}");
        }
    }
    for max_ttl in [ms(0), ms(3), DAY + ms(1), AGES + ms(1), ms(u64::MAX), Duration::MAX] {
        let invalid = misbuilt(masters.builder().max_ttl(max_ttl)).await;
        assert_eq!(invalid.field, "max_ttl", "{max_ttl:?}: {invalid}");
    }
    assert_eq!(witness::calls(&masters[0]).await.get("set"), None);
}

#[tokio::test(start_paused = true)]
async fn the_longest_allowed_ttl_is_held_to_its_last_millisecond() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).max_ttl(AGES).allow_long_max_ttl(true).connect().await.unwrap();
    let guard = redlock.acquire("r").ttl(AGES).await.unwrap();
    assert_eq!(px(&masters[0], "r").await, AGES.as_millis());
    let most = most(ms(AGES.as_millis().try_into().unwrap()));
    let remaining = guard.remaining();
    assert!(remaining <= most && remaining + SOON > most, "{remaining:?} of {most:?}");
    guard.extend().await.unwrap();
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_drift_that_is_configured_is_taken_off() {
    let masters = Masters::start(1);
    for (rate_ppm, constant, most) in [
        (0, ms(0), ms(10_000)),
        (1, ms(0), Duration::from_nanos(9_999_990_000)),
        (10_000, ms(50), ms(9_850)),
        (500_000, ms(1), ms(4_999)),
    ] {
        let redlock =
            builder(&masters).drift(ClockDrift { rate_ppm, constant }).connect().await.unwrap();
        let guard = redlock.acquire("r").await.unwrap();
        let remaining = guard.remaining();
        assert!(remaining <= most && remaining + SOON > most, "{remaining:?} of {most:?}");
        let _may_have_lapsed = guard.release().await;
    }
}
