//! Fair acquires, beside one that wants a fencing token which no quorum would give it.

use crate::support::clock;
use crate::support::docker::tell;
use crate::support::prelude::*;
use crate::turns::dead::{LATE, handed_over, waiter};
use futures::future::join_all;
use quorumlock::{FencingWindow, Redlock};
use std::time::Duration;

/// No ballot suits masters whose clocks are apart, so a client that wants a fencing token cannot win. It
/// was first before that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_whose_ballots_are_refused_holds_up_no_one() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let narrow = FencingWindow { back: 500 * MS, ahead: 500 * MS };
    let connecting = (0..3).map(|_| {
        let builder = masters.builder().fencing_window(narrow);
        builder.operation_timeout(900 * MS).ttl(LONG).connect()
    });
    let clients: Vec<Redlock> =
        join_all(connecting).await.into_iter().map(Result::unwrap).collect();
    let guard = clients[0].acquire("r").fair(true).await.unwrap();
    let fenced = clients[1].acquire("r").fair(true).fenced().timeout(Duration::MAX);
    let fenced = tokio::spawn(async move { fenced.await.map(|guard| guard.is_valid()) });
    stand(&masters, 1).await;
    let next = waiter(&clients[2]);
    stand(&masters, 2).await;
    clock::set(&masters[..1], 2_000).await;
    clock::set(&masters[1..2], -2_000).await;
    let (_next, took) = handed_over(guard, next).await;
    tell(&format!("the next one is in {took:.2?} after the release to one with refused ballots"));
    assert!(took < SECOND + LATE, "{took:?}");
    fenced.abort();
}
