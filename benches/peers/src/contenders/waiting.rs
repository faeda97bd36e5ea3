//! This crate where its clients wait in turn, in no waitlist, or for one of several permits.

use super::Client;
use super::client::Peer;
use super::quorumlock::{builder, connect, is_crowded};
use quorumlock::{Guard, Permit, Redlock};
use std::net::SocketAddr;
use std::sync::Arc;

/// Permits of the semaphore.
const PERMITS: usize = 5;

pub(super) const NAMES: [&str; 3] =
    ["quorumlock, fair", "quorumlock, 5 permits", "quorumlock, no waitlist"];

pub(super) const IN_TURN: Peer<InTurn> = Peer::new(NAMES[0]);

pub(super) const PERMITTED: Peer<Permitted> = Peer::new(NAMES[1]);

pub(super) const UNLISTED: Peer<Unlisted> = Peer::new(NAMES[2]);

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
pub(super) struct Unlisted(Redlock);

impl Client for Unlisted {
    type Held = Guard;

    async fn connect(masters: &[SocketAddr]) -> Self {
        Self(builder(masters).waitlist(false).connect().await.expect("masters that answer"))
    }

    async fn acquire(&self, resource: &Arc<str>) -> Guard {
        Client::acquire(&self.0, resource).await
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Guard> {
        Client::attempt(&self.0, resource).await
    }

    async fn release(&self, guard: Guard) {
        Client::release(&self.0, guard).await;
    }

    async fn close(self) {
        Client::close(self.0).await;
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
