//! Claims about read-write locks: which readers and writers wait for each other, and for how long.

use super::{Backend, Cluster, LONG, SHORT, SOON, assert_prompt, eventually};
use quorumlock::{ReadGuard, Redlock};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const TABLE: &str = "table:7";
const HINT: &str = "quorumlock:wants:table:7";
const READERS: &str = "quorumlock:readers:table:7";
const MS: Duration = Duration::from_millis(1);

/// How long the hint of a writer stands unless it is renewed.
const HINT_LIFE: Duration = Duration::from_secs(3);

async fn read(redlock: &Redlock) -> ReadGuard {
    redlock.rw_lock(TABLE).try_read().ttl(LONG).await.unwrap()
}

fn begin_to_read(redlock: &Redlock) -> JoinHandle<ReadGuard> {
    let read = redlock.rw_lock(TABLE).read().ttl(LONG).timeout(LONG).into_future();
    tokio::spawn(async move { read.await.unwrap() })
}

/// Asserts that no lock of any kind excludes the readers, and that no client has one.
async fn assert_closed_to_writers(redlock: &Redlock) {
    let error = redlock.rw_lock(TABLE).try_write().await.unwrap_err();
    assert!(error.is_contended() && error.holder().is_none(), "{error}");
    for fails in
        [redlock.try_acquire(TABLE).await.err(), redlock.try_acquire_all([TABLE, "z"]).await.err()]
    {
        assert!(fails.unwrap().is_contended());
    }
    assert!(redlock.try_acquire(TABLE).fenced().await.unwrap_err().is_contended());
}

pub(crate) async fn readers_read_together_and_keep_every_writer_out<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let readers = [read(&client).await, read(&other).await, read(&client).await];
    for redlock in [&client, &other] {
        assert_closed_to_writers(redlock).await;
    }
    let write = other.rw_lock(TABLE).write().timeout(300 * MS).await.unwrap_err();
    assert!(write.to_string().starts_with("\"table:7\" is held by readers: "), "{write}");
    assert_eq!(write.holder(), None, "{write}");
    for (left, reader) in (0..3).rev().zip(readers) {
        reader.check().unwrap();
        reader.extend().await.unwrap();
        reader.release().await.unwrap();
        if left > 0 {
            assert_closed_to_writers(&other).await;
        }
    }
    let writer = other.rw_lock(TABLE).write().await.unwrap();
    for redlock in [&client, &other] {
        assert!(redlock.rw_lock(TABLE).try_read().await.unwrap_err().is_contended());
    }
    writer.release().await.unwrap();
    cluster.eventually_gone(TABLE).await;
    cluster.eventually_gone(HINT).await;
    for node in 0..3 {
        let keys = cluster.keys(node).await;
        assert!(keys.iter().all(|key| key.starts_with("quorumlock:fence:")), "{keys:?}");
    }
}

pub(crate) async fn a_lock_of_any_kind_keeps_readers_out<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let plain = client.acquire(TABLE).await.unwrap();
    assert!(other.rw_lock(TABLE).try_read().await.unwrap_err().is_contended());
    assert!(client.rw_lock(TABLE).try_read().await.unwrap_err().is_contended());
    let waiting = begin_to_read(&other);
    sleep(100 * MS).await;
    assert!(!waiting.is_finished());
    plain.release().await.unwrap();
    let read = timeout(SOON, waiting).await.unwrap().unwrap();
    read.release().await.unwrap();
    for node in 0..2 {
        cluster.set_foreign(node, TABLE, "another client's", LONG).await;
    }
    assert!(other.rw_lock(TABLE).try_read().await.unwrap_err().is_contended());
    assert_eq!(cluster.value(0, TABLE).await.as_deref(), Some("another client's"));
}

pub(crate) async fn a_writer_gets_in_beside_readers_that_overlap<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other, writes) =
        (cluster.client().await, cluster.client().await, cluster.client().await);
    let readers = [client.clone(), client, other.clone(), other].map(|redlock| {
        tokio::spawn(async move {
            let began = Instant::now();
            let mut times = 0;
            while began.elapsed() < Duration::from_secs(2) {
                let guard = redlock.rw_lock(TABLE).read().timeout(LONG).await.unwrap();
                sleep(Duration::from_millis(40 + 7 * (times % 3))).await;
                drop(guard);
                times += 1;
            }
            times
        })
    });
    sleep(150 * MS).await;
    for _ in 0..3 {
        let began = Instant::now();
        let guard = writes.rw_lock(TABLE).write().timeout(LONG).await.unwrap();
        assert_prompt::<B>(began.elapsed(), Duration::from_secs(1));
        guard.release().await.unwrap();
    }
    for reader in readers {
        let times = reader.await.unwrap();
        assert!(times >= 3, "read {times} times");
    }
}

pub(crate) async fn a_new_reader_waits_behind_a_writer_that_waits<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other, third) =
        (cluster.client().await, cluster.client().await, cluster.client().await);
    let first = read(&client).await;
    let write = other.rw_lock(TABLE).write().timeout(LONG).into_future();
    let writer = tokio::spawn(async move { write.await.unwrap() });
    cluster.eventually_held_by(HINT, &[0, 1, 2]).await;
    let error = third.rw_lock(TABLE).try_read().await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("\"table:7\" is wanted by a writer that waits: "), "{text}");
    assert!(error.is_contended() && error.holder().is_none(), "{text}");
    let later = begin_to_read(&third);
    sleep(100 * MS).await;
    assert!(!writer.is_finished() && !later.is_finished());
    first.release().await.unwrap();
    let writer = timeout(SOON, writer).await.unwrap().unwrap();
    cluster.eventually_gone(HINT).await;
    assert!(!later.is_finished(), "beside a writer");
    writer.release().await.unwrap();
    timeout(SOON, later).await.unwrap().unwrap().release().await.unwrap();
}

pub(crate) async fn a_writer_that_gives_up_lets_readers_in<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let first = read(&client).await;
    let mut write = Box::pin(other.rw_lock(TABLE).write().timeout(LONG).into_future());
    let _ = futures::poll!(&mut write);
    cluster.eventually_held_by(HINT, &[0, 1, 2]).await;
    let waiting = begin_to_read(&client);
    sleep(50 * MS).await;
    assert!(!waiting.is_finished());
    let began = Instant::now();
    drop(write);
    let second = timeout(SOON, waiting).await.unwrap().unwrap();
    // Another writer's hint might have stood there: that one has renewed its own by then.
    let took = began.elapsed();
    assert!((1_000 * MS..2 * HINT_LIFE).contains(&took), "{took:?}");
    cluster.eventually_gone(HINT).await;
    drop((first, second));
}

pub(crate) async fn a_writer_that_dies_while_it_waits_costs_readers_three_seconds<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    for node in 0..3 {
        cluster.set_foreign(node, HINT, "of the dead", HINT_LIFE).await;
    }
    let began = Instant::now();
    assert!(client.rw_lock(TABLE).try_read().await.unwrap_err().is_contended());
    let guard = client.rw_lock(TABLE).read().timeout(LONG).await.unwrap();
    let took = began.elapsed();
    // An attempt that a busy machine made too slow costs a pause more.
    assert!((2_000 * MS..3 * HINT_LIFE).contains(&took), "{took:?}");
    guard.release().await.unwrap();
}

pub(crate) async fn a_reader_that_dies_expires_by_itself_and_others_stay<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    client.rw_lock(TABLE).read().ttl(SHORT).await.unwrap().forget();
    let stays = other.rw_lock(TABLE).read().ttl(2 * SHORT).await.unwrap();
    sleep(SHORT + SHORT / 4).await;
    assert!(stays.check().is_ok());
    assert_closed_to_writers(&client).await;
    stays.forget();
    let began = Instant::now();
    let writer = client.rw_lock(TABLE).write().timeout(LONG).await.unwrap();
    assert_prompt::<B>(began.elapsed(), SHORT + SHORT / 2);
    writer.release().await.unwrap();
    // The names of the dead stay for a second more.
    for node in 0..3 {
        let is_gone = async || cluster.pttl(node, READERS).await == -2;
        eventually("nothing is left of readers", SOON, is_gone).await;
    }
}

pub(crate) async fn readers_that_wait_get_in_when_the_writer_becomes_one<B: Backend>() {
    let cluster = B::masters(3).await;
    let clients = [cluster.client().await, cluster.client().await, cluster.client().await];
    let [client, other, _] = &clients;
    let write = client.rw_lock(TABLE).write().ttl(LONG).await.unwrap();
    let lease = write.lease();
    let waiting: Vec<_> = (0..10).map(|n| begin_to_read(&clients[n % 3])).collect();
    sleep(300 * MS).await;
    assert!(waiting.iter().all(|reader| !reader.is_finished()));
    let began = Instant::now();
    let read = write.downgrade().await.unwrap();
    let mut readers = Vec::new();
    for reader in waiting {
        readers.push(timeout(SOON, reader).await.unwrap().unwrap());
    }
    assert_prompt::<B>(began.elapsed(), 100 * MS);
    assert!(read.check().is_ok() && !lease.is_valid(), "no lease of the writer goes on");
    assert_closed_to_writers(other).await;
    read.extend().await.unwrap();
    drop((read, readers));
    cluster.eventually_gone(TABLE).await;
}

pub(crate) async fn readers_are_shown_and_taken_away_one_by_one<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let first = client.rw_lock(TABLE).read().ttl(LONG).label("worker-1").await.unwrap();
    let second = other.rw_lock(TABLE).read().ttl(LONG / 2).label("worker-2").await.unwrap();
    let seen = async || {
        let inspection = other.inspect(TABLE).await.unwrap();
        inspection.holder().map_or(0, |holder| holder.readers().len())
    };
    eventually("both are seen", SOON, async || seen().await == 2).await;
    let inspection = other.inspect(TABLE).await.unwrap();
    let holder = inspection.holder().unwrap();
    let labels: Vec<_> = holder.readers().iter().map(|reader| reader.label().unwrap()).collect();
    assert_eq!(labels, ["worker-1", "worker-2"]);
    assert!(holder.readers()[1].remaining().unwrap() <= LONG / 2);
    let mut list = other.list("");
    let listed = list.next().await.unwrap().unwrap();
    assert!(list.next().await.is_none(), "the readers' own key is no lock");
    assert_eq!((listed.is_held(), listed.holder().readers().len()), (true, 2), "{listed}");
    for text in [inspection.to_string(), listed.to_string()] {
        assert!(text.starts_with("\"table:7\" is read by worker-1 for "), "{text}");
        assert!(!text.contains("quorumlock:"), "{text}");
    }
    other.force_release_reader(&inspection, &holder.readers()[1]).await.unwrap();
    assert!(second.extend().await.is_err() && first.extend().await.is_ok());
    assert_closed_to_writers(&other).await;
    other.force_release(&other.inspect(TABLE).await.unwrap()).await.unwrap();
    assert!(first.extend().await.is_err());
    other.rw_lock(TABLE).try_write().await.unwrap().release().await.unwrap();
}
