//! A file, and Redis with its server.

use super::{Outcome, Store, in_words};
use quorumlock_fencing::{FenceError, FencingToken, file::FencedFile, redis::FencedScript};
use redis::{Client, RedisError, aio::MultiplexedConnection};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};
use tempfile::TempDir;

pub(crate) struct OneFile(pub(crate) PathBuf);

impl Store for OneFile {
    const KIND: &'static str = "file";

    async fn open(address: &str) -> Self {
        Self(address.into())
    }

    async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
        let Some(token) = token else { return Ok(fs::read_to_string(&self.0).unwrap()) };
        let content = FencedFile::new(&self.0).read(token).map_err(in_words)?;
        Ok(String::from_utf8(content).unwrap())
    }

    async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
        let Some(token) = token else {
            fs::write(&self.0, content).unwrap();
            return Ok(());
        };
        FencedFile::new(&self.0).write(token, content.as_bytes()).map_err(in_words)
    }
}

pub(crate) struct OneKey(pub(crate) MultiplexedConnection);

pub(crate) const FENCE: &str = "{data}:fence";
pub(crate) const KEY: &str = "{data}";

impl OneKey {
    async fn call(&self, lua: &str, token: FencingToken, content: &str) -> Outcome<String> {
        let script = FencedScript::new(lua);
        let mut call = script.present(FENCE, token);
        let answer = call.key(KEY).arg(content).invoke_async(&mut self.0.clone()).await;
        answer.map_err(|error: RedisError| in_words(FenceError::from(error)))
    }
}

impl Store for OneKey {
    const KIND: &'static str = "redis";

    async fn open(address: &str) -> Self {
        let client = Client::open(address).unwrap();
        Self(client.get_multiplexed_async_connection().await.unwrap())
    }

    async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
        let lua = "return redis.call('GET', KEYS[1]) or ''";
        match token {
            Some(token) => self.call(lua, token, "").await,
            None => Ok(redis::cmd("GET").arg(KEY).query_async(&mut self.0.clone()).await.unwrap()),
        }
    }

    async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
        let lua = "return redis.call('SET', KEYS[1], ARGV[1])";
        let Some(token) = token else {
            let mut set = redis::cmd("SET");
            set.arg(KEY).arg(content).exec_async(&mut self.0.clone()).await.unwrap();
            return Ok(());
        };
        self.call(lua, token, content).await.map(drop)
    }
}

/// A redis-server that belongs to the test, reached by a socket in its folder. It writes each command to
/// its log before it answers.
pub(crate) struct Redis {
    process: Child,
    folder: TempDir,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("fence-").tempdir().unwrap();
        let server = Self { process: spawn(&folder), folder };
        server.await_ready();
        server
    }

    pub(crate) fn restart(&mut self) {
        self.end();
        self.process = spawn(&self.folder);
        self.await_ready();
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}/socket", self.folder.path().display())
    }

    fn await_ready(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        let client = Client::open(self.url()).unwrap();
        let ping = || redis::cmd("PING").exec(&mut client.get_connection()?);
        while let Err(error) = ping() {
            assert!(Instant::now() < until, "redis-server does not answer: {error}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(folder: &TempDir) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--unixsocket", "socket", "--save", ""]);
    command.args(["--appendonly", "yes", "--appendfsync", "always"]);
    command.arg("--dir").arg(folder.path()).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().expect("there is no redis-server; `scripts/install redis-server` installs it")
}
