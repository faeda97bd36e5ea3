//! One master, and the faults that a test can inject.

use super::shell::{Port, Shell};
use crate::RedlockBuilder;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::DuplexStream;

/// One embedded master; see [`Masters`](super::Masters).
pub struct Master {
    shell: Arc<Shell>,
    url: String,
    /// `None` if it is in memory.
    port: Option<Port>,
}

/// The memory that a master has of its keys after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Empty, like a server without persistence.
    Lost,
    /// Everything, like a server that writes each command to disk before it answers.
    Kept,
}

impl Master {
    pub(super) fn on_port() -> io::Result<Self> {
        let port = Port::reserve()?;
        Self::started(format!("redis://{}", port.address), Some(port))
    }

    pub(super) fn in_memory(number: usize) -> io::Result<Self> {
        Self::started(format!("redis://embedded-{number}.invalid"), None)
    }

    fn started(url: String, port: Option<Port>) -> io::Result<Self> {
        let master = Self { shell: Shell::new()?, url, port };
        master.restart(Memory::Lost)?;
        master.set_uptime(FIRST_UPTIME);
        Ok(master)
    }

    pub(super) fn add_to(&self, builder: RedlockBuilder) -> RedlockBuilder {
        match self.port {
            Some(_) => builder.node(self.url()),
            None => builder.node_with_connector(self.url(), self.dialer()),
        }
    }

    /// Returns its address; only a name if it is in memory.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the `dial` of [`RedlockBuilder::node_with_connector`]. It opens a connection in
    /// memory, even to a master that has a port. Connections are refused while the master is
    /// killed.
    pub fn dialer(&self) -> impl Fn() -> Ready<io::Result<DuplexStream>> + Send + Sync + 'static {
        let shell = self.shell.clone();
        move || {
            let (ours, theirs) = tokio::io::duplex(SOCKET_BUFFER);
            let served = shell.serve(ours).then_some(theirs);
            ready(served.ok_or_else(|| io::ErrorKind::ConnectionRefused.into()))
        }
    }

    /// Ends the master as SIGKILL ends a server. Once this returns, no command is executed and no
    /// connection accepted; open ones are cut, and what was not read yet is lost.
    pub fn kill(&self) {
        self.shell.stop();
    }

    /// Starts the master again, and kills it first if it runs. It is then a new server process,
    /// with a new `run_id`, an uptime from zero and no connections, on the same port. Settings made
    /// with `CONFIG SET`, `REPLICAOF` or [`deny`](Self::deny) stay, as if they were in the server's
    /// configuration file.
    ///
    /// # Errors
    ///
    /// Fails if another process has taken the port in between, which can't happen on Linux.
    pub fn restart(&self, memory: Memory) -> io::Result<()> {
        self.shell.stop();
        self.shell.start(memory == Memory::Kept, self.port.as_ref())
    }

    /// Stops the master as SIGSTOP stops a server. Connections and bytes still arrive, but nothing
    /// is read, executed or answered until [`resume`](Self::resume). Keys expire in the meantime.
    pub fn pause(&self) {
        self.shell.change(|condition| condition.paused = true);
    }

    /// Lets a paused master continue, first with everything that has arrived in the meantime.
    pub fn resume(&self) {
        self.shell.change(|condition| condition.paused = false);
    }

    /// Delays each answer by this much, in order. Commands are executed at once, so an answer that
    /// is too late reports something done. Zero ends the delay, for the answers to come.
    pub fn set_latency(&self, latency: Duration) {
        self.shell.state().latency = latency;
    }

    /// Cuts the network to the master, in both directions. Connections do not break: both sides
    /// merely hear nothing until [`heal`](Self::heal), even across a restart.
    pub fn partition(&self) {
        self.shell.change(|condition| condition.partitioned = true);
    }

    /// Restores the network: bytes sent on connections that are still open arrive now, in order, as
    /// a network would send them again.
    pub fn heal(&self) {
        self.shell.change(|condition| condition.partitioned = false);
    }

    /// Gives the master a clock of its own, which decides when its keys expire. It may be ahead or
    /// behind, step or stand still. The uptime continues from where it was. It then follows the new
    /// clock, with all its steps, as a server's uptime follows the machine's clock.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1)?;
    /// use std::time::{Duration, SystemTime};
    ///
    /// masters[0].set_clock(|| SystemTime::now() + Duration::from_secs(3));
    /// # Ok(()) }
    /// ```
    pub fn set_clock(&self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.shell.set_clock(Arc::new(clock));
    }

    /// Sets how long the master has been up, as `INFO server` reports it. The uptime grows from
    /// there, until the next [`restart`](Self::restart) begins at zero. Clients that keep a
    /// restarted master from voting for a while rely on it. At its first start a master has been up
    /// for a day, so that no client has to wait for masters that were made for the test.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1)?;
    /// use std::time::Duration;
    ///
    /// masters[0].set_uptime(Duration::ZERO); // As if it had started only now.
    /// # Ok(()) }
    /// ```
    pub fn set_uptime(&self, uptime: Duration) {
        let micros = i64::try_from(uptime.as_micros()).unwrap_or(i64::MAX);
        self.shell.adjust(|machine, now| machine.set_uptime(micros, now));
    }

    /// Denies these commands to every client, as an ACL would: they answer `NOPERM`. Commands that
    /// were denied before and are not named are allowed again, so `deny(&[])` ends it. A subcommand
    /// is spelled as in an ACL, `client|kill`; `client` alone is all of them. The denial outlasts a
    /// restart.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1)?;
    /// masters[0].deny(&["client|kill", "info"])?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails without any change if it knows no such command, or if the command is `hello` or
    /// `auth`, which no server denies.
    pub fn deny(&self, commands: &[&str]) -> io::Result<()> {
        let denied = self.shell.adjust(|machine, _| machine.deny(commands));
        denied.map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))
    }

    /// Returns the value under `key` in database 0: the token of the lock's holder on this master.
    /// `None` while the master is killed.
    pub fn holder(&self, key: &str) -> Option<String> {
        self.shell.look(|machine, now| {
            let value = machine.value(key.as_bytes(), now)?;
            Some(String::from_utf8_lossy(value).into_owned())
        })?
    }

    /// Returns the time that `key` in database 0 has left; [`Duration::MAX`] if it does not expire.
    pub fn time_to_live(&self, key: &str) -> Option<Duration> {
        self.shell.look(|machine, now| machine.time_to_live(key.as_bytes(), now))?
    }

    /// Returns the keys of database 0, in order: locks and fences, without what outlives its clients for a
    /// while (`quorumlock:agreement`, and the lists of waiters). Empty while the master is killed.
    pub fn keys(&self) -> Vec<String> {
        let keys = self.shell.look(|machine, now| {
            let keys = machine.keys(now).map(|key| String::from_utf8_lossy(key).into_owned());
            // Behind any prefix.
            let is_agreement = |key: &String| key.ends_with("quorumlock:agreement");
            keys.filter(|key| !is_agreement(key) && !key.contains("quorumlock:waitlist")).collect()
        });
        keys.unwrap_or_default()
    }
}

/// The uptime that a new master reports: long enough for every restart guard.
const FIRST_UPTIME: Duration = Duration::from_secs(86_400);

/// The capacity of a connection in memory while the other side does not read.
const SOCKET_BUFFER: usize = 256 << 10;

debug_fields!(Master, master { url: master.url });

impl Drop for Master {
    fn drop(&mut self) {
        self.shell.stop();
    }
}
