//! Readers beside each other, and a writer alone.

use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::embedded::Masters;
use quorumlock::error::LossReason;
use quorumlock::{ExtendError, Holder, ReadGuard, Redlock, Released, RestartGuard};
use std::future::IntoFuture;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const KEY: &str = "table:7";

async fn connect(masters: &Masters) -> Redlock {
    let builder = masters.builder().restart_guard(RestartGuard::Off);
    builder.ttl(Duration::from_secs(20)).connect().await.unwrap()
}

async fn clients<const N: usize>(masters: &Masters) -> [Redlock; N] {
    let clients = join_all((0..N).map(|_| connect(masters))).await;
    clients.try_into().unwrap_or_else(|_| unreachable!())
}

/// Returns what the masters have, apart from fences, which stay.
fn left(masters: &Masters) -> Vec<String> {
    let keys = masters.iter().flat_map(quorumlock::embedded::Master::keys);
    keys.filter(|key| !key.starts_with("quorumlock:fence:")).collect()
}

#[tokio::test]
async fn readers_hold_it_together_and_keep_every_writer_out() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other] = clients(&masters).await;
    let readers = (0..20).map(|n| {
        let redlock = if n % 2 == 0 { &one } else { &other };
        redlock.rw_lock(KEY).try_read().into_future()
    });
    let readers: Vec<ReadGuard> =
        join_all(readers).await.into_iter().collect::<Result<_, _>>().unwrap();
    for redlock in [&one, &other] {
        assert!(redlock.rw_lock(KEY).try_write().await.unwrap_err().is_contended());
        let plain = redlock.try_acquire(KEY).await.unwrap_err();
        assert!(plain.is_contended() && plain.holder().is_none(), "{plain}");
        assert!(redlock.try_acquire(KEY).fenced().await.unwrap_err().is_contended());
        assert!(redlock.try_acquire([KEY, "table:8"]).await.unwrap_err().is_contended());
    }
    for reader in readers {
        reader.check().unwrap();
        reader.extend().await.unwrap();
        reader.release().await.unwrap();
    }
    let plain = other.try_acquire(KEY).await.unwrap();
    for redlock in [&one, &other] {
        let error = redlock.rw_lock(KEY).try_read().await.unwrap_err();
        assert!(error.is_contended(), "{error}");
    }
    plain.release().await.unwrap();
    one.rw_lock(KEY).try_read().await.unwrap().release().await.unwrap();
    sleep(50 * MS).await;
    assert_eq!(left(&masters), [""; 0]);
}

#[tokio::test]
async fn a_writer_beside_readers_that_overlap_gets_in_and_they_follow() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other, third] = clients(&masters).await;
    let readers = [&one, &other].map(|redlock| {
        let table = redlock.rw_lock(KEY);
        tokio::spawn(async move {
            let (mut times, began) = (0, Instant::now());
            while began.elapsed() < Duration::from_secs(2) {
                let [first, second] = [table.read(), table.read()].map(IntoFuture::into_future);
                let first = first.await.unwrap();
                let overlapping = tokio::spawn(second);
                sleep(30 * MS).await;
                drop(first);
                drop(overlapping.await.unwrap().unwrap());
                times += 1;
            }
            times
        })
    });
    sleep(200 * MS).await;
    for _ in 0..3 {
        let began = Instant::now();
        let guard = third.rw_lock(KEY).write().await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert!(other.try_acquire(KEY).await.is_err(), "alone");
        guard.release().await.unwrap();
    }
    for reader in readers {
        let times = reader.await.unwrap();
        assert!(times > 5, "read {times} times");
    }
}

#[tokio::test]
async fn a_new_reader_waits_behind_a_writer_that_waits() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other, third] = clients(&masters).await;
    let first = one.rw_lock(KEY).read().await.unwrap();
    let writer = tokio::spawn(other.rw_lock(KEY).write().into_future());
    sleep(100 * MS).await;
    let error = third.rw_lock(KEY).try_read().await.unwrap_err();
    assert!(error.is_contended(), "{error}");
    assert!(
        error.to_string().starts_with("\"table:7\" is wanted by a writer that waits: "),
        "{error}"
    );
    assert_eq!(error.holder(), None);
    let later = tokio::spawn(third.rw_lock(KEY).read().into_future());
    sleep(100 * MS).await;
    assert!(!writer.is_finished() && !later.is_finished());
    assert!(first.check().is_ok());
    first.release().await.unwrap();
    let write = writer.await.unwrap().unwrap();
    sleep(100 * MS).await;
    assert!(!later.is_finished(), "beside a writer");
    write.release().await.unwrap();
    later.await.unwrap().unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_is_forgotten_expires_by_itself_and_the_others_stay() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other] = clients(&masters).await;
    let stays = one.rw_lock(KEY).read().await.unwrap();
    one.rw_lock(KEY).read().ttl(Duration::from_secs(30)).await.unwrap().forget();
    drop(stays);
    sleep(50 * MS).await;
    assert!(other.try_acquire(KEY).await.is_err(), "one that nobody releases");
    let brief = connect(&masters).await;
    brief.rw_lock("b").read().ttl(400 * MS).await.unwrap().forget();
    assert!(other.rw_lock("b").try_write().await.unwrap_err().is_contended());
    let began = Instant::now();
    drop(other.rw_lock("b").write().await.unwrap());
    let took = began.elapsed();
    assert!((200 * MS..1500 * MS).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_writer_that_dies_while_it_waits_keeps_readers_out_for_three_seconds() {
    let masters = Masters::start(3).unwrap();
    let [one, other] = clients(&masters).await;
    let first = one.rw_lock(KEY).read().await.unwrap();
    let process = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dies = masters.builder().restart_guard(RestartGuard::Off);
    process.spawn(async move { drop(dies.connect().await.unwrap().rw_lock(KEY).write().await) });
    sleep(500 * MS).await;
    process.shutdown_background();
    let began = Instant::now();
    assert!(other.rw_lock(KEY).try_read().await.unwrap_err().is_contended());
    let second = other.rw_lock(KEY).read().await.unwrap();
    let took = began.elapsed();
    assert!((SECOND..Duration::from_millis(3_300)).contains(&took), "{took:?}");
    drop((first, second));
}

#[tokio::test]
async fn a_writer_that_may_not_be_downgraded_goes_on_as_a_writer() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [one, other] = clients(&masters).await;
    for right in ["zadd", "zrem", "zscore", "zrange", "zremrangebyscore"] {
        masters.iter().for_each(|master| master.deny(&[right]).unwrap());
        let write = one.rw_lock(KEY).write().fenced().await.unwrap();
        let (number, old) = (write.fencing_token(), write.lease());
        let refused = write.downgrade().await.unwrap_err();
        assert!(matches!(refused.error, ExtendError::Unextended(_)), "{right}: {refused}");
        let write = refused.guard;
        assert!(!old.is_valid() && write.check().is_ok() && write.lease().is_valid());
        assert_eq!(write.fencing_token(), number);
        write.extend().await.unwrap();
        assert!(other.try_acquire(KEY).await.is_err());
        let error = other.rw_lock(KEY).try_read().await.unwrap_err();
        assert!(!error.nodes().is_empty(), "{error}");
        assert_eq!(write.release().await.unwrap(), Released::Confirmed);
    }
    masters.iter().for_each(|master| master.deny(&[]).unwrap());
    let write = one.rw_lock(KEY).write().await.unwrap();
    let read = write.downgrade().await.unwrap();
    let beside = other.rw_lock(KEY).try_read().await.unwrap();
    drop((read, beside));
}

#[tokio::test]
async fn ten_readers_get_in_at_once_when_the_writer_becomes_one() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other, third] = clients(&masters).await;
    let write = one.rw_lock(KEY).write().await.unwrap();
    let lease = write.lease();
    let waiting = (0..10).map(|n| {
        let redlock = [&one, &other, &third][n % 3];
        tokio::spawn(redlock.rw_lock(KEY).read().into_future())
    });
    let waiting: Vec<_> = waiting.collect();
    sleep(300 * MS).await;
    assert!(waiting.iter().all(|reader| !reader.is_finished()));
    let began = Instant::now();
    let read = write.downgrade().await.unwrap();
    assert_eq!(lease.check().unwrap_err().reason, LossReason::Downgraded);
    let mut readers = Vec::new();
    for reader in waiting {
        readers.push(reader.await.unwrap().unwrap());
    }
    let took = began.elapsed();
    assert!(took < 100 * MS, "{took:?}");
    assert!(read.check().unwrap() > Duration::from_secs(15));
    read.extend().await.unwrap();
    assert!(other.try_acquire(KEY).await.is_err());
    drop((read, readers));
    other.acquire(KEY).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_downgrade_keeps_the_keeper_and_a_fenced_writer_may_make_it() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [one, other] = clients(&masters).await;
    let table = one.rw_lock(KEY);
    let write = table.write().fenced().ttl(600 * MS).keep_alive().await.unwrap();
    let number = write.fencing_token();
    let read = write.downgrade().await.unwrap();
    sleep(900 * MS).await;
    assert!(read.check().is_ok(), "kept alive");
    let beside = other.rw_lock(KEY).try_read().await.unwrap();
    assert!(other.try_acquire(KEY).await.is_err());
    drop((read, beside));
    let next = other.rw_lock(KEY).write().fenced().await.unwrap();
    assert!(next.fencing_token() > number);
}

#[tokio::test]
async fn a_lost_writer_is_not_downgraded_and_says_so() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [one, other] = clients(&masters).await;
    let write = one.rw_lock(KEY).write().await.unwrap();
    let lease = write.lease();
    let inspection = other.inspect(KEY).await.unwrap();
    other.force_release(&inspection).await.unwrap();
    let refused = write.downgrade().await.unwrap_err();
    assert!(matches!(refused.error, ExtendError::Lost(_)), "{refused}");
    assert!(refused.guard.check().is_err() && !lease.is_valid());
    drop(one.rw_lock(KEY).try_read().await.unwrap());
}

#[tokio::test]
async fn a_body_runs_under_either() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [one, other] = clients(&masters).await;
    let table = one.rw_lock(KEY);
    let read = table.read().run(async |lease| {
        lease.check().unwrap();
        drop(other.rw_lock(KEY).try_read().await.unwrap());
        other.rw_lock(KEY).try_write().await.is_err()
    });
    assert!(read.await.unwrap());
    let write = table.write().fenced().run(async |lease| {
        assert!(other.rw_lock(KEY).try_read().await.is_err());
        lease.fencing_token().as_u64()
    });
    assert!(write.await.unwrap() > 0);
}

#[tokio::test]
async fn who_reads_is_shown_with_label_and_time_and_is_taken_away_alone() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [one, other] = clients(&masters).await;
    let table = one.rw_lock(KEY);
    let first = table.read().label("worker-1").await.unwrap();
    let second = other.rw_lock(KEY).read().label("worker-2").ttl(9 * SECOND).await.unwrap();
    let third = table.read().ttl(5 * SECOND).await.unwrap();

    let inspection = other.inspect(KEY).await.unwrap();
    let holder = inspection.holder().unwrap();
    assert!(holder.is_shared() && holder.label().is_none());
    let labels: Vec<_> = holder.readers().iter().map(Holder::label).collect();
    assert_eq!(labels, [Some("worker-1"), Some("worker-2"), None]);
    let lives: Vec<_> = holder.readers().iter().map(|it| it.remaining().unwrap()).collect();
    assert!(lives[1] <= 9 * SECOND && lives[1] > 7 * SECOND && lives[2] > 3 * SECOND, "{lives:?}");
    let text = inspection.to_string();
    assert!(text.starts_with("\"table:7\" is read by worker-1 for "), "{text}");
    assert!(!text.contains("quorumlock:"), "{text}");

    let mut locks = other.list("table:");
    let lock = locks.next().await.unwrap().unwrap();
    assert!(lock.is_held() && lock.is_recognized() && lock.held_on() == 5, "{lock}");
    assert_eq!(lock.holder().readers().len(), 3);
    assert!(lock.to_string().starts_with("\"table:7\" is read by worker-1 for "), "{lock}");
    assert!(locks.next().await.is_none(), "the readers' own keys are no locks");

    other.force_release_reader(&inspection, &holder.readers()[1]).await.unwrap();
    assert!(matches!(second.extend().await, Err(ExtendError::Lost(_))));
    first.extend().await.unwrap();
    let inspection = other.inspect(KEY).await.unwrap();
    assert_eq!(inspection.holder().unwrap().readers().len(), 2);
    other.force_release(&inspection).await.unwrap();
    for reader in [first, third] {
        assert!(matches!(reader.extend().await, Err(ExtendError::Lost(_))));
    }
    drop(one.rw_lock(KEY).try_write().await.unwrap());
}

#[tokio::test]
async fn who_may_not_see_readers_sees_that_there_are_some() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [one, other] = clients(&masters).await;
    let reader = one.rw_lock(KEY).read().await.unwrap();
    masters.iter().for_each(|master| master.deny(&["zrange"]).unwrap());
    let inspection = other.inspect(KEY).await.unwrap();
    let holder = inspection.holder().unwrap();
    assert!(holder.is_shared() && holder.readers().is_empty());
    assert!(
        other.force_release(&inspection).await.is_err(),
        "the mark alone would let a writer in"
    );
    assert!(other.list("").next().await.unwrap().unwrap().is_held());
    reader.check().unwrap();
    assert!(other.try_acquire(KEY).await.is_err());
}
