//! Clients in Python: `peer.py`, driven over its standard input.

use super::peer::Peer;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Bound on the time to answer, or to start.
const PATIENCE: Duration = Duration::from_secs(60);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn interpreter() -> PathBuf {
    root().join("target/python/bin/python")
}

/// Checks whether `scripts/install python` has run. If not: a failure if `CI` is set, else a line that says
/// so.
pub(crate) fn is_ready() -> bool {
    let ready = interpreter().exists();
    if !ready {
        assert!(std::env::var_os("CI").is_none(), "CI is set, and there is no target/python");
        eprintln!("no target/python here (scripts/install python): nothing was tested");
    }
    ready
}

/// One process. Killed on drop.
struct Python(Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>, #[allow(dead_code)] Child);

impl Python {
    fn start(kind: &str, urls: Vec<String>) -> Self {
        let mut command = Command::new(interpreter());
        command.arg(root().join("tests/redis/interop/peer.py")).arg(kind).args(urls);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("a Python");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self(Mutex::new((input, BufReader::new(output).lines())), child)
    }

    async fn ask(&self, line: String) -> String {
        let (input, output) = &mut *self.0.lock().await;
        input.write_all(format!("{line}\n").as_bytes()).await.expect("a Python that listens");
        let answer = timeout(PATIENCE, output.next_line()).await.expect("an answer in time");
        answer.expect("its output").unwrap_or_else(|| panic!("it ended over {line:?}"))
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<u32> {
        let answer = self.ask(format!("acquire {resource} {}", ttl.as_millis())).await;
        match answer.strip_prefix("granted ") {
            Some(number) => Some(number.parse().expect("its number")),
            None if answer == "refused" => None,
            None => panic!("{answer}"),
        }
    }

    async fn extend(&self, held: u32) -> bool {
        self.is_yes(format!("extend {held}")).await
    }

    async fn release(&self, held: u32) {
        self.is_yes(format!("release {held}")).await;
    }

    async fn is_yes(&self, line: String) -> bool {
        match self.ask(line).await.as_str() {
            "yes" => true,
            "no" => false,
            other => panic!("{other}"),
        }
    }
}

/// The Redlock of `pottery`.
pub(crate) struct Pottery(Python);

/// The `Lock` of `redis-py`, on a single server.
pub(crate) struct RedisPy(Python);

impl Peer for Pottery {
    type Held = u32;

    const PREFIX: &'static str = "redlock:";
    /// It goes on at a quorum and releases over other connections: a late SET may stay behind.
    const TTL_IN_A_STORM: Duration = Duration::from_secs(10);

    async fn connect(urls: Vec<String>) -> Self {
        Self(Python::start("pottery", urls))
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<u32> {
        self.0.attempt(resource, ttl).await
    }

    async fn extend(&self, held: &mut u32, _: Duration) -> Option<bool> {
        Some(self.0.extend(*held).await)
    }

    async fn release(&self, held: u32) {
        self.0.release(held).await;
    }
}

impl Peer for RedisPy {
    type Held = u32;

    const MASTERS: usize = 1;

    async fn connect(urls: Vec<String>) -> Self {
        Self(Python::start("redis-py", urls))
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<u32> {
        self.0.attempt(resource, ttl).await
    }

    async fn extend(&self, held: &mut u32, _: Duration) -> Option<bool> {
        Some(self.0.extend(*held).await)
    }

    async fn release(&self, held: u32) {
        self.0.release(held).await;
    }
}
