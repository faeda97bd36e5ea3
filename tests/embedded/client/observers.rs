//! What observers of an election report of a key that no candidate has set.

use super::prelude::*;
use quorumlock::FencingWindow;
use tokio::time::timeout;

#[tokio::test(start_paused = true)]
async fn a_value_that_looks_like_a_great_term_silences_no_observer_for_ever() {
    let masters = Masters::start(3);
    let window = FencingWindow { back: 400 * MS, ahead: 400 * MS };
    let connect = || masters.builder().ttl(SECOND).max_ttl(SECOND).fencing_window(window);
    let (observing, leading) =
        (connect().connect().await.unwrap(), connect().connect().await.unwrap());
    let hostile = format!("{}:x;term=9007199254740991", "0f".repeat(16));
    for master in masters.iter() {
        witness::set_foreign(master, "scheduler", &hostile, SECOND).await;
    }
    let mut leaders = observing.election("scheduler").ttl(SECOND).observe();
    let mut next = async || timeout(LONG, leaders.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(next().await.expect("it looks like one").term.as_u64(), 9_007_199_254_740_991);
    let leadership = leading.election("scheduler").ttl(SECOND).campaign("me").await.unwrap();
    assert_eq!(next().await, None, "it does not lead any more");
    let leader = next().await.expect("the true one");
    assert_eq!((leader.value.as_str(), leader.term), ("me", leadership.term()));
    leadership.resign().await.unwrap();
    assert_eq!(next().await, None);
}
