//! Ways in which a SET reaches its master too late, or its answer never arrives. Each plays one
//! batch of acquires on five masters and returns how many keys are left a second after the last
//! byte has arrived.

pub(crate) mod setup;

use super::poll::{PAUSE, eventually};
use super::proxy::{Cut, Direction::*};
use super::seed::Rng;
use futures::future::join_all;
use quorumlock::Guard;
use setup::{OPERATION_TIMEOUT, Place, SOON, Setup};
use std::time::Duration;
use tokio::time::Instant;

/// Time for the leftovers to disappear after the last byte.
const GRACE: Duration = Duration::from_secs(1);

impl<P: Place> Setup<P> {
    /// Holds the SETs until their acquires have failed.
    pub(crate) async fn held_until_the_acquires_have_failed(&self) -> usize {
        self.place.proxies().iter().for_each(|proxy| proxy.hold(ToServer));
        self.fail_a_batch().await;
        self.place.proxies().iter().for_each(|proxy| proxy.let_go(ToServer));
        self.left().await
    }

    /// Delays every byte by more than the operation timeout, to each master by its own delay.
    pub(crate) async fn delayed_beyond_the_timeout(&self, rng: &mut Rng) -> usize {
        for proxy in self.place.proxies() {
            proxy.delay(ToServer, rng.duration(OPERATION_TIMEOUT * 3 / 2..OPERATION_TIMEOUT * 5));
        }
        self.fail_a_batch().await;
        tokio::time::sleep(rng.duration(Duration::ZERO..OPERATION_TIMEOUT * 5)).await;
        self.place.proxies().iter().for_each(|proxy| proxy.delay(ToServer, Duration::ZERO));
        self.left().await
    }

    /// Holds the SETs until another connection has carried the rollbacks. Then the old connections
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

    /// Holds the SETs on a minority, in acquires that win without it, until the minority is
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

    /// The masters apply the SETs, and no client receives the answers.
    pub(crate) async fn answers_are_lost(&self) -> usize {
        self.links(3).iter().for_each(|link| link.discard(ToClient));
        self.fail_a_batch().await;
        self.left().await
    }

    /// Breaks the connections right after the SETs, before a single answer.
    pub(crate) async fn cut_behind_the_sets(&self) -> usize {
        let names = self.names();
        let sets = bytes_of_sets(&names);
        let links = self.links(3);
        for link in &links {
            link.hold(ToClient);
            link.change(ToServer, |rules| rules.cut_after = Some(sets));
        }
        self.fail(&names).await;
        links.iter().for_each(|link| link.let_go(ToClient));
        self.left().await
    }

    /// Breaks the connections at any moment.
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

    /// Returns how many keys there are a second after the last byte has arrived; zero as soon as
    /// there are none.
    pub(crate) async fn left(&self) -> usize {
        eventually("old connections have delivered what they held", SOON, async || {
            self.place
                .proxies()
                .iter()
                .all(|proxy| proxy.live() == 1 && proxy.waiting(ToServer) == 0)
        })
        .await;
        let last_byte =
            self.place.proxies().iter().filter_map(|proxy| proxy.last_byte_delivered_at(ToServer));
        let deadline = last_byte.max().expect("some byte was delivered") + GRACE;
        self.all_vote().await;
        loop {
            let last = Instant::now() >= deadline;
            let left = self.late_keys().await;
            if left == 0 || last {
                return left;
            }
            tokio::time::sleep(10 * PAUSE).await;
        }
    }
}

/// Returns the length of the SETs of these resources: all tokens have one length, and so have all
/// ttls.
fn bytes_of_sets(names: &[String]) -> u64 {
    let len = |name: &String| {
        let mut set = redis::cmd("SET");
        set.arg(name).arg("0".repeat(32)).arg("NX").arg("PX").arg(10_000);
        set.get_packed_command().len() as u64
    };
    names.iter().map(len).sum()
}
