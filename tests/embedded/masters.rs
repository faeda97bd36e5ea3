//! Masters in virtual time, with the interface of the real ones in `tests/support`, so that a test of the
//! client reads alike on both. Their addresses are only names: a client dials them through
//! [`Masters::builder`] and [`Master::add_to`].

use crate::support::witness::{self, Unseen, limits};
use quorumlock::embedded::{self, Memory};
use quorumlock::{RedlockBuilder, RestartGuard};
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection;
use std::io::ErrorKind;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::DuplexStream;

/// Several independent masters; derefs to a slice of [`Master`].
pub(crate) struct Masters(Vec<Master>);

/// One of them.
pub(crate) struct Master {
    all: Arc<embedded::Masters>,
    place: usize,
    /// Commands that the witness itself has sent since the last restart.
    witnessed: AtomicU64,
}

impl Masters {
    pub(crate) fn start(n: usize) -> Self {
        let all = Arc::new(embedded::Masters::start_in_virtual_time(n).unwrap());
        let master = |place| Master { all: all.clone(), place, witnessed: AtomicU64::new(0) };
        Self((0..n).map(master).collect())
    }

    /// Starts masters that have only just started, as the restart guard sees it.
    pub(crate) fn start_young(n: usize) -> Self {
        let masters = Self::start(n);
        masters.iter().for_each(|master| master.set_uptime(Duration::ZERO));
        masters
    }

    /// Configures a client of them all, without a restart guard and without a label.
    pub(crate) fn builder(&self) -> RedlockBuilder {
        self.of(0..self.len())
    }

    /// Configures a client of these masters.
    pub(crate) fn of(&self, nodes: impl IntoIterator<Item = usize>) -> RedlockBuilder {
        nodes.into_iter().fold(builder(), |builder, node| self[node].add_to(builder))
    }

    /// Adds these masters as the second list.
    pub(crate) fn joint_with(
        &self,
        builder: RedlockBuilder,
        nodes: impl IntoIterator<Item = usize>,
    ) -> RedlockBuilder {
        nodes.into_iter().fold(builder, |builder, node| {
            builder.joint_with_connector(self[node].url(), self[node].dialer())
        })
    }

    pub(crate) fn kill(&self, node: usize) {
        self[node].kill();
    }
}

/// Configures a client in virtual time that has no masters yet.
pub(crate) fn builder() -> RedlockBuilder {
    let none = embedded::Masters::start_in_virtual_time(0).unwrap();
    none.builder().restart_guard(RestartGuard::Off).label("")
}

impl Master {
    pub(crate) fn add_to(&self, builder: RedlockBuilder) -> RedlockBuilder {
        builder.node_with_connector(self.url(), self.dialer())
    }

    /// Returns its address as errors show it.
    pub(crate) fn addr(&self) -> String {
        format!("embedded-{}.invalid:6379", self.place + 1)
    }

    /// Stops it as SIGSTOP does.
    pub(crate) fn stop(&self) {
        self.pause();
    }

    /// Lets it go on, as SIGCONT does.
    pub(crate) fn cont(&self) {
        self.resume();
    }

    /// Kills it and starts it again: another process, without a memory.
    pub(crate) fn restart(&self) {
        self.witnessed.store(0, Ordering::Relaxed);
        self.deref().restart(Memory::Lost).unwrap();
    }
}

impl witness::Master for Master {
    fn name(&self) -> String {
        self.addr()
    }

    async fn open(&self) -> Result<MultiplexedConnection, Unseen> {
        let stream: DuplexStream = self.dialer()().await.map_err(|error| match error.kind() {
            ErrorKind::ConnectionRefused => Unseen::Down,
            _ => Unseen::Silent(error.to_string()),
        })?;
        let login = RedisConnectionInfo::default().set_skip_set_lib_name();
        let connecting = MultiplexedConnection::new_with_config(&login, stream, limits());
        let (connection, driver) = connecting.await?;
        // It ends with the connection.
        tokio::spawn(driver);
        Ok(connection)
    }

    fn count_own(&self, commands: u64) -> u64 {
        self.witnessed.fetch_add(commands, Ordering::Relaxed) + commands
    }
}

impl Deref for Masters {
    type Target = [Master];

    fn deref(&self) -> &[Master] {
        &self.0
    }
}

impl Deref for Master {
    type Target = embedded::Master;

    fn deref(&self) -> &embedded::Master {
        &self.all[self.place]
    }
}
