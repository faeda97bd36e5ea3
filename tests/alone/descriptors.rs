//! Clients that come and go without a shutdown leave no descriptor behind.

use crate::alone;
use crate::support::prelude::*;

/// Returns how many descriptors this process has open.
fn open() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn two_hundred_clients_that_are_dropped_leave_no_descriptor() {
    let _turn = alone().await;
    let masters = Masters::start(3);
    let before = open();
    for _ in 0..200 {
        let redlock = masters.builder().connect().await.unwrap();
        drop(redlock.acquire("r").await.unwrap());
    }
    eventually("all are closed", SOON, async || open() <= before).await;
}
