//! Checks of the configured masters: whether each is fit for this lock, and if not, what to do
//! about it.
//!
//! [`RedlockBuilder::preflight`](crate::RedlockBuilder::preflight) asks before there is any
//! connection. (`connect` continues without unfit masters, where it can; a preflight reports all
//! about them.) [`Redlock::preflight`](crate::Redlock::preflight) asks at any time after that.
//!
//! ```no_run
//! # async fn example() -> Result<(), quorumlock::error::Invalid> {
//! use quorumlock::Redlock;
//!
//! let preflight = Redlock::builder()
//!     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"])
//!     .preflight()
//!     .await?;
//! for node in &preflight {
//!     for finding in &node.findings {
//!         println!("{}: {finding}", node.node);
//!     }
//! }
//! assert!(preflight.is_ok(), "{preflight}");
//! # Ok(()) }
//! ```

mod finding;
mod judge;
mod probe;
mod question;
mod report;
mod right;

pub use finding::{Finding, FindingKind, Severity};
pub use quorumlock_core::coordinator::Difference;
pub use report::{ClockOffset, NodePreflight, Persistence, Preflight, Role};
pub use right::Right;

use crate::error::Invalid;
use crate::lists::Resolved;
use crate::options::Options;
use judge::Bounds;
use probe::Probe;
use question::{Heard, Subject};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// The number of operation timeouts that an answer may take: as long as a session waits for one.
const TIMEOUTS_PER_ANSWER: u32 = 3;

/// Asks all masters at once.
pub(crate) async fn run(resolved: &Resolved, options: &Options) -> Result<Preflight, Invalid> {
    if Handle::try_current().is_err() {
        let problem = "preflight() must be awaited on a tokio runtime with I/O and time enabled";
        return Err(Invalid::new("runtime", problem));
    }
    let (masters, membership) = resolved;
    let bounds = Bounds {
        clocks: options.fencing_window.width(),
        stays_away: options.quarantine(),
        restart_guard: options.restart_guard,
        terms: options.terms(*membership, masters),
    };
    let probe = Probe {
        connect_timeout: options.connect_timeout,
        patience: options.operation_timeout.saturating_mul(TIMEOUTS_PER_ANSWER),
        subject: Subject::new(bounds.terms.clone(), options.own_key("preflight")),
    };
    let mut asking = JoinSet::new();
    for (place, master) in masters.iter().cloned().enumerate() {
        let probe = probe.clone();
        asking.spawn(async move { (place, probe.ask(master).await) });
    }
    let ended = || Some(FindingKind::Unreachable("the dial panicked".into()));
    let lost = || Heard { ended: ended(), ..Heard::default() };
    let mut heard: Vec<Heard> = masters.iter().map(|_| lost()).collect();
    while let Some(asked) = asking.join_next().await {
        if let Ok((place, answers)) = asked {
            heard[place] = answers;
        }
    }
    let judged = masters.iter().zip(&heard);
    let mut nodes: Vec<NodePreflight> =
        judged.map(|(master, heard)| judge::judge(master.name.clone(), heard, &bounds)).collect();
    let findings = judge::compare(&mut nodes, &bounds);
    Ok(Preflight { nodes, findings })
}

#[cfg(test)]
mod tests;
