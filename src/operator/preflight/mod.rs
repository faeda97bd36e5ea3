//! Checks of the configured masters: whether each is fit for this lock, and if not, what to do
//! about it.
//!
//! [`RedlockBuilder::preflight`](crate::RedlockBuilder::preflight) asks before there is any
//! connection. (`connect` continues without unfit masters, where it can; a preflight reports all
//! about them.) [`Redlock::preflight`](crate::Redlock::preflight) asks at any time after that.
//!
//! ```no_run
//! # async fn example() -> Result<(), quorumlock::PreflightError> {
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

mod connection;
mod early;
mod finding;
mod judge;
mod permission;
mod question;
mod result;
pub(crate) mod side_connection;

pub use finding::{Finding, FindingKind, Severity};
pub(crate) use judge::{not_alone, warms_up_for};
pub use permission::Permission;
pub use quorumlock_core::coordinator::{Persistence, Role};
pub use quorumlock_core::report::Difference;
pub use result::{ClockOffset, NodePreflight, Preflight};

use crate::driver::clock::Clock;
use crate::driver::runtime;
use crate::failure::WrongContext;
use crate::lists::Resolved;
use crate::operator::AbortOnDrop;
use crate::options::Options;
use crate::own_thread;
use crate::redlock::Redlock;
use connection::Conversation;
use question::{Heard, Subject};
use side_connection::with_each;
use tokio::sync::oneshot;

impl Redlock {
    /// Asks every master whether it is fit for this lock, as
    /// [`RedlockBuilder::preflight`](crate::RedlockBuilder::preflight) does before there is a connection. It uses connections of its own, also after a
    /// [`shutdown`](Self::shutdown). Locks that are held or waited for are not touched.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::WrongContext> {
    /// let preflight = redlock.preflight().await?;
    /// if !preflight.is_ok() {
    ///     eprintln!("{preflight}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WrongContext`] if there is no tokio runtime to run on, with time and I/O, and no
    /// [thread](crate::RedlockBuilder::own_thread). Masters that are
    /// down or unfit are findings of the [`Preflight`].
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it closes its connections. Any keys that it has set by then expire
    /// in 2 s.
    pub async fn preflight(&self) -> Result<Preflight, WrongContext> {
        if !self.driver().is_here() {
            return Err(WrongContext::Forked { call: "preflight()" });
        }
        let own_thread = self.own_runtime().is_some();
        run(own_thread, self.masters(), self.options(), self.driver().clock()).await
    }
}

/// Asks all masters at once, here or on a thread.
pub(crate) async fn run(
    own_thread: bool,
    resolved: &Resolved,
    options: &Options,
    clock: Clock,
) -> Result<Preflight, WrongContext> {
    if !own_thread {
        return ask(resolved, options, clock).await;
    }
    let (resolved, options) = (resolved.clone(), options.clone());
    let (reply, answer) = oneshot::channel();
    let work = async move { _ = reply.send(ask(&resolved, &options, clock).await) };
    let _task = own_thread::begin(true, || {
        let task = tokio::spawn(work);
        Ok::<_, WrongContext>((AbortOnDrop(task.abort_handle()), task))
    })?;
    answer.await.map_err(|_| WrongContext::NoThread { problem: "it has panicked".into() })?
}

async fn ask(
    (masters, membership): &Resolved,
    options: &Options,
    clock: Clock,
) -> Result<Preflight, WrongContext> {
    runtime::check("preflight()", masters.iter().map(|master| &master.transport))?;
    let shared = options.shared_settings(*membership, masters);
    let subject = Subject::new(shared.clone(), options.own_key("preflight"));
    let conversation = Conversation { clock, options: options.clone(), subject };
    let heard = with_each(masters, |master| conversation.clone().hold(master)).await;
    let judged = masters.iter().zip(heard).map(|(master, heard)| {
        let lost = |ended| Heard { ended: Some(ended), ..Heard::default() };
        judge::judge(master.name.clone(), &heard.unwrap_or_else(lost), options, &shared)
    });
    let mut nodes: Vec<NodePreflight> = judged.collect();
    let findings = judge::compare(&mut nodes, options);
    Ok(Preflight { nodes, findings, membership: *membership })
}

#[cfg(test)]
mod tests;
