//! Locks over embedded masters, on ports and in memory: what a user of the kit would test.

use crate::support::prelude::*;
use quorumlock::embedded::{Masters, Memory};
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, Redlock, Released, RestartGuard};
use std::io::ErrorKind;
use std::time::{Duration, Instant, SystemTime};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

const KEY: &str = "orders:42";

fn both_kinds() -> [Masters; 2] {
    [Masters::start(5).unwrap(), Masters::start_in_memory(5).unwrap()]
}

/// Connects a client that lets masters restarted by a test vote at once.
async fn connect(masters: &Masters) -> Redlock {
    masters
        .builder()
        .restart_guard(RestartGuard::Off)
        .ttl(Duration::from_secs(5))
        .connect()
        .await
        .unwrap()
}

fn holders(masters: &Masters) -> Vec<usize> {
    (0..masters.len()).filter(|&node| masters[node].holder(KEY).is_some()).collect()
}

async fn is_open(masters: &Masters, redlock: &Redlock) {
    eventually("the lock can be had on all", SOON, async || {
        let Ok(guard) = redlock.try_acquire(KEY).await else { return false };
        let all = holders(masters).len() == masters.len();
        guard.release().await.unwrap();
        all
    })
    .await;
}

#[tokio::test]
async fn a_lock_is_acquired_extended_and_released() {
    for masters in both_kinds() {
        let redlock = connect(&masters).await;
        let guard = redlock.acquire(KEY).await.unwrap();
        eventually("all hold it", SOON, async || holders(&masters).len() == 5).await;
        assert_eq!(masters[0].keys(), [KEY]);
        let other = connect(&masters).await;
        assert!(other.try_acquire(KEY).await.unwrap_err().is_contended());

        tokio::time::sleep(Duration::from_millis(100)).await;
        let before = guard.deadline();
        assert!(guard.extend().await.unwrap() > before);
        assert!(masters[0].time_to_live(KEY).unwrap() > Duration::from_millis(4950));

        assert!(matches!(guard.release().await, Ok(Released::Confirmed)));
        eventually("none holds it", SOON, async || holders(&masters).is_empty()).await;
    }
}

#[tokio::test]
async fn two_of_five_may_die_and_three_may_not() {
    for masters in both_kinds() {
        let redlock = connect(&masters).await;
        masters[0].kill();
        masters[1].kill();
        let guard = redlock.acquire(KEY).await.unwrap();
        eventually("the others hold it", SOON, async || holders(&masters) == [2, 3, 4]).await;
        guard.release().await.unwrap();

        masters[2].kill();
        assert!(redlock.try_acquire(KEY).await.unwrap_err().is_no_quorum());

        for node in 0..3 {
            masters[node].restart(Memory::Lost).unwrap();
        }
        is_open(&masters, &redlock).await;
    }
}

#[tokio::test]
async fn a_restart_keeps_the_keys_or_loses_them() {
    for masters in both_kinds() {
        let redlock = connect(&masters).await;
        let _guard = redlock.acquire(KEY).await.unwrap();
        eventually("all hold it", SOON, async || holders(&masters).len() == 5).await;
        masters[0].restart(Memory::Kept).unwrap();
        masters[1].restart(Memory::Lost).unwrap();
        assert_eq!(holders(&masters), [0, 2, 3, 4]);
    }
}

/// A SET that a paused master has received is executed when it resumes: the crate must clean up.
#[tokio::test]
async fn a_set_on_a_paused_or_cut_off_majority_leaves_nothing_behind() {
    for masters in both_kinds() {
        let redlock = connect(&masters).await;
        for node in 0..3 {
            if node == 0 { masters[node].partition() } else { masters[node].pause() }
        }
        assert!(redlock.try_acquire(KEY).await.unwrap_err().is_no_quorum());
        eventually("it is rolled back", SOON, async || holders(&masters).is_empty()).await;
        for silent in &masters[..3] {
            assert_eq!(silent.keys(), [""; 0], "nothing is executed meanwhile");
        }
        masters[0].heal();
        masters[1].resume();
        masters[2].resume();
        is_open(&masters, &redlock).await;
        eventually("none holds it", SOON, async || holders(&masters).is_empty()).await;
    }
}

#[tokio::test]
async fn slow_answers_arrive_late_and_in_order() {
    let late = Duration::from_millis(60);
    for masters in both_kinds() {
        let redlock = connect(&masters).await;
        masters.iter().take(3).for_each(|master| master.set_latency(late));
        let began = Instant::now();
        let guard = redlock.acquire(KEY).await.unwrap();
        assert!(began.elapsed() >= late, "won after {:?}", began.elapsed());
        masters.iter().for_each(|master| master.set_latency(Duration::ZERO));
        guard.release().await.unwrap();
        eventually("none holds it", SOON, async || holders(&masters).is_empty()).await;
    }
}

#[tokio::test]
async fn a_masters_own_clock_decides_when_its_keys_expire() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = connect(&masters).await;
    let _guard = redlock.acquire(KEY).await.unwrap();
    eventually("all hold it", SOON, async || holders(&masters).len() == 3).await;
    masters[1].set_clock(|| SystemTime::now() + Duration::from_secs(6));
    assert_eq!(holders(&masters), [0, 2]);
}

async fn info_field(client: &redis::Client, section: &str, field: &str) -> Option<String> {
    let mut connection = witness::connect(client).await.unwrap();
    let info: redis::InfoDict =
        redis::cmd("INFO").arg(section).query_async(&mut connection).await.unwrap();
    info.get(field)
}

#[tokio::test]
async fn a_master_has_been_up_for_a_day_and_after_a_restart_is_young() {
    let masters = Masters::start(1).unwrap();
    let client = redis::Client::open(masters[0].url()).unwrap();
    let uptime = async || {
        let up = info_field(&client, "server", "uptime_in_seconds").await.unwrap();
        up.parse::<u64>().unwrap()
    };
    assert!((86_400..86_460).contains(&uptime().await));
    masters[0].set_clock(|| SystemTime::UNIX_EPOCH);
    assert!((86_400..86_460).contains(&uptime().await), "another clock is no step");

    masters[0].restart(Memory::Kept).unwrap();
    assert_eq!(uptime().await, 0);
    masters[0].set_uptime(Duration::from_secs(7));
    assert_eq!(uptime().await, 7);
    masters[0].kill();
    masters[0].restart(Memory::Kept).unwrap();
    assert_eq!(uptime().await, 0);
}

#[tokio::test]
async fn an_extension_that_is_denied_fails_until_it_is_allowed() {
    for masters in both_kinds() {
        for master in masters.iter() {
            master.deny(&["client|kill", "evalsha"]).unwrap();
        }
        assert_eq!(masters[0].deny(&["kill"]).unwrap_err().kind(), ErrorKind::InvalidInput);
        let redlock = connect(&masters).await;
        let guard = redlock.acquire(KEY).await.unwrap();
        assert!(guard.extend().await.is_err(), "the extension is denied");
        for master in masters.iter() {
            master.deny(&[]).unwrap();
        }
        guard.extend().await.unwrap();
        guard.release().await.unwrap();
    }
}

#[tokio::test]
async fn a_killed_master_refuses_and_comes_back_on_its_port() {
    let masters = Masters::start(1).unwrap();
    let address = masters[0].url().trim_start_matches("redis://").to_owned();
    let mut open = TcpStream::connect(&address).await.unwrap();
    masters[0].kill();
    let refused = TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(open.read(&mut [0; 8]).await.unwrap_or(0), 0, "the connection is cut");
    assert!((masters[0].dialer())().await.is_err());

    masters[0].restart(Memory::Lost).unwrap();
    TcpStream::connect(&address).await.unwrap();
    drop(masters);
    assert!(TcpStream::connect(&address).await.is_err());
}

/// The `redis` client, which tests use as a witness and applications use, works with it.
#[tokio::test]
async fn the_redis_crate_can_look_at_an_embedded_master() {
    let masters = Masters::start(1).unwrap();
    let client = redis::Client::open(masters[0].url()).unwrap();
    let mut connection = witness::connect(&client).await.unwrap();
    let mut set = redis::cmd("SET");
    set.arg(KEY).arg("somebody").exec_async(&mut connection).await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert_eq!(keys, [KEY]);
    assert_eq!(masters[0].holder(KEY).as_deref(), Some("somebody"));
    assert_eq!(masters[0].time_to_live(KEY), Some(Duration::MAX));
}

/// A task that acquires twice waits for itself, and would not know why.
#[tokio::test]
async fn a_caller_that_acquires_twice_learns_of_the_reentrant_handle() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (redlock, other) = (connect(&masters).await, connect(&masters).await);
    let _guard = redlock.acquire(KEY).await.unwrap();
    let short = Duration::from_millis(20);
    for again in
        [redlock.acquire_all([KEY, "another"]).timeout(short), redlock.try_acquire_all([KEY])]
    {
        let Err(AcquireError::Contended(held)) = again.await else { panic!("it is held") };
        assert_eq!((&held.obstacle, held.nodes.len()), (&Obstacle::OwnGuard, 0));
        let text = held.to_string();
        assert!(text.contains("is held by this client (after "), "{text}");
        assert!(text.ends_with("to nest, acquire through one Redlock::reentrant()"), "{text}");
    }
    // Another client of the same process gets the error that it would get anywhere.
    let Err(AcquireError::Contended(held)) = other.try_acquire(KEY).await else { panic!() };
    let label = held.obstacle.holder().unwrap_or_default();
    assert!(label.ends_with(&format!(":{}", std::process::id())), "{held}");
}

/// Others of this client that wait are no guard of it.
#[tokio::test]
async fn a_waiter_behind_other_callers_learns_that() {
    let masters = Masters::start_in_memory(1).unwrap();
    let (redlock, other) = (connect(&masters).await, connect(&masters).await);
    let _guard = other.acquire(KEY).await.unwrap();
    let mut first = redlock.acquire(KEY).timeout(Duration::MAX).into_future();
    assert!(futures::poll!(&mut first).is_pending());
    let behind = redlock.acquire(KEY).timeout(Duration::from_millis(20)).await.unwrap_err();
    let AcquireError::Contended(behind) = behind else { panic!("{behind}") };
    assert_eq!(behind.obstacle, Obstacle::LocalQueue, "{behind}");
    assert!(behind.to_string().contains("is waited for by other callers of this client"));
}

#[tokio::test]
async fn a_warm_up_that_is_all_that_lacks_is_named_first() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    for node in 0..2 {
        masters[node].kill();
        masters[node].restart(Memory::Lost).unwrap();
    }
    let fails_with = async |lead: &str| {
        eventually("the error says so", SOON, async || {
            let error = redlock.try_acquire(KEY).await.unwrap_err().to_string();
            error.starts_with(lead)
        })
        .await;
    };
    fails_with("no quorum for \"orders:42\": masters are warming up, enough may vote in 3").await;
    // Time alone does not help any more.
    masters[2].kill();
    masters[1].kill();
    fails_with("no quorum for \"orders:42\": 0 of 3 masters may vote, 2 needed (after ").await;
}
