//! `make demo`: workers compete for one lock while masters die under it.
//!
//! Starts its own redis-servers and ends them on every way out. With `--without-lock` one worker
//! goes in without asking, to show that the verdict can be bad. Exit code: 0 for a good verdict,
//! 1 for a bad one, 2 when it cannot run, 130 when it is interrupted.

#[path = "support/masters.rs"]
mod masters;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/workers.rs"]
mod workers;

use masters::Master;
use quorumlock::{ConnectError, Redlock};
use signals::Signals;
use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};
use workers::{Floor, Tally};

const MASTERS: usize = 5;
const WORKERS: usize = 6;
/// Short, so that a master that comes back empty need not stay away for long.
const TTL: Duration = Duration::from_secs(2);

const KILLED_AT: Duration = Duration::from_secs(5);
const BACK_AT: Duration = Duration::from_secs(10);
const OVER_AT: Duration = Duration::from_secs(16);
/// By their place: M2 comes back, M4 does not.
const KILLED: [usize; 2] = [1, 3];
const COMES_BACK: usize = 1;

/// With a quorum up, nobody may be kept out for longer.
const LONGEST_STALL: Duration = Duration::from_secs(5);

type Failure = Box<dyn Error + Send + Sync>;

enum Ending {
    Good,
    Bad,
    Interrupted,
}

#[tokio::main]
async fn main() -> ExitCode {
    let without_lock = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--without-lock") => true,
        Some(other) => {
            eprintln!("{other} is not an option; the only one is --without-lock");
            return ExitCode::from(2);
        }
    };
    match run(without_lock).await {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::Bad) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => {
            let reader_gone = error.downcast_ref::<io::Error>();
            if reader_gone.is_none_or(|error| error.kind() != ErrorKind::BrokenPipe) {
                eprintln!("the demonstration cannot run: {error}");
            }
            ExitCode::from(2)
        }
    }
}

async fn run(without_lock: bool) -> Result<Ending, Failure> {
    let mut signals = Signals::listen()?;
    line(&plan(without_lock))?;
    let masters = (0..MASTERS).map(|_| Master::start());
    let masters = masters.collect::<Result<Vec<_>, _>>()?;
    let coordinators = [connect(&masters).await?, connect(&masters).await?];

    let (news, heard) = unbounded_channel();
    let floor = Arc::new(Floor::new(news));
    let mut workers = JoinSet::new();
    for worker in 1..=WORKERS {
        let uninvited = without_lock && worker == WORKERS;
        let redlock = (!uninvited).then(|| coordinators[worker % 2].clone());
        workers.spawn(floor.clone().work(worker, redlock));
    }
    let mut stage = Stage { began: Instant::now(), masters, floor, heard };
    tokio::select! {
        played = stage.play() => played?,
        signal = signals.next() => return stage.interrupted(signal),
    }
    stage.floor.close();
    tokio::select! {
        _ = workers.join_all() => {}
        signal = signals.next() => return stage.interrupted(signal),
    }
    stage.tell()?;
    stage.event("the end; deletions that M4 has not confirmed are waited for, at most the ttl")?;
    let (one, other) = tokio::join!(coordinators[0].shutdown(), coordinators[1].shutdown());
    let owed: usize = [one, other].into_iter().filter_map(|end| Some(end.err()?.owed)).sum();
    if owed > 0 {
        stage.event(&format!("M4 never confirmed: {owed}; what it had died with it"))?;
    }
    Ok(verdict(&stage.floor.tally())?)
}

async fn connect(masters: &[Master]) -> Result<Redlock, ConnectError> {
    Redlock::builder().nodes(masters.iter().map(Master::url)).ttl(TTL).connect().await
}

/// What is seen, and what happens to the masters.
struct Stage {
    began: Instant,
    masters: Vec<Master>,
    floor: Arc<Floor>,
    heard: UnboundedReceiver<String>,
}

impl Stage {
    async fn play(&mut self) -> Result<(), Failure> {
        let ports: Vec<String> = self.masters.iter().map(|one| one.port().to_string()).collect();
        self.event(&format!("five masters are up, on ports {}", ports.join(", ")))?;
        line("   time   M1    M2    M3    M4    M5    inside      waiting  sections")?;
        self.until(KILLED_AT).await?;

        // The commands of this acquire are on their way when the processes die.
        self.floor.somebody_asks().await;
        KILLED.iter().for_each(|&node| self.masters[node].kill());
        self.floor.note_kill();
        self.event("M2 and M4 are killed, just as a worker asks for the lock")?;
        self.until(BACK_AT).await?;

        self.masters[COMES_BACK].come_back()?;
        let away = (BACK_AT - KILLED_AT).as_secs();
        self.event(&format!("M2 is back, empty; {away} s away is more than the ttl of 2 s"))?;
        Ok(self.until(OVER_AT).await?)
    }

    /// Shows what goes on until that much time has passed.
    async fn until(&mut self, time: Duration) -> io::Result<()> {
        let second = Duration::from_secs(1);
        let next_second = Duration::from_secs(self.began.elapsed().as_secs() + 1);
        let mut tick = interval_at(self.began + next_second, second);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let end = sleep_until(self.began + time);
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                Some(news) = self.heard.recv() => self.event(&news)?,
                _ = tick.tick() => self.status()?,
                () = &mut end => return Ok(()),
            }
        }
    }

    fn status(&mut self) -> io::Result<()> {
        let time = self.time();
        let states = self.masters.iter_mut().map(|one| if one.is_up() { "up  " } else { "DEAD" });
        let states = states.collect::<Vec<_>>().join("  ");
        let (inside, waiting) = (self.floor.inside(), self.floor.waiting());
        let sections = self.floor.tally().sections;
        line(&format!("{time}   {states}  {inside:<11} {waiting:>7}  {sections:>8}"))
    }

    fn event(&self, what: &str) -> io::Result<()> {
        line(&format!("{}   -- {what}", self.time()))
    }

    /// What the workers have said and nobody has shown yet.
    fn tell(&mut self) -> io::Result<()> {
        while let Ok(news) = self.heard.try_recv() {
            self.event(&news)?;
        }
        Ok(())
    }

    fn interrupted(&self, signal: &str) -> Result<Ending, Failure> {
        self.event(&format!("{signal}: the masters are ended, there is no verdict"))?;
        Ok(Ending::Interrupted)
    }

    fn time(&self) -> String {
        format!("{:>5.1} s", self.began.elapsed().as_secs_f64())
    }
}

fn plan(without_lock: bool) -> String {
    let uninvited = if without_lock {
        "  --without-lock: worker 6 goes in without asking, so the verdict has to be bad.\n"
    } else {
        ""
    };
    format!(
        "\
quorumlock: six workers, one lock, five Redis masters, about {} seconds

  Five redis-servers are started on 127.0.0.1, and ended when this ends; Ctrl-C will do.
  Six workers of two coordinators compete for one lock. Whoever holds it reads a counter,
  works a little and writes it back plus one: two at once, and an increment is lost.
  At  5 s  two masters are killed while a worker asks for the lock. Three are a quorum.
  At 10 s  one of them comes back, empty. It stays away for longer than the ttl (2 s): sooner,
           it could grant once more what it had granted before it died.
  At 16 s  the verdict.
{uninvited}",
        OVER_AT.as_secs() + 2
    )
}

fn verdict(tally: &Tally) -> io::Result<Ending> {
    let stall = tally.longest_stall;
    let good = tally.sections > 0
        && tally.overlaps == 0
        && tally.lost() == 0
        && tally.failed == 0
        && stall < LONGEST_STALL;
    let rows = [
        ("sections", tally.sections.to_string(), "the counter read, and written back"),
        ("overlaps", tally.overlaps.to_string(), "a worker went in beside another"),
        ("lost increments", tally.lost().to_string(), "sections less the counter"),
        ("failed acquires", tally.failed.to_string(), "an error instead of the lock"),
        ("longest stall", format!("{} ms", stall.as_millis()), "nobody was inside"),
    ];
    line("")?;
    for (name, value, meaning) in rows {
        line(&format!("  {name:<16} {value:>8}   {meaning}"))?;
    }
    line(match (good, tally.overlaps) {
        (true, _) => "\n  GOOD: one at a time, and never for long without one.",
        (false, 0) => "\n  BAD: nobody was in another's way, but look at the rest.",
        (false, _) => "\n  BAD: two were inside at once.",
    })?;
    Ok(if good { Ending::Good } else { Ending::Bad })
}

fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}
