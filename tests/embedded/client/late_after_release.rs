//! Commands that arrive only after their lock was released bring no key back: a late acquire, a
//! late top-up, a late extension, and a holder whose lock was taken away.

use super::prelude::*;
use crate::proxy::Proxy;
use crate::support::proxy::{Direction::*, Link};
use quorumlock::error::LossReason;
use quorumlock::kind::Kind;
use quorumlock::{Acquire, ExtendError, Guard, Redlock, RedlockBuilder, Released};
use std::sync::Arc;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(20);
/// Time for which nothing may come back.
const WATCHED: Duration = Duration::from_millis(500);

/// Three masters, the first of them behind a proxy.
struct Place {
    masters: Masters,
    proxy: Proxy,
    redlock: Redlock,
}

fn set_up(builder: RedlockBuilder) -> RedlockBuilder {
    // Longer than what a test holds back until it lets it go.
    builder.ttl(TTL).operation_timeout(250 * MS)
}

impl Place {
    /// Connections that were replaced are killed at their server, as they should be, unless the ACL
    /// forbids it.
    async fn new(may_kill: bool) -> Self {
        let masters = Masters::start(3);
        if !may_kill {
            masters.iter().for_each(|master| master.deny(&["client|kill"]).unwrap());
        }
        let proxy = Proxy::start(&masters[0]);
        let behind = masters[1..]
            .iter()
            .fold(proxy.add_to(builder()), |builder, master| master.add_to(builder));
        let redlock = set_up(behind).connect().await.unwrap();
        Self { masters, proxy, redlock }
    }

    /// Returns the connection that the proxy carries now.
    fn link(&self) -> Arc<Link> {
        self.proxy.link(self.proxy.connections() - 1)
    }

    async fn stands_on(&self, nodes: &[usize]) {
        let stands = async || witness::holders(&self.masters, "r").await == nodes;
        eventually(&format!("the key stands on {nodes:?}"), SOON, stands).await;
    }

    /// Releases the lock while the first master's connection holds back what was sent before. Lets
    /// it arrive once another connection has taken its place and paid the debts. Returns whether a
    /// key is seen after that.
    async fn release_overtakes<K: Kind>(&self, guard: Guard<K>, link: &Link) -> bool {
        // Without the release, which follows it on the same connection.
        let late = link.waiting(ToServer);
        assert!(late > 0, "something is on its way");
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
        eventually("the first master takes part again", 2 * SOON, async || {
            let Ok(_probe) = self.redlock.try_acquire("probe").await else { return false };
            tokio::time::sleep(10 * MS).await;
            witness::holders(&self.masters, "probe").await.len() == 3
        })
        .await;
        self.stands_on(&[]).await;
        link.change(ToServer, |rules| rules.cut_after = Some(late));
        link.let_go(ToServer);
        let until = Instant::now() + WATCHED;
        let mut seen = false;
        while Instant::now() < until {
            seen |= !witness::holders(&self.masters, "r").await.is_empty();
            tokio::time::sleep(20 * MS).await;
        }
        assert!(!link.is_live(), "it has arrived, or its connection was killed");
        seen
    }

    /// Makes the first master's SET late.
    async fn late_acquire<K: Kind>(&self, acquire: impl Fn(&Redlock) -> Acquire<Guard<K>>) -> bool {
        let link = self.link();
        link.hold(ToServer);
        let guard = acquire(&self.redlock).await.unwrap();
        eventually("it is on its way", SOON, async || link.waiting(ToServer) > 0).await;
        self.release_overtakes(guard, &link).await
    }

    /// The first master has lost the key and reports it to an extension. The command that sets it
    /// again is late.
    async fn late_top_up<K: Kind>(&self, acquire: impl Fn(&Redlock) -> Acquire<Guard<K>>) -> bool {
        let guard = acquire(&self.redlock).await.unwrap();
        self.stands_on(&[0, 1, 2]).await;
        let delete = redis::cmd("DEL").arg("r").to_owned();
        assert_eq!(witness::ask::<i64>(&self.masters[0], &delete).await, Ok(1));
        let link = self.link();
        link.hold(ToClient);
        guard.extend().await.unwrap();
        eventually("its answer is held", SOON, async || link.waiting(ToClient) > 0).await;
        link.hold(ToServer);
        link.let_go(ToClient);
        eventually("the top-up is on its way", SOON, async || link.waiting(ToServer) > 0).await;
        self.release_overtakes(guard, &link).await
    }

    /// The first master has the key, and its extension is late.
    async fn late_extension<K: Kind>(
        &self,
        acquire: impl Fn(&Redlock) -> Acquire<Guard<K>>,
    ) -> bool {
        let guard = acquire(&self.redlock).await.unwrap();
        self.stands_on(&[0, 1, 2]).await;
        let link = self.link();
        link.hold(ToServer);
        guard.extend().await.unwrap();
        eventually("the extension is on its way", SOON, async || link.waiting(ToServer) > 0).await;
        self.release_overtakes(guard, &link).await
    }
}

fn plain(redlock: &Redlock) -> Acquire {
    redlock.acquire("r")
}

fn fenced(redlock: &Redlock) -> Acquire<quorumlock::FencedGuard> {
    redlock.acquire("r").fenced()
}

#[tokio::test(start_paused = true)]
async fn a_late_acquire_brings_no_key_back() {
    let place = Place::new(true).await;
    assert!(!place.late_acquire(plain).await);
    assert!(!place.late_acquire(fenced).await);
}

#[tokio::test(start_paused = true)]
async fn a_late_top_up_brings_no_key_back() {
    let place = Place::new(true).await;
    assert!(!place.late_top_up(plain).await);
    assert!(!place.late_top_up(fenced).await);
}

#[tokio::test(start_paused = true)]
async fn a_late_extension_revives_no_key_even_where_it_is_executed() {
    for may_kill in [true, false] {
        let place = Place::new(may_kill).await;
        assert!(!place.late_extension(plain).await);
        assert!(!place.late_extension(fenced).await);
    }
}

/// The release of a fenced lock has raised the fence above it, whatever connection it came on.
#[tokio::test(start_paused = true)]
async fn without_kill_the_fence_keeps_late_commands_out() {
    let place = Place::new(false).await;
    assert!(!place.late_acquire(fenced).await);
    assert!(!place.late_top_up(fenced).await);
}

/// Late commands do arrive: without kill and without a fence the key comes back for a moment, and a
/// repeated release deletes it. So the tests above can fail.
#[tokio::test(start_paused = true)]
async fn without_kill_an_unfenced_key_comes_back_and_goes_again() {
    let place = Place::new(false).await;
    assert!(place.late_acquire(plain).await);
    place.stands_on(&[]).await;
    assert!(place.late_top_up(plain).await);
    place.stands_on(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_holder_learns_that_its_lock_was_taken_and_never_regains_it() {
    for (fenced, stopped) in [(false, false), (true, false), (false, true), (true, true)] {
        let masters = Masters::start(3);
        let connect = async || set_up(masters.builder()).connect().await.unwrap();
        let (ours, theirs, operator) = (connect().await, connect().await, connect().await);
        if fenced {
            let guard = ours.acquire("r").fenced().await.unwrap();
            taken_away(&masters, guard, &theirs, &operator, stopped).await;
        } else {
            let guard = ours.acquire("r").await.unwrap();
            taken_away(&masters, guard, &theirs, &operator, stopped).await;
        }
    }
}

/// One master may be `stopped` in the meantime: it receives nothing, and still has the first
/// holder's key.
async fn taken_away<K: Kind>(
    masters: &Masters,
    guard: Guard<K>,
    theirs: &Redlock,
    operator: &Redlock,
    stopped: bool,
) {
    everywhere(masters, "r").await;
    let inspection = operator.inspect("r").await.unwrap();
    if stopped {
        masters[2].stop();
    }
    operator.force_release(&inspection).await.unwrap();
    assert!(guard.is_valid(), "it has not looked yet");
    // Another client acquires and releases.
    let theirs = theirs.try_acquire("r").await.unwrap();
    assert_eq!(theirs.release().await, Ok(Released::Confirmed));
    if stopped {
        masters[2].cont();
    }
    let Err(ExtendError::Lost(lost)) = guard.extend().await else { panic!("it is lost") };
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    assert!(matches!(guard.extend().await, Err(ExtendError::Lost(_))));
    assert!(!guard.is_valid());
    let until = Instant::now() + WATCHED;
    while Instant::now() < until {
        let holders = witness::holders(&masters[..2], "r").await;
        assert_eq!(holders, [0; 0], "topped up");
        tokio::time::sleep(20 * MS).await;
    }
    drop(guard);
    witness::eventually_none(masters, |key| key == "r", SOON).await;
}

/// With a keep-alive it need not ask: the next renewal notices.
#[tokio::test(start_paused = true)]
async fn a_keeper_whose_lock_was_taken_ends_the_hold_without_renewal() {
    let masters = Masters::start(3);
    let connect = async || set_up(masters.builder()).connect().await.unwrap();
    let (ours, operator) = (connect().await, connect().await);
    let ttl = 1_000 * MS;
    let guard = ours.acquire("r").ttl(ttl).keep_alive().await.unwrap();
    everywhere(&masters, "r").await;
    let inspection = operator.inspect("r").await.unwrap();
    operator.force_release(&inspection).await.unwrap();
    let lost = guard.lost().await;
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    let until = Instant::now() + 2 * ttl;
    while Instant::now() < until {
        assert_eq!(witness::holders(&masters, "r").await, [0; 0], "renewed");
        tokio::time::sleep(20 * MS).await;
    }
}
