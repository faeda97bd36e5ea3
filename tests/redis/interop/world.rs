//! The masters that both share, and the keys on them.

use super::peer::Peer;
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::server::Server;
use crate::support::witness;
use futures::future::join_all;
use quorumlock::Redlock;
use std::time::Duration;

/// Long enough that nothing expires before a test is over.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// Bound on anything that is due, on a machine that is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct World<P> {
    pub(crate) masters: Masters,
    pub(crate) ours: Redlock,
    pub(crate) theirs: P,
}

impl<P: Peer> World<P> {
    pub(crate) async fn start() -> Self {
        let masters = Masters::start(P::MASTERS);
        let ours = ours::<P>(&masters).await;
        let theirs = P::connect(masters.urls()).await;
        Self { masters, ours, theirs }
    }

    /// Returns the name of a resource in Redis.
    pub(crate) fn key(resource: &str) -> String {
        format!("{}{resource}", P::PREFIX)
    }

    /// Acquires with their client. It makes more than one attempt, since some clients give a master
    /// very little time.
    pub(crate) async fn theirs(&self, resource: &str) -> P::Held {
        let mut held = None;
        let attempt = async || {
            held = self.theirs.attempt(resource, TTL).await;
            held.is_some()
        };
        eventually("they get a lock that is free", PATIENCE, attempt).await;
        held.unwrap()
    }

    /// Asserts that one attempt of theirs gets nothing.
    pub(crate) async fn assert_refused_there(&self, resource: &str) {
        assert!(self.theirs.attempt(resource, TTL).await.is_none(), "both hold {resource}");
    }

    /// Asserts that one attempt of ours learns that another client holds the lock.
    pub(crate) async fn assert_contended_here(&self, resource: &str) {
        let error = self.ours.try_acquire(resource).await.unwrap_err();
        assert!(error.is_contended(), "{error}");
        let text = format!("\"{resource}\" is held by another client");
        assert!(error.to_string().starts_with(&text), "{error}");
    }

    /// Returns the value of the resource's key, master by master. A dead one has none.
    pub(crate) async fn standing(&self, resource: &str) -> Vec<Option<Vec<u8>>> {
        let key = Self::key(resource);
        let look = async |server: &Server| {
            let mut get = redis::cmd("GET");
            match witness::ask(server, get.arg(&key)).await {
                Ok(value) => value,
                Err(witness::Unseen::Down) => None,
                Err(silent) => panic!("{}: {silent:?}", server.addr()),
            }
        };
        join_all(self.masters.iter().map(look)).await
    }

    /// Returns these values once all masters that are up have the key: a winner goes on before the
    /// last of them has answered.
    pub(crate) async fn settled(&self, resource: &str) -> Vec<Option<Vec<u8>>> {
        let mut seen = Vec::new();
        let up = self.masters.iter().filter(|server| server.is_running()).count();
        let all = async || {
            seen = self.standing(resource).await;
            let mut there = seen.iter().flatten();
            let first = there.next();
            first.is_some() && 1 + there.filter(|value| Some(*value) == first).count() == up
        };
        eventually("all masters have the key", PATIENCE, all).await;
        seen
    }

    /// Expires a key at the server, as if its time were over.
    pub(crate) async fn lapse(&self, resource: &str) {
        self.settled(resource).await;
        let key = Self::key(resource);
        for server in self.masters.iter() {
            let mut expire = redis::cmd("PEXPIRE");
            witness::ask::<()>(server, expire.arg(&key).arg(1)).await.unwrap();
        }
        self.assert_free(resource).await;
    }

    /// Deletes the key on as many masters as a quorum can do without, and returns how many those
    /// are.
    pub(crate) async fn take_from_a_minority(&self, resource: &str) -> usize {
        let minority = (P::MASTERS - 1) / 2;
        let key = Self::key(resource);
        for server in &self.masters[..minority] {
            witness::ask::<()>(server, redis::cmd("DEL").arg(&key)).await.unwrap();
        }
        minority
    }

    /// Waits until a client of ours stands in the list of this resource.
    pub(crate) async fn one_waits(&self, resource: &str) {
        let waits = async || self.ours.inspect(resource).await.unwrap().waiting() == Some(1);
        eventually("one waits in turn", PATIENCE, waits).await;
    }

    /// Asserts that the lock is free, at least shortly after.
    pub(crate) async fn assert_free(&self, resource: &str) {
        let free = async || self.standing(resource).await.iter().all(Option::is_none);
        eventually("the key is gone", PATIENCE, free).await;
    }
}

/// Connects a client of ours that shares names with them, and gives a busy machine time.
pub(crate) async fn ours<P: Peer>(masters: &Masters) -> Redlock {
    let builder = masters.builder().key_prefix(P::PREFIX).ttl(TTL).acquire_timeout(PATIENCE);
    builder.operation_timeout(TTL / 10).connect_timeout(TTL / 10).connect().await.unwrap()
}
