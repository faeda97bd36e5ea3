//! Claims about fair locks: the order in which waiters are served, and what they leave.

use super::{Backend, Cluster, LONG, SHORT, SOON, assert_contended, eventually};
use quorumlock::{Guard, Redlock, Released};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const PRINTER: &str = "printer";
const QUEUE: &str = "quorumlock:queue:printer";
const ALIVE: &str = "quorumlock:alive:printer";
/// What is under the key while it is kept, with the name of the next.
const KEPT: &str = "quorumlock:next:";
const MS: Duration = Duration::from_millis(1);

/// How long a key is kept for the next.
const KEPT_FOR: Duration = Duration::from_secs(4);
/// Shorter than a place lives that is not renewed.
const GIVEN_BACK: Duration = Duration::from_millis(1_800);

async fn hold(redlock: &Redlock) -> Guard {
    redlock.try_acquire(PRINTER).fair().ttl(LONG).await.unwrap()
}

fn begin_to_wait(redlock: &Redlock) -> JoinHandle<Guard> {
    let acquire = redlock.acquire(PRINTER).fair().ttl(LONG).timeout(LONG).into_future();
    tokio::spawn(async move { acquire.await.unwrap() })
}

/// Returns the queue of a master: the waiters, each followed by its ticket.
async fn queue(cluster: &impl Cluster, node: usize) -> Vec<String> {
    cluster.read(node, redis::cmd("ZRANGE").arg(QUEUE).arg(0).arg(-1).arg("WITHSCORES")).await
}

/// Waits until so many stand in the queue, in the same order on every master.
async fn stand(cluster: &impl Cluster, waiters: usize, within: Duration) {
    let stand = async || {
        let first = queue(cluster, 0).await;
        let mut alike = first.len() == 2 * waiters;
        for node in 1..cluster.len() {
            alike &= queue(cluster, node).await == first;
        }
        alike
    };
    eventually(&format!("{waiters} stand in the queue"), within, stand).await;
}

/// Waits until nothing is left of the lock and of its queue.
async fn nothing_is_left(cluster: &impl Cluster) {
    for key in [PRINTER, QUEUE, ALIVE] {
        cluster.eventually_gone(key).await;
    }
    for node in 0..cluster.len() {
        let keys = cluster.keys(node).await;
        assert!(keys.iter().all(|key| key.starts_with("quorumlock:fence:")), "{keys:?}");
    }
}

/// Puts a waiter at the head of each queue that does not answer, as if its process had stopped.
async fn one_is_silent(cluster: &impl Cluster, name: &str) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let until = u64::try_from((now + LONG).as_millis()).unwrap();
    for node in 0..cluster.len() {
        for (key, score) in [(QUEUE, 1), (ALIVE, until)] {
            let mut add = redis::cmd("ZADD");
            let _added: i64 = cluster.read(node, add.arg(key).arg(score).arg(name)).await;
        }
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
        stand(&cluster, place + 1, SOON).await;
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
    stand(&cluster, 1, SOON).await;
    let second = begin_to_wait(&cluster.client().await);
    stand(&cluster, 2, SOON).await;
    first.abort();
    stand(&cluster, 1, GIVEN_BACK).await;
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
    let alone = assert_contended(other.acquire(PRINTER).fair().timeout(wait).await);
    assert_eq!(alone.ahead, Some(0), "{alone}");
    let stays = begin_to_wait(&client);
    stand(&cluster, 1, SOON).await;
    let behind = assert_contended(other.acquire(PRINTER).fair().timeout(wait).await);
    assert_eq!(behind.ahead, Some(1), "{behind}");
    assert!(behind.waited >= wait, "{:?}", behind.waited);
    stand(&cluster, 1, GIVEN_BACK).await;
    stays.abort();
    stand(&cluster, 0, GIVEN_BACK).await;
    cluster.eventually_held_by(PRINTER, &[0, 1, 2]).await;
    holder.release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn fair_and_plain_acquires_exclude_each_other<B: Backend>() {
    const WINS: usize = 8;
    let cluster = B::masters(3).await;
    let (inside, working) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(2)));
    let mut tasks = Vec::new();
    for is_fair in [true, false, true, false] {
        let redlock = cluster.client().await;
        let (inside, working) = (inside.clone(), working.clone());
        tasks.push(tokio::spawn(async move {
            // A plain acquire may wait for as long as others wait in turn.
            let mut wins = 0;
            while wins < WINS && (is_fair || working.load(SeqCst) > 0) {
                let acquire = redlock.acquire(PRINTER).ttl(LONG);
                let acquire = match is_fair {
                    true => acquire.fair().timeout(LONG),
                    false => acquire.timeout(SHORT),
                };
                let Ok(guard) = acquire.await else {
                    assert!(!is_fair, "a fair acquire is served");
                    continue;
                };
                assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                sleep(5 * MS).await;
                inside.fetch_sub(1, SeqCst);
                guard.release().await.unwrap();
                wins += 1;
            }
            working.fetch_sub(usize::from(is_fair), SeqCst);
        }));
    }
    for task in tasks {
        timeout(LONG, task).await.unwrap().unwrap();
    }
    let plain = cluster.client().await.acquire(PRINTER).await.unwrap();
    plain.release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn fencing_tokens_rise_from_turn_to_turn<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let fenced = |redlock: &Redlock| redlock.acquire(PRINTER).fair().fenced().ttl(LONG);
    let plain = client.acquire(PRINTER).fenced().await.unwrap();
    let mut last = plain.fencing_token();
    plain.release().await.unwrap();
    let mut holder = fenced(&client).await.unwrap();
    for next in [&other, &client, &other] {
        assert!(holder.fencing_token() > last, "{:?} after {last:?}", holder.fencing_token());
        last = holder.fencing_token();
        let waits = tokio::spawn(fenced(next).timeout(LONG).into_future());
        stand(&cluster, 1, SOON).await;
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
    let holder = cluster.client().await.acquire(PRINTER).fair().ttl(LONG).await.unwrap();
    let token = cluster.value(1, PRINTER).await;
    let waits = begin_to_wait(&cluster.client().await);
    stand(&cluster, 1, SOON).await;
    // What is kept on a minority for another is vacant to the holder.
    cluster.set_foreign(0, PRINTER, &format!("{KEPT}another"), LONG).await;
    holder.extend().await.unwrap();
    let is_back = async || cluster.value(0, PRINTER).await == token;
    eventually("the holder has the key back", SOON, is_back).await;
    // As long as it takes to look twice.
    sleep(2_200 * MS).await;
    holder.extend().await.unwrap();
    assert!(holder.check().is_ok() && !waits.is_finished());
    stand(&cluster, 1, SOON).await;
    holder.release().await.unwrap();
    timeout(SOON, waits).await.unwrap().unwrap().release().await.unwrap();
    nothing_is_left(&cluster).await;
}

pub(crate) async fn a_kept_key_keeps_all_others_out_for_two_seconds<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let holder = hold(&client).await;
    one_is_silent(&cluster, "silent").await;
    let began = Instant::now();
    assert_eq!(holder.release().await, Ok(Released::Confirmed));
    let kept = format!("{KEPT}silent");
    let is_kept = async || cluster.values(PRINTER).await == vec![Some(kept.clone()); 3];
    eventually("the key is kept everywhere", KEPT_FOR, is_kept).await;
    let mut set = redis::cmd("SET");
    set.arg(PRINTER).arg("theirs").arg("NX").arg("PX").arg(100);
    for node in 0..3 {
        let done: Option<String> = cluster.read(node, &set).await;
        assert_eq!(done, None, "node {node}");
    }
    for redlock in [&client, &other] {
        assert_contended(redlock.try_acquire(PRINTER).await);
        assert_contended(redlock.try_acquire(PRINTER).fair().await);
    }
    assert!(is_kept().await || began.elapsed() > GIVEN_BACK, "a refused attempt changes nothing");
    let guard = other.acquire(PRINTER).timeout(LONG).await.unwrap();
    let took = began.elapsed();
    assert!((GIVEN_BACK..LONG / 2).contains(&took), "{took:?}");
    guard.release().await.unwrap();
}

pub(crate) async fn one_attempt_takes_no_place<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let holder = hold(&client).await;
    cluster.eventually_held_by(PRINTER, &[0, 1, 2]).await;
    let before = cluster.values(PRINTER).await;
    let refused = assert_contended(other.try_acquire(PRINTER).fair().await);
    assert_eq!((refused.ahead, refused.attempts), (None, 1), "{refused}");
    assert_eq!(cluster.values(PRINTER).await, before);
    assert_eq!(other.inspect(PRINTER).await.unwrap().waiting(), Some(0));
    for node in 0..3 {
        assert_eq!(cluster.keys(node).await, [PRINTER]);
    }
    holder.release().await.unwrap();
    nothing_is_left(&cluster).await;
}
