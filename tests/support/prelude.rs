//! What most tests of locks need: masters, a client of them, the witness, and the usual spans of
//! time. A module that needs another bound declares its own, which takes precedence.

// Each module uses a part of it.
#![allow(unused_imports)]

pub(crate) use super::masters::{Masters, builder};
pub(crate) use super::poll::eventually;
pub(crate) use super::server::Server;
pub(crate) use super::witness::{self, AGREEMENT, outlives_clients};
use quorumlock::Redlock;
use std::time::Duration;

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Bound on what takes milliseconds on an idle machine.
pub(crate) const SOON: Duration = Duration::from_secs(5);
/// Longer than [`SOON`]: a key with this ttl that is gone by then was deleted and has not expired.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Starts three masters and connects a client of them.
pub(crate) async fn three() -> (Masters, Redlock) {
    connected(3).await
}

/// Starts five masters and connects a client of them.
pub(crate) async fn five() -> (Masters, Redlock) {
    connected(5).await
}

async fn connected(n: usize) -> (Masters, Redlock) {
    let masters = Masters::start(n);
    // A test that is about timeouts sets its own. Here the machine may be busy.
    let patient = masters.builder().operation_timeout(900 * MS);
    let redlock = patient.connect().await.unwrap();
    (masters, redlock)
}

/// Waits until every one of these masters has the key, and all the same.
pub(crate) async fn everywhere(masters: &[impl witness::Master], key: &str) {
    let same = async || {
        let values = witness::values(masters, key).await;
        values[0].is_some() && values.iter().all(|value| *value == values[0])
    };
    eventually("every master has the key", SOON, same).await;
}

/// Waits until so many stand in the list of `r`, and returns the master that has it.
pub(crate) async fn stand(masters: &[impl witness::Master], waiters: usize) -> usize {
    let all = redis::cmd("ZRANGE").arg("quorumlock:waitlist:r").arg(0).arg(-1).to_owned();
    let mut at = None;
    eventually("they stand in the list", 2 * SOON, async || {
        for (node, server) in masters.iter().enumerate() {
            let listed: Vec<String> = witness::ask(server, &all).await.unwrap_or_default();
            // A mark is no waiter.
            let standing = listed.iter().filter(|name| !name.starts_with('>')).count();
            at = at.or((standing == waiters).then_some(node));
        }
        at.is_some()
    })
    .await;
    at.unwrap()
}
