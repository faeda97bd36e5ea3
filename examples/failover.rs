//! `make demo`: workers compete for one lock while they lose masters.
//!
//! It runs on five masters in this process, with the feature `embedded`, or on five redis-servers, which
//! it starts. Only with `--on-nodes` it runs on the masters that `QUORUMLOCK_NODES` names, with the
//! restart guard off: that variable may be exported for other work. However it exits, it ends what it
//! has started. At last a holder is paused for longer than its ttl, and a store refuses its late write.
//!
//! Two options show that the verdict can be bad. With `--without-lock`, one worker enters without the
//! lock. With `--without-fence`, the store checks no fencing token. Exit code: 0 for a good verdict, 1
//! for a bad one, 2 if it cannot run, 130 if it is interrupted.

#[path = "support/account.rs"]
mod account;
#[path = "support/floor.rs"]
mod floor;
#[path = "support/gate.rs"]
mod gate;
#[path = "support/masters.rs"]
mod masters;
#[path = "support/news.rs"]
mod news;
#[path = "support/nodes.rs"]
mod nodes;
#[path = "support/panel.rs"]
mod panel;
#[path = "support/paused.rs"]
mod paused;
#[path = "support/script.rs"]
mod script;
#[path = "support/server.rs"]
mod server;
#[path = "support/show.rs"]
mod show;
#[path = "support/signals.rs"]
mod signals;
#[path = "support/tally.rs"]
mod tally;
#[path = "support/verdict.rs"]
mod verdict;
#[path = "support/witness.rs"]
mod witness;
#[path = "support/workers.rs"]
mod workers;

use floor::Floor;
use masters::{Kind, Masters};
use news::{News, Tone};
use quorumlock::{ConnectError, Redlock, RestartGuard};
use show::{Scene, Show, say};
use signals::Signals;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use witness::Witness;
use workers::{TTL, WORKERS};

/// Longer than the play without a quorum, since waiters are served in no particular order.
const PATIENCE: Duration = Duration::from_secs(20);

type Failure = Box<dyn Error + Send + Sync>;

/// What the play does without, to show that the verdict can be bad.
#[derive(Clone, Copy, Default)]
struct Without {
    lock: bool,
    fence: bool,
}

enum Ending {
    Good,
    Bad,
    Interrupted,
}

#[tokio::main]
async fn main() -> ExitCode {
    let (mut without, mut wanted) = (Without::default(), None);
    for option in std::env::args().skip(1) {
        match &*option {
            "--without-fence" => without.fence = true,
            "--without-lock" => without.lock = true,
            "--on-nodes" => wanted = Some(Kind::Named),
            "--on-servers" => wanted = Some(Kind::Servers),
            other => {
                let known = "--on-nodes, --on-servers, --without-fence and --without-lock";
                eprintln!("{other} is none of {known}");
                return ExitCode::from(2);
            }
        }
    }
    match run(wanted, without).await {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::Bad) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => {
            let reader_gone = error.downcast_ref::<io::Error>();
            if reader_gone.is_none_or(|error| error.kind() != ErrorKind::BrokenPipe) {
                eprintln!("the demonstration cannot go on: {error}");
            }
            ExitCode::from(2)
        }
    }
}

async fn run(wanted: Option<Kind>, without: Without) -> Result<Ending, Failure> {
    let mut signals = Signals::listen()?;
    let masters = Arc::new(Masters::choose(wanted).await?);
    say(&plan(&masters, without))?;
    let (news, heard) = News::channel();
    let floor = Arc::new(Floor::new(news));
    let scene = Arc::new(Scene {
        witness: Witness::new(&masters),
        masters: masters.clone(),
        floor: floor.clone(),
    });
    let mut show = Show::new(scene.clone(), heard);
    let ending = tokio::select! {
        played = show.during(play(&scene, without)) => match played {
            Ok(Ok(())) => {
                show.end()?;
                let good = verdict::print(&floor.tally())?;
                Ok(if good { Ending::Good } else { Ending::Bad })
            }
            Ok(Err(failure)) => {
                show.end()?;
                Err(failure)
            }
            Err(reader_gone) => Err(reader_gone.into()),
        },
        signal = signals.next() => {
            show.end()?;
            show.event(Tone::Trouble, &format!("{signal}: the masters are ended, no verdict"))?;
            Ok(Ending::Interrupted)
        }
    };
    masters.end();
    ending
}

async fn play(scene: &Scene, without: Without) -> Result<(), Failure> {
    let Scene { masters, witness, floor } = scene;
    script::all_answer(masters, witness).await?;
    let coordinators = [connect(masters).await?, connect(masters).await?];
    let mut workers = JoinSet::new();
    for worker in 1..=WORKERS {
        let uninvited = without.lock && worker == WORKERS;
        let redlock = (!uninvited).then(|| coordinators[worker % 2].clone());
        workers.spawn(workers::work(floor.clone(), worker, redlock));
    }
    script::play(scene).await?;
    floor.close();
    workers.join_all().await;
    paused::play(floor, masters, &coordinators[0], !without.fence).await?;

    let news = "the end; masters still lost get a second to confirm deletions";
    floor.news.tell(Tone::Calm, news);
    let (first, second) = tokio::join!(coordinators[0].shutdown(), coordinators[1].shutdown());
    let owed: usize = [first, second].into_iter().filter_map(|end| Some(end.err()?.owed)).sum();
    if owed > 0 {
        let news = format!("{owed} deletions were not confirmed: those keys expire by themselves");
        floor.news.tell(Tone::Calm, news);
    }
    Ok(())
}

async fn connect(masters: &Masters) -> Result<Redlock, ConnectError> {
    // Masters that have just started may vote at once: nothing was granted before, and those that
    // the play kills stay away for longer than a ttl. Do not copy this line to masters that others
    // use.
    let builder =
        Redlock::builder().restart_guard(RestartGuard::Off).ttl(TTL).acquire_timeout(PATIENCE);
    masters.all().iter().fold(builder, |builder, master| master.add_to(builder)).connect().await
}

fn plan(masters: &Masters, without: Without) -> String {
    let lost = if masters.can_be_killed() { "killed" } else { "cut off from the workers" };
    let mut plan = format!(
        "\
quorumlock: six workers compete for one lock, on
  {}

  Whoever holds the lock reads a counter, works, and writes it back plus one.
  Two masters are {lost} while the lock is asked for;
  one comes back; then two more are lost while a worker holds the lock, so that
  there is no quorum until one of them is back. At last, a holder is paused for
  longer than its ttl, and writes late.
  {} seconds. Ctrl-C ends this, and all that it has started.
",
        masters.kind,
        script::OVER_AT + paused::LASTS + 2
    );
    if without.fence {
        plan.push_str("  --without-fence: the store checks no token; this has to end badly.\n");
    }
    if without.lock {
        plan.push_str(
            "  --without-lock: worker 6 goes in without asking; this has to end badly.\n",
        );
    }
    plan
}
