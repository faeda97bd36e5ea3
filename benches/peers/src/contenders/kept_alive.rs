//! This crate, keeping many locks alive.

use super::quorumlock::connect;
use futures::future::join_all;
use quorumlock::{Guard, Redlock, Released};
use std::net::SocketAddr;

/// Acquires that are under way at the same time.
const AT_ONCE: usize = 200;

pub(crate) struct Kept {
    redlock: Redlock,
    guards: Vec<Guard>,
}

/// Wins so many locks, which are kept alive from then on.
pub(crate) async fn keep(masters: &[SocketAddr], locks: usize) -> Kept {
    let redlock = connect(masters).await;
    let mut guards = Vec::with_capacity(locks);
    while guards.len() < locks {
        let first = guards.len();
        let some = (first..locks.min(first + AT_ONCE)).map(|number| {
            redlock.acquire(format!("bench:kept-alive:{number}")).keep_alive().into_future()
        });
        guards
            .extend(join_all(some).await.into_iter().map(|won| won.expect("a lock that is free")));
    }
    Kept { redlock, guards }
}

impl Kept {
    /// Checks that none was lost, and releases all.
    pub(crate) async fn end(self) {
        let lost = self.guards.iter().filter(|guard| !guard.is_valid()).count();
        assert_eq!(lost, 0, "locks that were lost while they were kept alive");
        let mut guards = self.guards;
        while !guards.is_empty() {
            let some = guards.drain(..guards.len().min(AT_ONCE)).map(Guard::release);
            for released in join_all(some).await {
                assert_eq!(released, Ok(Released::Confirmed));
            }
        }
        self.redlock.shutdown().await.expect("all releases confirmed");
    }
}
