//! Readers beside each other, and a writer alone: what is not claimed of every kind of master in
//! `conformance::sharing`.

use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::embedded::Masters;
use quorumlock::error::LossReason;
use quorumlock::{ExtendError, Redlock, Released, RestartGuard};
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

#[tokio::test]
async fn a_writer_that_dies_while_it_waits_keeps_readers_out_for_three_seconds() {
    let masters = Masters::start(3).unwrap();
    let [client, other] = clients(&masters).await;
    let first = client.rw_lock(KEY).read().await.unwrap();
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
    let [client, other] = clients(&masters).await;
    for right in ["zadd", "zrem", "zscore", "zrange", "zremrangebyscore"] {
        masters.iter().for_each(|master| master.deny(&[right]).unwrap());
        let write = client.rw_lock(KEY).write().fenced().await.unwrap();
        let (number, old) = (write.fencing_token(), write.lease());
        let refused = write.downgrade().await.unwrap_err();
        assert!(matches!(refused.error, ExtendError::Unextended(_)), "{right}: {refused}");
        let write = refused.guard;
        assert!(!old.is_valid() && write.check().is_ok() && write.lease().is_valid());
        assert_eq!(write.fencing_token(), number);
        write.extend().await.unwrap();
        assert!(other.try_acquire(KEY).await.is_err());
        let error = other.rw_lock("free").try_read().await.unwrap_err();
        let denied = error.to_string().contains("can't run this command");
        assert!(error.is_no_quorum() && denied, "{right}: {error}");
        assert_eq!(write.release().await.unwrap(), Released::Confirmed);
    }
    masters.iter().for_each(|master| master.deny(&[]).unwrap());
    let write = client.rw_lock(KEY).write().await.unwrap();
    let read = write.downgrade().await.unwrap();
    let beside = other.rw_lock(KEY).try_read().await.unwrap();
    drop((read, beside));
}

#[tokio::test]
async fn a_downgrade_keeps_the_keeper_and_a_fenced_writer_may_make_it() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [client, other] = clients(&masters).await;
    let table = client.rw_lock(KEY);
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
    let [client, other] = clients(&masters).await;
    let write = client.rw_lock(KEY).write().await.unwrap();
    let lease = write.lease();
    let inspection = other.inspect(KEY).await.unwrap();
    other.force_release(&inspection).await.unwrap();
    let refused = write.downgrade().await.unwrap_err();
    assert!(matches!(refused.error, ExtendError::Lost(_)), "{refused}");
    assert!(refused.guard.check().is_err() && !lease.is_valid());
    drop(client.rw_lock(KEY).try_read().await.unwrap());
}

#[tokio::test]
async fn a_body_runs_under_either() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [client, other] = clients(&masters).await;
    let table = client.rw_lock(KEY);
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
async fn a_client_that_may_not_see_readers_sees_that_there_are_some() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [client, other] = clients(&masters).await;
    let reader = client.rw_lock(KEY).read().await.unwrap();
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

#[test]
fn threads_read_beside_each_other_and_write_alone() {
    use quorumlock::Wait;

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { Masters::start(3) }).unwrap();
    let builder = masters.builder().restart_guard(RestartGuard::Off).ttl(LONG);
    let redlock = builder.own_thread(true).connect().wait().unwrap();
    let table = redlock.rw_lock(KEY);
    assert_eq!(table.resource(), KEY);
    let first = table.read().keep_alive().wait().unwrap();
    let beside = std::thread::scope(|scope| {
        scope.spawn(|| table.try_read().ttl(SOON).wait().unwrap()).join().unwrap()
    });
    beside.extend().wait().unwrap();
    assert!(table.try_write().wait().unwrap_err().is_contended());
    assert!(redlock.try_acquire(KEY).wait().unwrap_err().is_contended());
    first.release().wait().unwrap();
    beside.release().wait().unwrap();

    let write = table.write().fenced().wait().unwrap();
    assert!(write.fencing_token().as_u64() > 0);
    assert!(table.try_read().wait().unwrap_err().is_contended());
    let (lease, read) = (write.lease(), write.downgrade().wait().unwrap());
    assert!(!lease.is_valid() && read.check().is_ok());
    let text = table.read().run(async |lease| lease.resource().to_owned()).wait().unwrap();
    assert_eq!(text, KEY);
    read.release().wait().unwrap();
    assert!(table.write().run(async |lease| lease.is_valid()).wait().unwrap());
    redlock.shutdown().wait().unwrap();
}

/// The key of a lock that is read lives as long as the last of its readers, and no longer.
#[tokio::test]
async fn the_mark_lives_exactly_as_long_as_the_reader_that_ends_last() {
    let masters = Masters::start_in_memory(1).unwrap();
    let [client] = clients(&masters).await;
    let table = client.rw_lock(KEY);
    let life = || masters[0].time_to_live(KEY).unwrap();
    let within = |left: Duration, most: Duration| left <= most && left + SECOND > most;
    let (long, brief) = (table.read().ttl(LONG), table.read().ttl(SOON));
    let (long, brief) = (long.await.unwrap(), brief.await.unwrap());
    assert!(within(life(), LONG), "a brief reader shortens nothing: {:?}", life());
    long.release().await.unwrap();
    assert!(within(life(), SOON), "who leaves takes its time along: {:?}", life());
    brief.release().await.unwrap();
    assert_eq!(masters[0].holder(KEY), None);
}

#[tokio::test]
async fn a_downgrade_after_the_end_of_the_client_says_that_the_lock_is_lost() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [client] = clients(&masters).await;
    let write = client.rw_lock(KEY).write().await.unwrap();
    client.shutdown().await.unwrap();
    let refused = tokio::time::timeout(SOON, write.downgrade()).await.unwrap().unwrap_err();
    let ExtendError::Lost(lost) = refused.error else { panic!("{}", refused.error) };
    assert_eq!(lost.reason, LossReason::Closed);
    assert!(refused.guard.release().await.is_err());
}
