//! `quorumlock ask`: the holder of a lock is asked to give it back.

use crate::args::{AskArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::force_release::{free, look, unclear};
use crate::inspect::{self, is_among};
use crate::output::{Output, millis};
use crate::settings;
use quorumlock::report::Span;
use quorumlock::{Holder, LockState, Redlock};
use serde_json::json;
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
    match before.is_shared() && !before.readers().is_empty() {
        true => now.is_shared() && before.readers().iter().any(|reader| is_among(reader, now)),
        false => now.same_hold_as(before),
    }
}
