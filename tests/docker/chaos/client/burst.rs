//! Bursts: thousands of acquires of different names, begun at once by a client that keeps other locks alive.

use super::task::Task;
use super::wish::Wish;
use crate::chaos::history::What;
use crate::support::prelude::*;
use futures::future::join_all;
use std::ops::Range;
use std::time::Duration;

/// More than a client has open at first, doubled some times. The most is so common that soon the memory of a client
/// grows no more.
const ASKED: u64 = 3_000;
const DOUBLED: Range<u64> = 0..3;
const PAUSE: Range<Duration> = Duration::from_secs(1)..Duration::from_secs(16);

impl Task {
    /// Begins one after a pause, and waits until all of it is answered, released, or given up.
    pub(super) async fn burst(&mut self, max_ttl: Duration) {
        let pause = self.rng.duration(PAUSE);
        if self.unless_ending(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
        let asked = ASKED << self.rng.within(DOUBLED);
        // Some are given up on the way, all at once.
        let patience = self.rng.chance(20).then(|| self.rng.duration(MS..200 * MS));
        self.note(What::Bursts { asked });
        let acquires = (0..asked).map(|number| {
            let (wish, task) = (Wish::in_a_burst(&self.who, number, patience, max_ttl), &*self);
            async move {
                let acquire = task.redlock.acquire(&*wish.resources[0]).timeout(wish.wait);
                let guard = task.patiently(acquire.into_future(), &wish).await;
                let is_served = guard.is_ok();
                if let Ok(guard) = guard {
                    let _whatever_came_of_it = guard.release().await;
                }
                is_served
            }
        });
        let served = join_all(acquires).await.into_iter().filter(|served| *served).count();
        self.note(What::Served { served: served as u64 });
    }
}
