//! Ways in which a SET reaches its master too late, or its answer never comes. Each plays one
//! batch of acquires on five masters and tells how many keys are left a second after the last
//! byte has arrived.

use super::masters::Masters;
use super::poll::{PAUSE, eventually};
use super::proxy::{Cut, Direction::*, Link, Proxy, in_front_of};
use super::sabotage::{Sabotage, dial_through};
use super::seed::Rng;
use super::witness;
use futures::future::join_all;
use quorumlock::{AcquireError, Guard, Redlock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Acquires at the same time, each of a resource of its own.
pub(crate) const BATCH: usize = 50;

pub(crate) const OPERATION_TIMEOUT: Duration = Duration::from_millis(60);

/// How long the leftovers have to go after the last byte.
const GRACE: Duration = Duration::from_secs(1);

/// Long enough for anything that will happen, on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Five masters, a proxy before each of the first three.
pub(crate) struct Setup {
    pub(crate) masters: Masters,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) redlock: Redlock,
    pub(crate) spoiled: Arc<AtomicU64>,
    named: AtomicU64,
}

impl Setup {
    pub(crate) async fn start(ttl: Duration) -> Self {
        Self::start_over(ttl, None).await
    }

    /// With a stream between client and network that takes a safeguard away.
    pub(crate) async fn start_with(sabotage: Sabotage) -> Self {
        Self::start_over(Duration::from_secs(10), Some(sabotage)).await
    }

    async fn start_over(ttl: Duration, sabotage: Option<Sabotage>) -> Self {
        let masters = Masters::start(5);
        let proxies = in_front_of(masters[..3].iter().map(|master| master.addr()));
        let behind = proxies.iter().map(Proxy::addr);
        let addresses = behind.chain(masters[3..].iter().map(|master| master.addr()));
        let spoiled = Arc::new(AtomicU64::new(0));
        let builder = addresses.fold(Redlock::builder(), |builder, address| {
            let url = format!("redis://{address}");
            match sabotage {
                None => builder.node(url),
                Some(how) => builder.node_via(url, dial_through(address, how, spoiled.clone())),
            }
        });
        let builder = builder.ttl(ttl).operation_timeout(OPERATION_TIMEOUT);
        let redlock = builder.connect_timeout(Duration::from_millis(250)).connect().await.unwrap();
        Self { masters, proxies, redlock, spoiled, named: AtomicU64::new(0) }
    }

    /// The SETs are held until their acquires have failed.
    pub(crate) async fn held_until_the_acquires_have_failed(&self) -> usize {
        self.proxies.iter().for_each(|proxy| proxy.hold(ToServer));
        self.fail_a_batch().await;
        self.proxies.iter().for_each(|proxy| proxy.let_go(ToServer));
        self.left().await
    }

    /// Every byte is late by more than the operation timeout, each way to a master by its own.
    pub(crate) async fn delayed_beyond_the_timeout(&self, rng: &mut Rng) -> usize {
        for proxy in &self.proxies {
            proxy.delay(ToServer, rng.duration(OPERATION_TIMEOUT * 3 / 2..OPERATION_TIMEOUT * 5));
        }
        self.fail_a_batch().await;
        tokio::time::sleep(rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 5)).await;
        self.proxies.iter().for_each(|proxy| proxy.delay(ToServer, Duration::ZERO));
        self.left().await
    }

    /// The SETs are held until another connection has carried the rollbacks; then the old ones
    /// deliver the SETs alone and break.
    pub(crate) async fn held_until_the_connections_are_replaced(&self) -> usize {
        let links = self.links(3);
        links.iter().for_each(|link| link.hold(ToServer));
        let names = self.names();
        let sets = bytes_of_sets(&names);
        self.fail(&names).await;
        self.all_vote().await;
        for link in links {
            link.change(ToServer, |rules| rules.cut_after = Some(sets));
            link.let_go(ToServer);
        }
        self.left().await
    }

    /// A minority holds the SETs of acquires that are won without it, until it has been
    /// reconnected and the locks are released.
    pub(crate) async fn held_until_the_locks_are_released(&self) -> usize {
        let links = self.links(2);
        links.iter().for_each(|link| link.hold(ToServer));
        let guards = self.hold_a_batch().await;
        self.all_vote().await;
        join_all(guards.into_iter().map(Guard::release)).await;
        self.all_vote().await;
        links.iter().for_each(|link| link.let_go(ToServer));
        self.left().await
    }

    /// The SETs are applied, and nobody hears of it.
    pub(crate) async fn answers_are_lost(&self) -> usize {
        self.links(3).iter().for_each(|link| link.discard(ToClient));
        self.fail_a_batch().await;
        self.left().await
    }

    /// The connections break right behind the SETs, before a single answer.
    pub(crate) async fn cut_behind_the_sets(&self) -> usize {
        let names = self.names();
        let sets = bytes_of_sets(&names);
        for link in self.links(3) {
            link.hold(ToClient);
            link.change(ToServer, |rules| rules.cut_after = Some(sets));
        }
        self.fail(&names).await;
        self.left().await
    }

    /// The connections break at any moment.
    pub(crate) async fn cut_at_random(&self, rng: &mut Rng) -> usize {
        let (links, how) = (self.links(3), *rng.pick(&[Cut::Fin, Cut::Reset]));
        links.iter().for_each(|link| link.hold(ToClient));
        let moment = rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 2);
        tokio::join!(self.fail_a_batch(), async {
            tokio::time::sleep(moment).await;
            links.iter().for_each(|link| link.cut(how));
        });
        self.left().await
    }

    pub(crate) async fn fail_a_batch(&self) {
        self.fail(&self.names()).await;
    }

    async fn fail(&self, names: &[String]) {
        let acquires =
            names.iter().map(|name| self.redlock.try_acquire(name.as_str()).into_future());
        for result in join_all(acquires).await {
            assert!(matches!(&result, Err(AcquireError::NoQuorum(_))), "{result:?}");
        }
    }

    pub(crate) async fn hold_a_batch(&self) -> Vec<Guard> {
        let names = self.names();
        let acquires = names.iter().map(|name| self.redlock.acquire(name.as_str()).into_future());
        join_all(acquires).await.into_iter().map(Result::unwrap).collect()
    }

    fn names(&self) -> Vec<String> {
        (0..BATCH).map(|_| format!("late:{:06}", self.number())).collect()
    }

    fn number(&self) -> u64 {
        self.named.fetch_add(1, Ordering::Relaxed)
    }

    /// The connection that each of the first proxies carries now.
    fn links(&self, proxies: usize) -> Vec<Arc<Link>> {
        let newest = |proxy: &Proxy| proxy.link(proxy.connections() - 1);
        self.proxies[..proxies].iter().map(newest).collect()
    }

    /// Waits until every node takes part again: one more lock stands on all five. What was sent
    /// on the same connections before has been executed by then.
    pub(crate) async fn all_vote(&self) {
        eventually("a lock stands on every master", SOON, async || {
            let probe = format!("probe:{}", self.number());
            let Ok(_guard) = self.redlock.try_acquire(probe.as_str()).await else { return false };
            let patience = Instant::now() + OPERATION_TIMEOUT;
            while Instant::now() < patience {
                if witness::holders(&self.masters, &probe).await.len() == self.masters.len() {
                    return true;
                }
            }
            false
        })
        .await;
    }

    /// How many keys there are a second after the last byte has arrived; zero as soon as it is.
    pub(crate) async fn left(&self) -> usize {
        eventually("old connections have delivered what they held", SOON, async || {
            self.proxies.iter().all(|proxy| proxy.live() == 1 && proxy.waiting(ToServer) == 0)
        })
        .await;
        let last_byte = self.proxies.iter().filter_map(|it| it.last_byte_delivered_at(ToServer));
        let deadline = last_byte.max().expect("some byte was delivered") + GRACE;
        self.all_vote().await;
        loop {
            let last = Instant::now() >= deadline;
            let left = self.late_keys().await;
            if left == 0 || last {
                return left;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The keys on all masters together, but for those of the probes.
    pub(crate) async fn late_keys(&self) -> usize {
        let keys = join_all(self.masters.iter().map(witness::keys)).await;
        keys.into_iter()
            .map(Result::unwrap)
            .flatten()
            .filter(|key| key.starts_with("late:"))
            .count()
    }
}

/// The length of the SETs of these resources: tokens and ttl have one length.
fn bytes_of_sets(names: &[String]) -> u64 {
    let len = |name: &String| {
        let mut set = redis::cmd("SET");
        set.arg(name).arg("0".repeat(32)).arg("NX").arg("PX").arg(10_000);
        set.get_packed_command().len() as u64
    };
    names.iter().map(len).sum()
}
