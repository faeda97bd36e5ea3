//! One master, and what can happen to it.

use super::port::Port;
use super::shell::Shell;
use crate::RedlockBuilder;
use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::DuplexStream;

/// One embedded master; see [`Masters`](super::Masters).
pub struct Master {
    shell: Arc<Shell>,
    place: Place,
}

enum Place {
    Port(Port),
    Memory(usize),
}

/// What a master remembers of its keys after a restart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Nothing, as a server without persistence.
    Lost,
    /// Everything, as a server that writes each command to disk before it answers.
    Kept,
}

impl Master {
    pub(super) fn on_port() -> io::Result<Self> {
        Self::started(Place::Port(Port::reserve()?))
    }

    pub(super) fn in_memory(number: usize) -> io::Result<Self> {
        Self::started(Place::Memory(number))
    }

    fn started(place: Place) -> io::Result<Self> {
        let master = Self { shell: Shell::new()?, place };
        master.restart(Memory::Lost)?;
        master.set_uptime(FIRST_UPTIME);
        Ok(master)
    }

    pub(super) fn add_to(&self, builder: RedlockBuilder) -> RedlockBuilder {
        match self.place {
            Place::Port(_) => builder.node(self.url()),
            Place::Memory(_) => builder.node_via(self.url(), self.dialer()),
        }
    }

    /// Its address; only a name if it is in memory.
    pub fn url(&self) -> String {
        match &self.place {
            Place::Port(port) => format!("redis://{}", port.address()),
            Place::Memory(number) => format!("redis://embedded-{number}.invalid"),
        }
    }

    /// For [`RedlockBuilder::node_via`]: opens a connection in memory, also to a master that has
    /// a port. Refused while the master is killed.
    pub fn dialer(&self) -> impl Fn() -> Ready<io::Result<DuplexStream>> + Send + Sync + 'static {
        let shell = self.shell.clone();
        move || {
            let (ours, theirs) = tokio::io::duplex(SOCKET_BUFFER);
            ready(if shell.serve(ours) {
                Ok(theirs)
            } else {
                Err(io::ErrorKind::ConnectionRefused.into())
            })
        }
    }

    /// Ends the master as SIGKILL ends a server: once this returns, no command is executed and no
    /// connection accepted; open ones are cut, and what was not read yet is lost.
    pub fn kill(&self) {
        self.shell.stop();
    }

    /// Starts the master again, killing it first if it runs: a new server process, with a new
    /// `run_id`, an uptime from zero and no connections, on the same port. What was set with
    /// `CONFIG SET`, `REPLICAOF` or [`deny`](Self::deny) stays, as if it stood in the server's
    /// configuration file.
    ///
    /// # Errors
    ///
    /// When somebody else has taken the port in between, which can't happen on Linux.
    pub fn restart(&self, memory: Memory) -> io::Result<()> {
        self.shell.stop();
        let port = match &self.place {
            Place::Port(port) => Some(port),
            Place::Memory(_) => None,
        };
        self.shell.start(memory == Memory::Kept, port)
    }

    /// Stops the master as SIGSTOP stops a server: connections and bytes still arrive, and
    /// nothing is read, executed or answered until [`resume`](Self::resume). Keys expire
    /// meanwhile.
    pub fn pause(&self) {
        self.shell.change(|condition| condition.paused = true);
    }

    /// Lets a paused master go on, first with everything that has arrived meanwhile.
    pub fn resume(&self) {
        self.shell.change(|condition| condition.paused = false);
    }

    /// Each answer arrives this much later than it would, in order. Commands are executed at
    /// once, so an answer that is too late tells of something done. Zero ends it, for the answers
    /// to come.
    pub fn slow(&self, by: Duration) {
        self.shell.slow(by);
    }

    /// Cuts the network to the master: nothing arrives there, and no answer from there. Nothing
    /// breaks either: both sides merely hear nothing, until [`rejoin`](Self::rejoin), be it over
    /// a restart.
    pub fn cut_off(&self) {
        self.shell.change(|condition| condition.cut_off = true);
    }

    /// Mends the network: what was sent on connections that are still open arrives now, in
    /// order, as a network would send it again.
    pub fn rejoin(&self) {
        self.shell.change(|condition| condition.cut_off = false);
    }

    /// Gives the master a clock of its own, which decides when its keys expire. It may be ahead,
    /// behind, step or stand still. Its uptime goes on from where it was, and then follows the
    /// new clock, with all its steps, as a server's uptime follows the machine's clock.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1).await?;
    /// use std::time::{Duration, SystemTime};
    ///
    /// masters[0].set_clock(|| SystemTime::now() + Duration::from_secs(3));
    /// # Ok(()) }
    /// ```
    pub fn set_clock(&self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.shell.set_clock(Arc::new(clock));
    }

    /// Sets how long the master has been up, as `INFO server` tells it; it grows from there, until
    /// the next [`restart`](Self::restart) begins at zero. Clients that keep a restarted master
    /// from voting for a while go by it: at its first start a master has been up for a day, so
    /// that nobody has to wait for masters that were made for the test.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1).await?;
    /// use std::time::Duration;
    ///
    /// masters[0].set_uptime(Duration::ZERO); // As if it had started only now.
    /// # Ok(()) }
    /// ```
    pub fn set_uptime(&self, uptime: Duration) {
        let micros = i64::try_from(uptime.as_micros()).unwrap_or(i64::MAX);
        self.shell.adjust(|machine, now| machine.set_uptime(micros, now));
    }

    /// Denies these commands to every client, as an ACL would: they answer `NOPERM`. What was
    /// denied before and is not named is allowed again, so `deny(&[])` ends it. A subcommand is
    /// spelled as in an ACL, `client|kill`; `client` alone is all of them. It outlasts a restart.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(1).await?;
    /// masters[0].deny(&["client|kill", "info"])?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When it knows no such command, or it is `hello` or `auth`, which no server denies. Nothing
    /// has changed then.
    pub fn deny(&self, commands: &[&str]) -> io::Result<()> {
        let denied = self.shell.adjust(|machine, _| machine.deny(commands));
        denied.map_err(|problem| io::Error::new(io::ErrorKind::InvalidInput, problem))
    }

    /// What stands under `key` in database 0: the token of whoever holds the lock there. `None`
    /// while the master is killed.
    pub fn holder(&self, key: &str) -> Option<String> {
        self.shell.look(|machine, now| {
            let value = machine.value(key.as_bytes(), now)?;
            Some(String::from_utf8_lossy(value).into_owned())
        })?
    }

    /// How long `key` in database 0 has yet to live; [`Duration::MAX`] if it does not expire.
    pub fn time_to_live(&self, key: &str) -> Option<Duration> {
        self.shell.look(|machine, now| machine.time_to_live(key.as_bytes(), now))?
    }

    /// The keys of database 0, in order: locks and fences, without what clients agree on
    /// (`quorumlock:agreement`). None while the master is killed.
    pub fn keys(&self) -> Vec<String> {
        let keys = self.shell.look(|machine, now| {
            let keys = machine.keys(now).map(|key| String::from_utf8_lossy(key).into_owned());
            keys.filter(|key| !key.ends_with("quorumlock:agreement")).collect()
        });
        keys.unwrap_or_default()
    }
}

/// What a new master tells of its age: long enough for every restart guard.
const FIRST_UPTIME: Duration = Duration::from_secs(86_400);

/// What fits into a connection in memory while nobody reads.
const SOCKET_BUFFER: usize = 256 << 10;

impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Master").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        self.shell.stop();
    }
}
