//! The conformance suite against redis-server processes.
//! On a real clock: the same in virtual time is in `tests/embedded/conformance.rs`.

use crate::support::conformance::{Backend, Cluster};
use crate::support::prelude::*;
use quorumlock::RedlockBuilder;
use redis::{Cmd, Value};

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
        builder().nodes(self.iter().map(|master| format!("{}/{database}", master.url())))
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

crate::support::conformance::conformance!(crate::conformance::Processes);
