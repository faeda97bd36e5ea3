//! Several independent masters.

use super::server::{self, Server};
use quorumlock::{Redlock, RedlockBuilder, RestartGuard};
use std::ops::Deref;
use std::path::PathBuf;
use std::thread;

/// Several independent masters; derefs to a slice of [`Server`].
#[derive(Debug)]
pub(crate) struct Masters(Vec<Server>);

impl Masters {
    /// Starts `n` of them at the same time.
    pub(crate) fn start(n: usize) -> Self {
        Self::start_with(n, &[])
    }

    pub(crate) fn start_with(n: usize, arguments: &[&str]) -> Self {
        Self(thread::scope(|scope| {
            // In turn, before the threads: where servers are mixed, each place has the same one every time.
            let programs = (0..n).map(|_| server::program());
            let start =
                |program: PathBuf| scope.spawn(move || Server::start_at(&program, arguments, None));
            let starting: Vec<_> = programs.map(start).collect();
            starting.into_iter().map(|start| start.join().expect("a master that starts")).collect()
        }))
    }

    /// Starts masters whose clocks can be set: [`clock::set`](super::clock::set). Returns `None` if
    /// there is no libfaketime.
    pub(crate) fn start_with_clocks(n: usize) -> Option<Self> {
        (0..n).map(|_| Server::start_with_clock()).collect::<Option<_>>().map(Self)
    }

    /// Configures a client of them all.
    pub(crate) fn builder(&self) -> RedlockBuilder {
        builder().nodes(self.urls())
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.iter().map(Server::url).collect()
    }

    pub(crate) fn kill(&self, node: usize) {
        self[node].kill();
    }
}

/// Configures a client of masters that have only just started. It does not wait until they are old
/// enough to vote: what they had granted before a restart is the test's responsibility. It has no label:
/// that of a process is another one in each run.
pub(crate) fn builder() -> RedlockBuilder {
    Redlock::builder().restart_guard(RestartGuard::Off).label("")
}

impl Deref for Masters {
    type Target = [Server];

    fn deref(&self) -> &[Server] {
        &self.0
    }
}
