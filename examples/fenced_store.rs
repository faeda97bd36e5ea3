//! A holder is paused past its deadline and still writes. The store refuses the write:
//!
//! ```text
//! cargo run --example fenced_store --features embedded
//! cargo run --example fenced_store --features embedded -- --unfenced
//! ```
//!
//! Two worker processes share an account, a file, under one lock on five embedded masters. Worker A
//! is stopped between its last look at the lock and its write. Worker B acquires and writes, and
//! then A goes on. With `--unfenced` both present the same token, and B's write is lost: the exit
//! code is 1, otherwise 0. It is 2 if the example cannot run, and 130 if it is interrupted. Needs a
//! Unix, for SIGSTOP.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/signals.rs"]
mod signals;

use quorumlock::embedded::Masters;
use quorumlock::{FencingToken, Redlock};
use quorumlock_fencing::{FenceError, envelope, file::FencedFile};
use rustix::process::{Pid, Signal, kill_process};
use signals::Signals;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

const RESOURCE: &str = "account:42";
const TTL: Duration = Duration::from_secs(2);
/// Bound on the whole play.
const LONGEST: Duration = Duration::from_secs(15);

const AT_FIRST: u64 = 100;
const A_TAKES: u64 = 10;
const B_TAKES: u64 = 50;

/// Line that a worker prints when it waits for input before it goes on.
const READY: &str = "its write is on the way";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        [] => play(true).await,
        ["--unfenced"] => play(false).await,
        ["worker", takes, path, fenced, ref nodes @ ..] => {
            work(takes, path, fenced == "true", nodes).await.map(|()| ExitCode::SUCCESS)
        }
        _ => Err("the only option is --unfenced".into()),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

/// Runs a worker in its own process: an ordinary program that uses a lock.
async fn work(takes: &str, path: &str, fenced: bool, nodes: &[&str]) -> Result<(), Failure> {
    let redlock = Redlock::builder().nodes(nodes.iter().copied()).ttl(TTL).connect().await?;
    let guard = redlock.acquire(RESOURCE).fenced().await?;
    // The file admits an equal token, so it refuses no worker that presents this one.
    let token = if fenced { guard.fencing_token() } else { FencingToken::MIN };
    println!("holds the lock for {} ms, with token {token}", guard.remaining().as_millis());

    let account = FencedFile::new(path);
    let balance: u64 = str::from_utf8(&account.read(token)?)?.parse()?;
    let rest = balance.checked_sub(takes.parse()?).ok_or("there is not enough")?;
    let left = guard.check()?;
    println!("reads {balance}; the lock is good for {} ms; {READY}", left.as_millis());
    hear().await?;
    match account.write(token, rest.to_string().as_bytes()) {
        Ok(()) => println!("has written {rest}"),
        Err(FenceError::Stale(stale)) => println!("is refused: {stale}"),
        Err(error) => return Err(error.into()),
    }
    match guard.release().await {
        Ok(_) => println!("lets go"),
        Err(lost) => println!("lets go: {lost}"),
    }
    Ok(redlock.shutdown().await?)
}

/// Returns when there is a line on standard input.
async fn hear() -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    lines.next_line().await?.map(drop).ok_or_else(|| "the play was broken off".into())
}

/// Runs the play, which can be interrupted. On every way out the workers are killed, even if A is
/// stopped.
async fn play(fenced: bool) -> Result<ExitCode, Failure> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        played = timeout(LONGEST, scenes(fenced)) => {
            played.map_err(|_| "the play takes too long on this machine")?
        }
        signal = signals.next() => {
            println!("-- {signal}: the workers are ended");
            Ok(ExitCode::from(130))
        }
    }
}

async fn scenes(fenced: bool) -> Result<ExitCode, Failure> {
    let masters = Masters::start(5)?;
    let folder = tempfile::Builder::new().prefix("quorumlock-").tempdir()?;
    let path = folder.path().join("account-42");
    FencedFile::new(&path).write(FencingToken::MIN, AT_FIRST.to_string().as_bytes())?;
    println!("-- an account of {AT_FIRST}; A takes {A_TAKES} out of it, B takes {B_TAKES}");

    let hire = |name, takes| Worker::hire(name, takes, &path, fenced, &masters);
    let mut a = hire("A", A_TAKES)?;
    a.until(READY).await?;
    a.signal(Signal::STOP)?;
    println!("-- A is stopped (SIGSTOP); B asks, and gets the lock when A's has expired");
    let mut b = hire("B", B_TAKES)?;
    b.until(READY).await?;
    b.tell_to_go_on().await?;
    b.end().await?;
    println!("-- A goes on (SIGCONT), and knows of nothing");
    a.signal(Signal::CONT)?;
    a.tell_to_go_on().await?;
    a.end().await?;

    let account = fs::read(path)?;
    let balance: u64 = str::from_utf8(envelope::open(&account)?.1)?.parse()?;
    if balance == AT_FIRST - B_TAKES {
        println!("-- GOOD: the account has {balance}, A's write came too late and was refused");
        Ok(ExitCode::SUCCESS)
    } else {
        let paid = A_TAKES + B_TAKES;
        println!("-- BAD: {paid} were taken out of {AT_FIRST}, and the account has {balance}");
        Ok(ExitCode::from(1))
    }
}

/// A worker process whose lines are shown. Killed on drop.
struct Worker {
    name: &'static str,
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Runs this program again, as a worker.
    fn hire(
        name: &'static str,
        takes: u64,
        path: &Path,
        fenced: bool,
        masters: &Masters,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").arg(takes.to_string()).arg(path).arg(fenced.to_string());
        command.args(masters.urls()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (input, output) = pipes.ok_or("a worker without pipes")?;
        Ok(Self { name, process, input, output: BufReader::new(output).lines() })
    }

    /// Shows the worker's output, up to a line that contains `last`.
    async fn until(&mut self, last: &str) -> Result<(), Failure> {
        while let Some(line) = self.output.next_line().await? {
            println!("{}  {line}", self.name);
            if line.contains(last) {
                return Ok(());
            }
        }
        Err(format!("worker {} ended early", self.name).into())
    }

    async fn tell_to_go_on(&mut self) -> Result<(), Failure> {
        Ok(self.input.write_all(b"\n").await?)
    }

    async fn end(mut self) -> Result<(), Failure> {
        while let Some(line) = self.output.next_line().await? {
            println!("{}  {line}", self.name);
        }
        let status = self.process.wait().await?;
        let failed = || format!("worker {}: {status}", self.name).into();
        status.success().then_some(()).ok_or_else(failed)
    }

    fn signal(&self, signal: Signal) -> Result<(), Failure> {
        let id = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(kill_process(id.ok_or("the worker is gone")?, signal)?)
    }
}
