//! Claims about fair locks: the order in which waiters are served, and what they leave.

use super::{Backend, Cluster, LONG, SOON, assert_contended, eventually};
use quorumlock::{Guard, Redlock, Released};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const PRINTER: &str = "printer";
const LIST: &str = "quorumlock:waitlist:printer";
const MS: Duration = Duration::from_millis(1);

async fn hold(redlock: &Redlock) -> Guard {
    redlock.try_acquire(PRINTER).fair(true).ttl(LONG).await.unwrap()
}

fn begin_to_wait(redlock: &Redlock) -> JoinHandle<Guard> {
    let acquire = redlock.acquire(PRINTER).fair(true).ttl(LONG).timeout(LONG).into_future();
    tokio::spawn(async move { acquire.await.unwrap() })
}

/// Waits until so many stand in the list, which is at one master.
async fn stand(cluster: &impl Cluster, waiters: usize) {
    let stand = async || {
        let mut standing = 0;
        for node in 0..cluster.len() {
            let all = redis::cmd("ZRANGE").arg(LIST).arg(0).arg(-1).to_owned();
            let listed: Vec<String> = cluster.read(node, &all).await;
            // A mark is no waiter.
            standing += listed.iter().filter(|name| !name.starts_with(['>', '!'])).count();
        }
        standing == waiters
    };
    eventually(&format!("{waiters} stand in the list"), SOON, stand).await;
}

/// Waits until nothing is left of the lock and of those that waited.
async fn nothing_is_left(cluster: &impl Cluster) {
    cluster.eventually_gone(PRINTER).await;
    stand(cluster, 0).await;
    for node in 0..cluster.len() {
        let keys = cluster.keys(node).await;
        assert!(keys.iter().all(|key| key.starts_with("quorumlock:fence:")), "{keys:?}");
    }
}

pub(crate) async fn waiters_are_served_in_the_order_in_which_they_came<B: Backend>() {
    let cluster = B::masters(3).await;
    let holder = hold(&cluster.client().await).await;
    let served = Arc::new(AtomicUsize::new(0));
    let mut waiting = Vec::new();
    for place in 0..3 {
        let waits = begin_to_wait(&cluster.client().await);
        let served = served.clone();
        waiting.push(tokio::spawn(async move {
            let guard = waits.await.unwrap();
            assert_eq!(served.fetch_add(1, SeqCst), place, "{place} is not served in turn");
            assert_eq!(guard.release().await, Ok(Released::Confirmed));
        }));
        stand(&cluster, place + 1).await;
    }
    assert_eq!(served.load(SeqCst), 0, "beside the holder");
    holder.release().await.unwrap();
    for waiter in waiting {
        timeout(SOON, waiter).await.unwrap().unwrap();
    }
    nothing_is_left(&cluster).await;
}

pub(crate) async fn a_cancelled_waiter_in_front_hands_on<B: Backend>() {
    let cluster = B::masters(3).await;
    let holder = hold(&cluster.client().await).await;
    let first = begin_to_wait(&cluster.client().await);
    stand(&cluster, 1).await;
    let second = begin_to_wait(&cluster.client().await);
    stand(&cluster, 2).await;
    first.abort();
    stand(&cluster, 1).await;
    assert!(!second.is_finished(), "beside the holder");
    holder.release().await.unwrap();
    timeout(SOON, second).await.unwrap().unwrap().release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn a_waiter_that_gives_up_learns_how_many_are_ahead_and_leaves_nothing<
    B: Backend,
>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let holder = hold(&cluster.client().await).await;
    let wait = 1_500 * MS;
    let alone = assert_contended(other.acquire(PRINTER).fair(true).timeout(wait).await);
    assert_eq!(alone.ahead, Some(0), "{alone}");
    let stays = begin_to_wait(&client);
    stand(&cluster, 1).await;
    let behind = assert_contended(other.acquire(PRINTER).fair(true).timeout(wait).await);
    assert_eq!(behind.ahead, Some(1), "{behind}");
    assert!(behind.waited >= wait, "{:?}", behind.waited);
    stand(&cluster, 1).await;
    stays.abort();
    stand(&cluster, 0).await;
    cluster.eventually_held_by(PRINTER, &[0, 1, 2]).await;
    holder.release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn fair_and_plain_acquires_exclude_each_other_and_are_served<B: Backend>() {
    let cluster = B::masters(3).await;
    let inside = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for is_fair in [true, false, true, false] {
        let (redlock, inside) = (cluster.client().await, inside.clone());
        tasks.push(tokio::spawn(async move {
            for _ in 0..8 {
                let acquire = redlock.acquire(PRINTER).ttl(LONG).timeout(LONG).fair(is_fair);
                let guard = acquire.await.unwrap();
                assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                sleep(5 * MS).await;
                inside.fetch_sub(1, SeqCst);
                guard.release().await.unwrap();
            }
        }));
    }
    for task in tasks {
        timeout(LONG, task).await.unwrap().unwrap();
    }
    nothing_is_left(&cluster).await;
}

pub(crate) async fn fencing_tokens_rise_from_turn_to_turn<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let fenced = |redlock: &Redlock| redlock.acquire(PRINTER).fair(true).fenced().ttl(LONG);
    let plain = client.acquire(PRINTER).fenced().await.unwrap();
    let mut last = plain.fencing_token();
    plain.release().await.unwrap();
    let mut holder = fenced(&client).await.unwrap();
    for next in [&other, &client, &other] {
        assert!(holder.fencing_token() > last, "{:?} after {last:?}", holder.fencing_token());
        last = holder.fencing_token();
        let waits = tokio::spawn(fenced(next).timeout(LONG).into_future());
        stand(&cluster, 1).await;
        assert!(!waits.is_finished());
        holder.extend().await.unwrap();
        holder.release().await.unwrap();
        holder = timeout(SOON, waits).await.unwrap().unwrap().unwrap();
    }
    assert!(holder.fencing_token() > last);
    last = holder.fencing_token();
    holder.release().await.unwrap();
    let plain = other.acquire(PRINTER).fenced().await.unwrap();
    assert!(plain.fencing_token() > last);
    plain.release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn an_extension_is_no_turn_of_the_waiters<B: Backend>() {
    let cluster = B::masters(3).await;
    let holder = cluster.client().await.acquire(PRINTER).fair(true).ttl(LONG).await.unwrap();
    let token = cluster.value(1, PRINTER).await;
    let waits = begin_to_wait(&cluster.client().await);
    stand(&cluster, 1).await;
    // What an older version keeps on a minority for another is vacant to the holder.
    cluster.set_foreign(0, PRINTER, "quorumlock:next:another", LONG).await;
    holder.extend().await.unwrap();
    let is_back = async || cluster.value(0, PRINTER).await == token;
    eventually("the holder has the key back", SOON, is_back).await;
    // As long as it takes to ask twice.
    sleep(2_200 * MS).await;
    holder.extend().await.unwrap();
    assert!(holder.check().is_ok() && !waits.is_finished());
    stand(&cluster, 1).await;
    holder.release().await.unwrap();
    timeout(SOON, waits).await.unwrap().unwrap().release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn a_single_attempt_behind_others_is_refused_before_it_is_made<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let holder = hold(&cluster.client().await).await;
    cluster.eventually_held_by(PRINTER, &[0, 1, 2]).await;
    for ahead in 0..2 {
        let sets = cluster.calls(0, "set").await;
        let refused = assert_contended(other.try_acquire(PRINTER).fair(true).await);
        assert_eq!((refused.ahead, refused.attempts), (Some(ahead), 0), "{refused}");
        assert_eq!(cluster.calls(0, "set").await, sets);
        stand(&cluster, usize::from(ahead)).await;
        if ahead == 0 {
            drop(begin_to_wait(&client));
            stand(&cluster, 1).await;
        }
    }
    holder.release().await.unwrap();
}
