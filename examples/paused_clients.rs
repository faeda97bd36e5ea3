//! Five processes add numbers to a set in memory, under one lock: each reads the set, waits for up to two seconds, and
//! writes it back. Meanwhile they are paused for longer than the ttl. This is the workload in which etcd's lock lost
//! updates (etcd-io/etcd, issue 11457).
//!
//! ```text
//! cargo run --example paused_clients --features embedded
//! cargo run --example paused_clients --features embedded -- --unfenced
//! ```
//!
//! With fencing tokens, which the set checks, no number that was confirmed is ever missing. With `--unfenced`, a
//! process that goes on after its lock has expired overwrites what others have written since. `--seconds=N` is how
//! long it lasts, `--seed=N` another choice of pauses. The masters are those of `QUORUMLOCK_NODES`, or five embedded
//! ones. The exit code is 0 if nothing is missing, 1 if something is, and 2 if the example cannot run. Needs a Unix,
//! for SIGSTOP.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/nodes.rs"]
mod nodes;
#[path = "support/set.rs"]
mod set;

use futures::future::try_join_all;
use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use rustix::process::{Pid, Signal, kill_process};
use set::{Client, Set};
use std::collections::BTreeSet;
use std::error::Error;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, stdin};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

const PROCESSES: u64 = 5;
const TTL: Duration = Duration::from_secs(2);
/// How long a process waits between its read and its write, at most.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        ["worker", place, fenced, set, ref nodes @ ..] => {
            work(place, fenced == "fenced", set, nodes).await.map(|()| ExitCode::SUCCESS)
        }
        ref options => match Play::parse(options) {
            Ok(play) => play.run().await,
            Err(error) => Err(error),
        },
    };
    ended.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

/// Adds numbers until standard input ends, and prints each that the set has confirmed. It never looks whether its lock
/// is still valid: that is left to the set.
async fn work(place: &str, fenced: bool, set: &str, nodes: &[&str]) -> Result<(), Failure> {
    let mut number: u64 = place.parse()?;
    let mut dice = Dice(number);
    let redlock = Redlock::builder().nodes(nodes.iter().copied()).ttl(TTL).connect().await?;
    let mut set = Client::connect(set).await?;
    let mut ended = tokio::spawn(async { stdin().read(&mut [0]).await });
    while !ended.is_finished() {
        let guard = tokio::select! {
            guard = redlock.acquire("set").timeout(Duration::MAX).fenced().keep_alive() => match guard {
                // Paused just when the lock was won, and until it had expired.
                Err(error) if error.is_no_quorum() => continue,
                guard => guard?,
            },
            _ = &mut ended => break,
        };
        let token = fenced.then(|| guard.fencing_token());
        // Presented before anything is read that the write depends on.
        if let Some(mut members) = set.read(token).await? {
            sleep(dice.duration(LONGEST_WAIT)).await;
            members.insert(number);
            if set.write(token, &members).await?.is_some() {
                println!("{number}");
                number += PROCESSES;
            }
        }
        // A lock that was lost meanwhile is nothing to release.
        let _lost = guard.release().await;
    }
    Ok(redlock.shutdown().await?)
}

struct Play {
    fenced: bool,
    lasts: Duration,
    seed: u64,
}

impl Play {
    fn parse(options: &[&str]) -> Result<Self, Failure> {
        let mut play = Self { fenced: true, lasts: Duration::from_secs(30), seed: 1 };
        for option in options {
            match option.split_once('=') {
                None if *option == "--unfenced" => play.fenced = false,
                Some(("--seconds", seconds)) => play.lasts = Duration::from_secs(seconds.parse()?),
                Some(("--seed", seed)) => play.seed = seed.parse()?,
                _ => return Err("the options are --unfenced, --seconds=N and --seed=N".into()),
            }
        }
        Ok(play)
    }

    async fn run(&self) -> Result<ExitCode, Failure> {
        let embedded;
        let nodes = if std::env::var_os("QUORUMLOCK_NODES").is_some() {
            nodes::from_environment()?
        } else {
            embedded = Masters::start(5)?;
            embedded.urls()
        };
        let set = Set::default();
        let address = set.serve().await?.to_string();
        let how = if self.fenced { "fenced" } else { "unfenced" };
        let start = |place: u64| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["worker", &place.to_string(), how, &address]).args(&nodes);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()
        };
        let mut workers = (1..=PROCESSES).map(start).collect::<Result<Vec<_>, _>>()?;
        let pauses = self.pause(&workers).await?;

        let mut confirmed = BTreeSet::new();
        for worker in &mut workers {
            drop(worker.stdin.take());
        }
        for mut worker in workers {
            let mut lines = String::new();
            let output = worker.stdout.as_mut().ok_or("a worker without output")?;
            output.read_to_string(&mut lines).await?;
            let status = worker.wait().await?;
            if !status.success() {
                return Err(format!("a worker: {status}").into());
            }
            for line in lines.lines() {
                confirmed.insert(line.parse::<u64>()?);
            }
        }
        let missing = confirmed.difference(&set.members()).count();
        println!(
            "{how}: {} numbers confirmed, {missing} of them missing, {} requests refused, {pauses} pauses",
            confirmed.len(),
            set.refused()
        );
        Ok(ExitCode::from(u8::from(missing > 0)))
    }

    /// Pauses each worker again and again, for longer than the ttl, and lets all go on in the end. Returns how many
    /// pauses there were.
    async fn pause(&self, workers: &[Child]) -> Result<u32, Failure> {
        let ends = Instant::now() + self.lasts;
        let pauses =
            workers.iter().zip(self.seed..).map(|(worker, seed)| pause(worker, seed, ends));
        Ok(try_join_all(pauses).await?.iter().sum())
    }
}

async fn pause(worker: &Child, seed: u64, ends: Instant) -> Result<u32, Failure> {
    let (mut dice, mut pauses) = (Dice(seed), 0);
    let id = worker.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let id = id.ok_or("a worker has ended early")?;
    loop {
        sleep(dice.duration(2 * LONGEST_WAIT)).await;
        if Instant::now() > ends {
            return Ok(pauses);
        }
        kill_process(id, Signal::STOP)?;
        sleep(TTL + Duration::from_millis(100) + dice.duration(TTL)).await;
        kill_process(id, Signal::CONT)?;
        pauses += 1;
    }
}

/// `SplitMix64`: good enough to choose when a process pauses, and for how long.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    }

    fn duration(&mut self, longest: Duration) -> Duration {
        longest.mul_f64((self.next() % 1_000) as f64 / 1_000.0)
    }
}
