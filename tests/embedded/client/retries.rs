//! A failed attempt blocks no other, including the next attempt of the same caller.

use super::prelude::*;
use crate::late::Setup;
use crate::proxy::Proxy;
use crate::support::late::setup::Place;
use crate::support::proxy::Direction::*;
use crate::support::sabotage::Sabotage;
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use quorumlock::{AcquireError, ExtendError, Redlock, Released};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

/// Shorter than the ttl of the keys.
const GRACE: Duration = Duration::from_secs(3);

/// Connects with the first node behind the proxy. Nothing here is about timeouts.
async fn connect(proxy: &Proxy, masters: &[Master]) -> Redlock {
    let builder =
        masters[1..].iter().fold(proxy.add_to(builder()), |builder, master| master.add_to(builder));
    builder.operation_timeout(Duration::from_millis(900)).connect().await.unwrap()
}

/// At least as many bytes as a connection sends before it may vote, mostly scripts (`agree`, `acquire` and
/// `extend` have 6,229).
const HANDSHAKE: u64 = 8_000;

/// Lets each connection carry its handshake and a few more commands, for a random number of bytes.
async fn flap(proxy: &Proxy, mut rng: Rng) {
    let mut seen = 0;
    loop {
        if proxy.connections() > seen {
            seen = proxy.connections();
            proxy.cut_after(ToServer, HANDSHAKE + rng.within(0..4_000));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_flapping_node_of_five_never_costs_an_attempt() {
    let rng = Seed::from_env("QUORUMLOCK_SEED_FLAP").rng();
    let masters = Masters::start(5);
    let proxy = Proxy::start(&masters[0]);
    let redlock = connect(&proxy, &masters).await;
    let mut rounds = 0;
    let work = async {
        while proxy.connections() < 20 || rounds < 100 {
            let guard = redlock.try_acquire("r").await.unwrap();
            assert_eq!(guard.release().await, Ok(Released::Confirmed));
            rounds += 1;
            tokio::time::sleep(5 * MS).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = flap(&proxy, rng) => {}
    }
    assert_eq!(witness::calls(&masters[4]).await["set"], rounds, "one attempt each");
    proxy.cut_after(ToServer, None);
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_needed_flapping_master_costs_at_most_an_attempt_per_break() {
    let rng = Seed::from_env("QUORUMLOCK_SEED_FLAP").rng();
    let masters = Masters::start(3);
    let proxy = Proxy::start(&masters[0]);
    masters.kill(1);
    let redlock = connect(&proxy, &masters).await;
    let mut rounds = 0;
    let work = async {
        while proxy.connections() < 20 || rounds < 100 {
            let guard = redlock.acquire("r").await.unwrap();
            guard.release().await.unwrap();
            rounds += 1;
            tokio::time::sleep(5 * MS).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = flap(&proxy, rng) => {}
    }
    let attempts = witness::calls(&masters[2]).await["set"];
    let breaks = proxy.connections() as u64;
    assert!(attempts <= rounds + breaks, "{attempts} attempts, {rounds} locks, {breaks} breaks");
    proxy.cut_after(ToServer, None);
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn the_rollback_of_a_first_attempt_does_not_touch_the_second() {
    // With CLIENT KILL in force the old rollback would never arrive.
    let setup = Setup::start_with(Sabotage::Kill).await;
    for round in 0..3 {
        let resource = format!("r{round}");
        let old = setup.links(3);
        old.iter().for_each(|link| link.hold(ToServer));
        let first = setup.redlock.try_acquire(resource.as_str()).await;
        assert!(matches!(first, Err(AcquireError::NoQuorum(_))), "{first:?}");
        setup.all_vote().await;
        let second = setup.redlock.acquire(resource.as_str()).await.unwrap();
        let everywhere =
            async || witness::holders(setup.place.masters(), &resource).await.len() == 5;
        eventually("the second attempt stands on all masters", SOON, everywhere).await;
        let before = witness::values(setup.place.masters(), &resource).await;
        let rollbacks = async || {
            let calls = join_all(setup.place.masters()[..3].iter().map(witness::calls)).await;
            calls.iter().map(witness::releases).sum::<u64>()
        };
        let rollbacks_before = rollbacks().await;
        old.iter().for_each(|link| link.let_go(ToServer));
        eventually("the old connections have ended", SOON, async || {
            old.iter().all(|link| !link.is_live())
        })
        .await;
        // The old connections also carried those of a few probes. A busy master reads them a little after their end.
        eventually("the old rollbacks have arrived", SOON, async || {
            rollbacks().await >= rollbacks_before + 3
        })
        .await;
        assert_eq!(witness::values(setup.place.masters(), &resource).await, before);
        second.extend().await.unwrap();
        assert_eq!(second.release().await, Ok(Released::Confirmed));
    }
}

async fn forget_scripts(masters: &[Master]) {
    for master in masters {
        witness::ask::<()>(master, redis::cmd("SCRIPT").arg("FLUSH")).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn forgotten_scripts_cost_one_extension_and_no_key() {
    let (masters, redlock) = five().await;
    for round in 0..20 {
        let guard = redlock.acquire(format!("r{round}")).await.unwrap();
        forget_scripts(&masters).await;
        let deadline = guard.deadline();
        tokio::time::sleep(MS).await;
        let refused = guard.extend().await.unwrap_err();
        assert!(matches!(refused, ExtendError::Unextended(_)), "{refused}");
        assert!(refused.to_string().contains("NOSCRIPT"), "{refused}");
        assert_eq!(guard.deadline(), deadline, "nothing is destroyed");
        assert!(guard.is_valid());
        assert!(guard.extend().await.unwrap() > deadline);
        forget_scripts(&masters).await;
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
    witness::eventually_no_keys(&masters, Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn an_extension_prolongs_a_minority_that_forgot_its_scripts() {
    let (masters, redlock) = five().await;
    let guard = redlock.acquire("r").await.unwrap();
    let everywhere = async || witness::holders(&masters, "r").await.len() == 5;
    eventually("it stands on all masters", SOON, everywhere).await;
    let lives = async || join_all(masters.iter().map(|master| witness::pttl(master, "r"))).await;
    for _ in 0..10 {
        forget_scripts(&masters[..2]).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let before = lives().await;
        eventually("an extension prolongs the key on every master", SOON, async || {
            guard.extend().await.unwrap();
            lives().await.iter().zip(&before).all(|(now, before)| now > before)
        })
        .await;
    }
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    witness::eventually_no_keys(&masters, Duration::from_secs(1)).await;
}
