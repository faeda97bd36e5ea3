//! A key that one master lacks, while others wait for the lock: its holder gets it back.

use super::*;
use crate::FencingWindow;

/// Returns for how much of a minute one master lacks the holder's key.
async fn lacked(count: usize, lacks: usize, rtt: Duration, waitlist: bool) -> Duration {
    // What it is in one minute differs by far.
    let minutes = if waitlist { 3 } else { 1 };
    let masters = on_the_same_time(Masters::start_in_memory(count).unwrap());
    let window = FencingWindow { back: 500 * MS, ahead: 500 * MS };
    let ttl = 4 * SECOND;
    let builder = || masters.builder().ttl(ttl).max_ttl(ttl).fencing_window(window);
    for master in masters.iter() {
        master.set_latency(rtt);
        if !waitlist {
            master.deny(&["zadd"]).unwrap();
        }
    }
    let ours = connect(builder()).await;
    let held = ours.acquire(KEY).keep_alive().fenced().await.unwrap();
    let value = masters[lacks].holder(KEY).unwrap();
    let mut waiters = tokio::task::JoinSet::new();
    for _ in 0..5 {
        let other = connect(builder()).await;
        let waits = other.acquire(KEY).timeout(600 * SECOND).fenced();
        waiters.spawn(async move { waits.await.map(drop) });
    }
    sleep(2 * SECOND).await;
    operate(&masters[lacks], &["DEL", KEY]).await;
    let mut lacked = 0;
    for _ in 0..minutes * 12_000 {
        sleep(5 * MS).await;
        lacked += u32::from(masters[lacks].holder(KEY).as_ref() != Some(&value));
    }
    assert!(held.is_valid());
    5 * MS * lacked / minutes
}

/// Waiters that took the empty master's votes again and again kept the holder from it for most of the time: also those
/// that its list, where the key is free, lets try one after another.
#[tokio::test(start_paused = true)]
async fn a_master_that_lacks_a_key_has_it_back_soon() {
    for (count, waitlist, most) in [(3, false, 10), (5, false, 10), (3, true, 5), (5, true, 5)] {
        let mut each = Vec::new();
        for lacks in 0..count {
            each.push(lacked(count, lacks, 60 * MS, waitlist).await);
        }
        // Of the minute at each.
        let total: Duration = each.iter().sum();
        let most = most * SECOND * count as u32;
        assert!(total < most, "{count} masters, waitlist {waitlist}: {each:?}");
    }
}
