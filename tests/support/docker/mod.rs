//! Five masters in containers that belong to the value that started them, and the faults they
//! suffer.

mod project;

use super::poll::eventually_blocking;
use super::port::ReservedPort;
use super::server::answers;
use super::witness::{self, outlives_clients};
use futures::future::join_all;
pub(crate) use project::{Project, docker, try_docker};
use quorumlock::{Redlock, RedlockBuilder, RestartGuard};
use redis::{Client, Cmd, FromRedisValue, RedisResult};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Bound on the time for a master to be ready, or paused.
const PATIENCE: Duration = Duration::from_secs(30);

/// One project at a time in this process; between processes the test runner ensures it.
static TURN: LazyLock<Arc<Mutex<()>>> = LazyLock::new(Arc::default);

/// The masters' memory after a restart; see `docker/README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Nothing.
    Volatile,
    /// Every command that they have answered.
    Durable,
}

/// A fault of a master, undone by [`Containers::heal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL. Connections end, dials are refused; healed by a restart.
    Killed,
    /// Frozen. Dials are accepted and get no answer; what was sent arrives when the master resumes.
    Paused,
    /// Off its network, together with its published port. Connections end at the port (the server
    /// need not notice), and dials are refused. Its memory stays.
    Disconnected,
}

impl Fault {
    pub(crate) const ALL: [Self; 3] = [Self::Killed, Self::Paused, Self::Disconnected];
}

/// Five masters, each in a container, with ports of 127.0.0.1 that stay theirs. Taken down on drop,
/// including by a panic, and when this process is killed.
///
/// Clients see what a fault does to a published port, so a master is "ready" when it answers there.
/// The methods that are not async block their thread, usually for tenths of a second.
#[derive(Debug)]
pub(crate) struct Containers {
    // Must be down before the next project may start.
    project: Project,
    profile: Profile,
    ids: Vec<String>,
    network: String,
    ports: Vec<ReservedPort>,
    _turn: OwnedMutexGuard<()>,
}

impl Containers {
    /// Starts them. If no Docker daemon answers, returns `None` and prints a line that says so; a
    /// failure if `CI` is set.
    pub(crate) async fn start(profile: Profile) -> Option<Self> {
        Self::start_with(profile, None).await
    }

    /// Starts them with clocks of their own, from files in this folder: `docker/clocks.yaml`.
    pub(crate) async fn start_with(profile: Profile, clocks: Option<&Path>) -> Option<Self> {
        if !is_available() {
            return None;
        }
        let turn = TURN.clone().lock_owned().await;
        Project::sweep();
        let project = Project::new();
        let ports: Vec<ReservedPort> = (0..5).map(|_| ReservedPort::new()).collect();
        let name = match profile {
            Profile::Volatile => "volatile",
            Profile::Durable => "durable",
        };
        project.up(
            name,
            &ports.iter().map(|port| port.address().port()).collect::<Vec<_>>(),
            clocks,
        );
        let (ids, network) = (project.containers(), project.network());
        assert_eq!(ids.len(), ports.len(), "the containers of {}", project.name());
        let masters = Self { project, profile, ids, network, ports, _turn: turn };
        (0..masters.len()).for_each(|node| masters.await_ready(node));
        Some(masters)
    }

    /// Configures a client of all of them that does not wait until they are old enough to vote.
    pub(crate) fn builder(&self) -> RedlockBuilder {
        let builder = Redlock::builder().nodes(self.urls());
        match self.profile {
            // They have only just started. If one returns empty later, that is the test's
            // responsibility.
            Profile::Volatile => builder.restart_guard(RestartGuard::Off),
            // They forget nothing, as their configuration says.
            Profile::Durable => builder.restart_guard(RestartGuard::TrustPersistence),
        }
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("redis://{}", port.address())).collect()
    }

    pub(crate) fn address(&self, node: usize) -> std::net::SocketAddr {
        self.ports[node].address()
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn project(&self) -> &str {
        self.project.name()
    }

    pub(crate) fn kill(&self, node: usize) {
        docker(&["kill", &self.ids[node]]);
    }

    /// Starts a killed master: with its keys if the profile is durable, else empty. Returns when it
    /// answers.
    pub(crate) fn restart(&self, node: usize) {
        docker(&["start", &self.ids[node]]);
        self.await_ready(node);
    }

    pub(crate) fn pause(&self, node: usize) {
        // On a busy machine the kernel may take longer to freeze it than runc waits.
        let freezes = || try_docker(&["pause", &self.ids[node]]).is_ok();
        eventually_blocking(&format!("master {node} is paused"), PATIENCE, freezes);
    }

    pub(crate) fn unpause(&self, node: usize) {
        docker(&["unpause", &self.ids[node]]);
    }

    pub(crate) fn disconnect(&self, node: usize) {
        docker(&["network", "disconnect", &self.network, &self.ids[node]]);
    }

    /// Puts it back on its network, which restores its published port.
    pub(crate) fn reconnect(&self, node: usize) {
        docker(&["network", "connect", &self.network, &self.ids[node]]);
        self.await_ready(node);
    }

    pub(crate) fn strike(&self, fault: Fault, node: usize) {
        match fault {
            Fault::Killed => self.kill(node),
            Fault::Paused => self.pause(node),
            Fault::Disconnected => self.disconnect(node),
        }
    }

    pub(crate) fn heal(&self, fault: Fault, node: usize) {
        match fault {
            Fault::Killed => self.restart(node),
            Fault::Paused => self.unpause(node),
            Fault::Disconnected => self.reconnect(node),
        }
    }

    /// Applies `action` to several masters at the same time.
    pub(crate) fn at_once(&self, nodes: Range<usize>, action: impl Fn(usize) + Copy + Send) {
        std::thread::scope(|scope| nodes.for_each(|node| drop(scope.spawn(move || action(node)))));
    }

    /// Sends one command on a separate connection, bypassing the crate under test.
    pub(crate) async fn ask<T: FromRedisValue>(&self, node: usize, cmd: &Cmd) -> RedisResult<T> {
        let client = Client::open(format!("redis://{}", self.address(node)))?;
        let mut connection = witness::connect(&client).await?;
        cmd.query_async(&mut connection).await
    }

    /// Returns the keys of each master, sorted, except what outlives its clients. All must answer.
    pub(crate) async fn keys(&self) -> Vec<Vec<String>> {
        let keys = async |node| {
            let keys: RedisResult<Vec<String>> = self.ask(node, redis::cmd("KEYS").arg("*")).await;
            let mut keys = keys.unwrap_or_else(|error| panic!("master {node}: {error}"));
            keys.retain(|key| !outlives_clients(key));
            keys.sort();
            keys
        };
        join_all((0..self.len()).map(keys)).await
    }

    /// Returns the number of those keys over all masters.
    pub(crate) async fn count_keys(&self) -> usize {
        self.keys().await.iter().map(Vec::len).sum()
    }

    fn await_ready(&self, node: usize) {
        let claim = format!("master {node} answers on its published port");
        eventually_blocking(&claim, PATIENCE, || answers(self.address(node)));
    }
}

/// Returns whether a Docker daemon answers. If none does, prints a line that says what is not
/// tested.
pub(crate) fn is_available() -> bool {
    let asked = Command::new("timeout").args(["10", "docker", "version"]).output();
    let cause = match asked {
        Ok(answer) if answer.status.success() => return true,
        Ok(answer) => String::from_utf8_lossy(&answer.stderr).trim().replace('\n', " "),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("CI").is_none(), "CI is set, and no Docker daemon answers: {cause}");
    tell(&format!("NOT TESTED: no Docker daemon answers ({cause})"));
    false
}

/// Returns the path of a script in `docker/`. The tests of the command are in a package of their own.
pub(crate) fn script(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = package.ancestors().map(|folder| folder.join("docker"));
    folders.map(|folder| folder.join(name)).find(|script| script.exists()).expect("the script")
}

/// Writes a line that is shown even when the test passes: the test harness captures only what is
/// printed with macros.
pub(crate) fn tell(line: &str) {
    let _unless_stderr_is_closed = writeln!(std::io::stderr(), "{line}");
}
