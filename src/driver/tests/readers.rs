//! Readers of many processes that wait for a writer.

use super::*;
use futures::future::join_all;

const READERS: usize = 200;
/// The time over which the masters' notice spreads so many: 25 us for each.
const SPREAD: Duration = Duration::from_millis(5);

#[tokio::test(start_paused = true)]
async fn readers_that_a_writer_lets_in_come_one_after_the_other() {
    let masters = five();
    let writer = connect(masters.builder()).await;
    let held = writer.rw_lock(KEY).write().await.unwrap();
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let redlock = connect(masters.builder()).await;
        readers.push(tokio::spawn(async move {
            let guard = redlock.rw_lock(KEY).read().timeout(60 * SECOND).await.unwrap();
            let read_at = now();
            guard.release().await.unwrap();
            read_at
        }));
    }
    sleep(5 * SECOND).await;
    let released_at = now();
    held.release().await.unwrap();
    let read = join_all(readers).await.into_iter().map(Result::unwrap);
    let mut waited: Vec<_> = read.map(|read_at| read_at.since(released_at)).collect();
    waited.sort_unstable();
    assert!(waited[READERS - 1] < 2 * SPREAD, "the last after {:?}", waited[READERS - 1]);
    // tokio's clock ticks once in a millisecond.
    let ticks = waited.chunk_by(|a, b| a.as_millis() == b.as_millis());
    let most = ticks.map(<[_]>::len).max().unwrap();
    assert!(most < READERS / 2, "{most} at once");
}
