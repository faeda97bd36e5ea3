//! `quorumlock force-release`: a lock is taken away from its holder.

use crate::args::{ForceReleaseArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::inspect;
use crate::output::Output;
use crate::settings;
use quorumlock::{Inspection, LockState, Redlock};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};

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
pub(crate) async fn look(
    redlock: &Redlock,
    resource: &str,
    slot: Option<u8>,
) -> Result<Inspection> {
    let Some(slot) = slot else { return Ok(redlock.inspect(resource).await?) };
    // The last one of so many.
    let permits = usize::from(slot) + 1;
    let mut found = redlock.semaphore(resource, permits).inspect().await?;
    found.pop().ok_or_else(|| Failure::usage("--slot is of no semaphore"))
}

/// Returns what is reported where there is no holder.
pub(crate) async fn free(redlock: &Redlock, inspection: &Inspection) -> String {
    let name = inspect::name(inspection);
    let held = inspect::permits_held(redlock, inspection).await;
    let note = held.map(|held| inspect::permits_note(inspection.resource(), held));
    let note = note.map(|note| format!(", but {note}; --slot names one"));
    format!("{name} is free{}: nothing was done", note.unwrap_or_default())
}

/// Returns what is reported where no quorum says whether there is a holder.
pub(crate) fn unclear(inspection: &Inspection) -> Failure {
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
