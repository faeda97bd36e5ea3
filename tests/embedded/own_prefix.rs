//! A longer `max_ttl` behind a prefix of its own, on masters that other clients share, in virtual time.

use quorumlock::embedded::{Masters, Memory};
use quorumlock::{OnceError, Ran, Redlock, RedlockBuilder};
use std::time::Duration;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
/// More than `D` of clients with the default `max_ttl`, 30 s.
const WARM: Duration = Duration::from_secs(35);

fn hourly(masters: &Masters) -> RedlockBuilder {
    masters.builder().key_prefix("hourly:").max_ttl(20 * MINUTE)
}

async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect().await.unwrap()
}

/// Returns whether the job ran; the reason if too few masters may vote.
async fn report(redlock: &Redlock) -> Result<bool, String> {
    let once = redlock.once("report", 15 * MINUTE);
    match once.run(async |_lease| Ok::<(), String>(())).await {
        Ok(Ran::Done(())) => Ok(true),
        Ok(Ran::Skipped) => Ok(false),
        Err(OnceError::NotAcquired(error)) if error.is_no_quorum() => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// All of them come back empty, one after the other, at the pace of clients with a `max_ttl` of 30 s.
async fn restart_each(masters: &Masters) {
    for node in 0..masters.len() {
        masters[node].kill();
        sleep(Duration::from_secs(1)).await;
        masters[node].restart(Memory::Lost).unwrap();
        sleep(WARM).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_prefix_has_a_max_ttl_of_its_own_and_other_clients_keep_theirs() {
    let masters = Masters::start_in_virtual_time(5).unwrap();
    let usual = connect(masters.builder()).await;
    let guard = usual.acquire("orders:42").keep_alive().await.unwrap();
    let longer = masters.builder().max_ttl(20 * MINUTE).connect().await;
    assert!(longer.unwrap_err().to_string().contains("max_ttl"), "the same prefix refuses it");

    let (first, second) = (connect(hourly(&masters)).await, connect(hourly(&masters)).await);
    assert_eq!((report(&first).await, report(&second).await), (Ok(true), Ok(false)));
    let shorter = masters.builder().key_prefix("hourly:").connect().await;
    assert!(shorter.unwrap_err().to_string().contains("max_ttl"), "its clients agree, too");

    restart_each(&masters).await;
    // The others have gone on all the time.
    assert!(guard.is_valid() && usual.try_acquire("orders:43").await.is_ok());
    // These wait for their own `max_ttl`, and no second run begins within the 15 minutes.
    let waits = report(&second).await.unwrap_err();
    assert!(waits.contains("warming up"), "{waits}");
    sleep(20 * MINUTE).await;
    assert_eq!((report(&second).await, report(&first).await), (Ok(true), Ok(false)));
}

/// Why no other client may lock a name that begins with the prefix.
#[tokio::test(start_paused = true)]
async fn a_client_that_writes_the_prefix_into_a_name_has_the_same_key_and_waits_for_less() {
    let masters = Masters::start_in_virtual_time(5).unwrap();
    let (usual, jobs) = (connect(masters.builder()).await, connect(hourly(&masters)).await);
    assert_eq!(report(&jobs).await, Ok(true));
    let refused = usual.try_acquire("hourly:report").await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    restart_each(&masters).await;
    let entered = usual.try_acquire("hourly:report").await;
    assert!(entered.is_ok(), "it does not wait for the 20 minutes of the other: {entered:?}");
}

#[tokio::test(start_paused = true)]
async fn two_prefixes_of_which_neither_begins_the_other_have_no_key_in_common() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let usual = connect(masters.builder().key_prefix("locks:")).await;
    let jobs = connect(hourly(&masters)).await;
    assert_eq!(report(&jobs).await, Ok(true));
    for name in ["report", "hourly:report"] {
        assert!(usual.try_acquire(name).await.is_ok(), "{name}");
    }
    sleep(Duration::from_secs(1)).await; // they are released by now
    let mut list = usual.list("");
    assert!(list.next().await.is_none(), "a list shows the keys behind its own prefix");
}
