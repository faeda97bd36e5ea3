//! `quorumlock force-release`: a lock is taken away from its holder.

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inspect;
use crate::output::Output;
use crate::settings;
use quorumlock::{Inspection, LockState, Redlock};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};

/// Shows the holder, asks, and takes the lock away.
pub(crate) async fn force_release(
    resource: &str,
    yes: bool,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    if !yes && !io::stdin().is_terminal() {
        let problem = "force-release asks on a terminal, and there is none: use --yes";
        return Err(Failure::usage(problem));
    }
    let redlock = settings::connect_to_inspect(masters, output).await?;
    let done = take_away(&redlock, resource, yes, output).await;
    let _nothing_is_owed = redlock.shutdown().await;
    done
}

async fn take_away(
    redlock: &Redlock,
    resource: &str,
    yes: bool,
    output: Output,
) -> Result<Exit, Failure> {
    let inspection = redlock.inspect(resource).await?;
    match inspection.state() {
        LockState::Held(_) => {}
        LockState::Free => return told(&inspection, false, &free(resource), output),
        _ => {
            let problem = format!("\"{resource}\" is neither held nor free by quorum: try again");
            return Err(Failure::new(Exit::NoQuorum, problem).with_masters(&inspection));
        }
    }
    if !yes && !is_confirmed(&inspection)? {
        return Err(Failure::new(Exit::Failed, format!("\"{resource}\" was left to its holder")));
    }
    redlock.force_release(&inspection).await?;
    let holder = inspection.holder().map(ToString::to_string).unwrap_or_default();
    let text = format!(
        "\"{resource}\" was taken away: it was {holder}\nIts holder learns of it at its next \
         extension, at the latest at its deadline."
    );
    told(&inspection, true, &text, output)
}

fn free(resource: &str) -> String {
    format!("\"{resource}\" is free: nothing was done")
}

fn told(
    inspection: &Inspection,
    released: bool,
    text: &str,
    output: Output,
) -> Result<Exit, Failure> {
    let value = json!({ "released": released, "was": inspect::to_json(inspection) });
    output.result(&value, text, Exit::Success)
}

fn is_confirmed(inspection: &Inspection) -> Result<bool, Failure> {
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
