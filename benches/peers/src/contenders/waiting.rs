//! This crate where its clients wait in turn, or for one of several permits.

use super::Client;
use super::client::Peer;
use super::quorumlock::{connect, is_crowded};
use quorumlock::{Guard, Permit, Redlock};
use std::net::SocketAddr;
use std::sync::Arc;

/// Permits of the semaphore.
const PERMITS: usize = 5;

pub(super) const NAMES: [&str; 2] = ["quorumlock, fair", "quorumlock, 5 permits"];

pub(super) const IN_TURN: Peer<InTurn> = Peer::new(NAMES[0]);

pub(super) const PERMITTED: Peer<Permitted> = Peer::new(NAMES[1]);

#[derive(Clone)]
pub(super) struct InTurn(Redlock);

impl Client for InTurn {
    type Held = Guard;

    async fn connect(masters: &[SocketAddr]) -> Self {
        Self(connect(masters).await)
    }

    async fn acquire(&self, resource: &Arc<str>) -> Guard {
        loop {
            match self.0.acquire(resource.clone()).fair(true).await {
                Ok(guard) => return guard,
                Err(error) => assert!(is_crowded(&error), "{error}"),
            }
        }
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Guard> {
        self.0.try_acquire(resource.clone()).await.ok()
    }

    async fn release(&self, guard: Guard) {
        guard.release().await.expect("in time");
    }

    async fn close(self) {
        let _unconfirmed = self.0.shutdown().await;
    }
}

#[derive(Clone)]
pub(super) struct Permitted(Redlock);

impl Client for Permitted {
    type Held = Permit;

    const HOLDERS: usize = PERMITS;

    async fn connect(masters: &[SocketAddr]) -> Self {
        Self(connect(masters).await)
    }

    async fn acquire(&self, resource: &Arc<str>) -> Permit {
        let permits = self.0.semaphore(resource.clone(), PERMITS);
        loop {
            match permits.acquire().await {
                Ok(permit) => return permit,
                Err(error) => assert!(is_crowded(&error), "{error}"),
            }
        }
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Permit> {
        self.0.semaphore(resource.clone(), PERMITS).try_acquire().await.ok()
    }

    async fn release(&self, permit: Permit) {
        permit.release().await.expect("in time");
    }

    async fn close(self) {
        let _unconfirmed = self.0.shutdown().await;
    }
}
