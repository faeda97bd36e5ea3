//! A lock's life over TLS, from the acquire to the release.

use super::authority::Authority;
use super::masters::Encrypted;
use crate::support::prelude::*;
use quorumlock::{Redlock, Released, RestartGuard};
use std::time::{Duration, Instant};

const TTL: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(40);

/// Bound on a handshake that hangs.
const HANDSHAKE: Duration = Duration::from_secs(4);

struct World {
    masters: Encrypted,
    authority: Authority,
}

impl World {
    fn start() -> Self {
        let authority = Authority::new("ours");
        let identity = authority.issue(&["localhost", "127.0.0.1"]);
        Self { masters: Encrypted::start(3, &authority, &identity), authority }
    }

    async fn connect(&self) -> Redlock {
        let builder =
            Redlock::builder().nodes(self.masters.urls()).restart_guard(RestartGuard::Off);
        let builder =
            builder.tls_config(self.authority.config(None)).ttl(TTL).acquire_timeout(PATIENCE);
        builder.operation_timeout(TTL / 10).connect_timeout(HANDSHAKE).connect().await.unwrap()
    }

    async fn eventually_on(&self, resource: &str, nodes: &[usize]) {
        let there = async || witness::holders(&self.masters.servers, resource).await == nodes;
        eventually("it stands on those masters", PATIENCE, there).await;
    }
}

#[tokio::test]
async fn a_lock_lives_over_tls_while_a_master_dies_and_comes_back() {
    let world = World::start();
    let (redlock, other) = (world.connect().await, world.connect().await);
    let guard = redlock.acquire("r").await.unwrap();
    world.eventually_on("r", &[0, 1, 2]).await;
    let contended = other.try_acquire("r").await.unwrap_err();
    assert!(contended.is_contended(), "{contended}");

    world.masters.servers[2].kill();
    guard.extend().await.unwrap();
    guard.check().unwrap();
    let fenced = redlock.acquire("f").fenced().await.unwrap();
    let several = redlock.acquire_all(["a", "b"]).await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let next = other.acquire("r").await.unwrap();
    world.eventually_on("r", &[0, 1]).await;

    world.masters.servers[2].restart();
    let token = fenced.fencing_token();
    assert_eq!(fenced.release().await, Ok(Released::Confirmed));
    assert_eq!(several.release().await, Ok(Released::Confirmed));
    assert_eq!(next.release().await, Ok(Released::Confirmed));
    let back = async || {
        let fenced = other.acquire("f").fenced().await.unwrap();
        assert!(fenced.fencing_token() > token);
        let everywhere = witness::holders(&world.masters.servers, "f").await.len() == 3;
        fenced.release().await.unwrap();
        everywhere
    };
    eventually("the restarted master takes part", PATIENCE, back).await;
    redlock.shutdown().await.unwrap();
    other.shutdown().await.unwrap();
    let is_a_lock = |key: &str| !key.starts_with("quorumlock:");
    witness::eventually_none(&world.masters.servers, is_a_lock, PATIENCE).await;
}

#[tokio::test]
async fn a_handshake_hanging_on_one_master_costs_the_others_nothing() {
    let world = World::start();
    // Its kernel accepts, but the server never answers.
    world.masters.servers[1].stop();
    let redlock = world.connect().await;
    let began = Instant::now();
    for _ in 0..8 {
        let guard = redlock.acquire("r").await.unwrap();
        assert!(guard.remaining() > TTL - HANDSHAKE, "it waited for a handshake");
        guard.release().await.unwrap();
    }
    assert!(began.elapsed() < 8 * HANDSHAKE, "{:?}", began.elapsed());
    world.masters.servers[1].cont();
    let back = async || {
        let guard = redlock.acquire("r").await.unwrap();
        let everywhere = witness::holders(&world.masters.servers, "r").await.len() == 3;
        guard.release().await.unwrap();
        everywhere
    };
    eventually("it takes part once it goes on", PATIENCE, back).await;
}
