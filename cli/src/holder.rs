//! Commands about the holder of a lock: `quorumlock ask` asks it to give the lock back, and `quorumlock force-release`
//! takes the lock away.

use crate::args::{AskArgs, ForceReleaseArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::inspect::{self, is_among};
use crate::output::{Output, millis};
use crate::settings;
use quorumlock::report::Span;
use quorumlock::{Holder, Inspection, LockState, Redlock};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The time for which a hold is watched that was asked for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why no process has received the question.
const DEAF: &str = "its process cannot be asked: it has wake_ups = false, or is gone";

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Inspects the lock, and asks the process of its holder.
pub(crate) async fn ask(args: AskArgs, masters: MastersArgs, output: Output) -> Result {
    let redlock = settings::connect_to_inspect(masters, output).await?;
    let inspection = look(&redlock, &args.resource, args.slot).await?;
    let name = inspect::name(&inspection);
    let heard = redlock.ask(&inspection).await?;
    let mut given_up = None;
    let (text, exit) = match inspection.state() {
        LockState::Free => (free(&redlock, &inspection).await, Exit::SUCCESS),
        LockState::Held(holder) if heard > 0 => {
            given_up = given_up_after(&redlock, &args, holder).await?;
            let (is, gave, within) = match given_up {
                Some(after) => ("was", "given up", Span(after)),
                None => ("is", "not given up", Span(PATIENCE)),
            };
            let text = format!("{name} {is} {holder}: asked, and {gave} within {within}");
            (text, Exit::SUCCESS)
        }
        LockState::Held(holder) => (format!("{name} is {holder}: {DEAF}"), Exit::FAILED),
        _ => return Err(unclear(&inspection)),
    };
    let value = json!({
        "processes": heard,
        "given_up_ms": given_up.map(millis),
        "was": inspect::to_json(&inspection),
    });
    output.results([value], &text, exit)
}

/// Returns the time until no quorum has the hold any more, at a look; `None` if it stays. No master knows whether
/// a hold is kept warm and idle, but then this takes about two round trips.
async fn given_up_after(
    redlock: &Redlock,
    args: &AskArgs,
    holder: &Holder,
) -> Result<Option<Duration>> {
    let asked = Instant::now();
    loop {
        let now = look(redlock, &args.resource, args.slot).await?;
        let after = asked.elapsed();
        match now.state() {
            LockState::Free => return Ok(Some(after)),
            LockState::Held(other) if !has_a_hold_of(other, holder) => return Ok(Some(after)),
            _ if after >= PATIENCE => return Ok(None),
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Checks whether it is the same hold; of a lock that was read, whether one of the readers is left.
fn has_a_hold_of(now: &Holder, before: &Holder) -> bool {
    match inspect::holds(before) {
        [] => now.same_hold_as(before),
        all => all.iter().any(|hold| is_among(hold, now)),
    }
}

/// Shows the holder, asks, and takes the lock away.
pub(crate) async fn force_release(
    args: ForceReleaseArgs,
    masters: MastersArgs,
    output: Output,
) -> Result {
    if !args.yes && !io::stdin().is_terminal() {
        let problem = "force-release asks on a terminal, and there is none: use --yes";
        return Err(Failure::usage(problem));
    }
    let redlock = settings::connect_to_inspect(masters, output).await?;
    let inspection = look(&redlock, &args.resource, args.slot).await?;
    let name = inspect::name(&inspection);
    let (released, text) = match inspection.state() {
        LockState::Held(_) if !args.yes && !is_confirmed(&inspection)? => {
            return Err(Failure::new(Exit::FAILED, format!("{name} was left to its holder")));
        }
        LockState::Held(holder) => {
            redlock.force_release(&inspection).await?;
            let text = format!(
                "{name} was taken away: it was {holder}\nIts holder learns of it at its next \
                 extension, at the latest at its deadline."
            );
            (true, text)
        }
        LockState::Free => (false, free(&redlock, &inspection).await),
        _ => return Err(unclear(&inspection)),
    };
    let value = json!({ "released": released, "was": inspect::to_json(&inspection) });
    output.results([value], &text, Exit::SUCCESS)
}

/// Inspects the lock, or the permit.
async fn look(redlock: &Redlock, resource: &str, slot: Option<u8>) -> Result<Inspection> {
    let Some(slot) = slot else { return Ok(redlock.inspect(resource).await?) };
    // The last one of so many.
    let permits = usize::from(slot) + 1;
    let mut found = redlock.semaphore(resource, permits).inspect().await?;
    found.pop().ok_or_else(|| Failure::usage("--slot is of no semaphore"))
}

/// Returns what is reported where there is no holder.
async fn free(redlock: &Redlock, inspection: &Inspection) -> String {
    let name = inspect::name(inspection);
    let held = inspect::permits_held(redlock, inspection).await;
    let note = held.map(|held| inspect::permits_note(inspection.resource(), held));
    let note = note.map(|note| format!(", but {note}; --slot names one"));
    format!("{name} is free{}: nothing was done", note.unwrap_or_default())
}

/// Returns what is reported where no quorum says whether there is a holder.
fn unclear(inspection: &Inspection) -> Failure {
    let name = inspect::name(inspection);
    let problem = format!("{name} is neither held nor free by quorum: try again");
    Failure::new(Exit::NO_QUORUM, problem).with_masters(inspection)
}

fn is_confirmed(inspection: &Inspection) -> Result<bool> {
    let question = format!(
        "{}\nIts holder believes for a while longer that it holds it. Take it away? [y/N] ",
        inspect::to_text(inspection)
    );
    let mut answer = String::new();
    let asked = io::stderr().write_all(question.as_bytes());
    asked
        .and_then(|()| io::stdin().lock().read_line(&mut answer))
        .map_err(|error| Failure::system("the terminal", &error))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
