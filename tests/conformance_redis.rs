//! The conformance suite against redis-server processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod support;

use conformance::{Backend, Cluster};
use quorumlock::RedlockBuilder;
use redis::{Cmd, Value};
use support::masters::{Masters, builder};
use support::witness;

struct Processes;

impl Backend for Processes {
    type Cluster = Masters;

    async fn masters(n: usize) -> Masters {
        Masters::start(n)
    }
}

impl Cluster for Masters {
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    fn builder_in(&self, database: i64) -> RedlockBuilder {
        builder().nodes(self.iter().map(|one| format!("{}/{database}", one.url())))
    }

    async fn ask(&self, node: usize, command: &Cmd) -> Value {
        witness::ask(&self[node], command).await.unwrap()
    }

    async fn kill(&self, node: usize) {
        self[node].kill();
    }

    async fn restart(&self, node: usize) {
        self[node].restart();
    }
}

conformance::conformance!(Processes);
