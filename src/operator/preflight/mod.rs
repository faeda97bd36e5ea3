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

use crate::address::Address;
use crate::builder::RedlockBuilder;
use crate::driver::clock::Clock;
use crate::driver::random::OsRandom;
use crate::driver::runtime;
use crate::failure::{PreflightError, WrongContext};
use crate::lists::Resolved;
use crate::options::Options;
use crate::own_thread;
use crate::redlock::Redlock;
use crate::run::either;
use question::{Heard, Question, Subject, TimeSample};
use quorumlock_core::coordinator::wire::{self, Token};
use quorumlock_core::coordinator::{Random, RestartGuard};
use side_connection::{SideConnection, with_each};
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::oneshot;
use tokio::time::sleep;

impl RedlockBuilder {
    /// Asks every master whether it is fit for this lock, all at once, over connections of its own.
    /// This covers what [`connect`](Self::connect) would refuse, and what it would not notice.
    /// Masters that are down or unfit are findings of the [`Preflight`], not errors.
    ///
    /// It tries what the crate does later, on keys of its own, and deletes them again. All of these
    /// keys begin with `quorumlock:preflight` behind the prefix. Each answer may take three
    /// operation timeouts. With [`inspect_only`](Self::inspect_only) it sets no key, and does not try the
    /// rights that locks need.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let builder = quorumlock::Redlock::builder().nodes(["redis://10.0.0.1", "redis://10.0.0.2"]);
    /// let preflight = builder.preflight().await?;
    /// println!("{preflight}");
    /// let redlock = builder.connect().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`PreflightError`]: a setting (or an address) that cannot work, no tokio runtime to run on, with
    /// time and I/O, or no [thread](Self::own_thread); the call sent nothing.
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it closes its connections. Any keys that it has set by then expire
    /// in 2 s.
    pub async fn preflight(&self) -> Result<Preflight, PreflightError> {
        self.options.check()?;
        Ok(run(self.own_thread, &self.masters()?, &self.options, self.clock).await?)
    }
}

impl Redlock {
    /// Asks every master whether it is fit for this lock, as
    /// [`RedlockBuilder::preflight`](crate::RedlockBuilder::preflight) does before there is a connection. It uses
    /// connections of its own, also after a [`shutdown`](Self::shutdown). Locks that are held or waited for are not
    /// touched.
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
        if !self.driver.is_here() {
            return Err(WrongContext::Forked { call: "preflight()" });
        }
        let own_thread = self.setup.own_runtime.is_some();
        run(own_thread, &self.setup.masters, &self.setup.options, self.driver.clock()).await
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
    let (mut reply, answer) = oneshot::channel();
    let work = async move {
        let dropped = async {
            reply.closed().await;
            None
        };
        let asked = async { Some(ask(&resolved, &options, clock).await) };
        _ = either(dropped, asked).await.map(|asked| reply.send(asked));
    };
    own_thread::begin(true, || Ok::<_, WrongContext>(((), tokio::spawn(work))))?;
    answer.await.map_err(|_| WrongContext::NoThread { problem: "it has panicked".into() })?
}

async fn ask(
    (masters, membership): &Resolved,
    options: &Options,
    clock: Clock,
) -> Result<Preflight, WrongContext> {
    runtime::check("preflight()", masters.iter().map(|master| &master.transport))?;
    let shared = options.shared_settings(*membership, masters);
    let heard = with_each(masters.iter().cloned(), |master| {
        let (shared, key) = (shared.clone(), options.own_key("preflight"));
        let channels = wire::channels(master.login.database);
        hear(master, options.clone(), clock, Subject { shared, key, channels })
    });
    let heard = heard.await;
    let judged = masters.iter().zip(heard).map(|(master, heard)| {
        let lost = |ended| Heard { ended: Some(ended), ..Heard::default() };
        judge::judge(master.name.clone(), &heard.unwrap_or_else(lost), options, &shared)
    });
    let mut nodes: Vec<NodePreflight> = judged.collect();
    let findings = judge::compare(&mut nodes, options);
    Ok(Preflight { nodes, findings, membership: *membership })
}

/// The number of round trips; the shortest of them was not held up.
const SAMPLES: usize = 5;

/// The least time between the first question for the time and the last: ten times the constant of the default drift,
/// so that a clock at twice the speed of ours is not within it.
const APART: Duration = Duration::from_millis(20);

/// Asks one master everything, until an answer ends the conversation.
async fn hear(master: Address, options: Options, clock: Clock, subject: Subject) -> Heard {
    let mut heard = Heard::default();
    let conversation = async {
        let (mut connection, hello) = SideConnection::open(&master, &options).await?;
        let hello = heard.hello.insert(hello);
        connection.enter(hello, &master.login).await?;
        let began = clock.now();
        for _ in 0..SAMPLES {
            heard.times.push(ask_time(clock, &mut connection).await?);
        }
        let token = Token::new(OsRandom::new().bits().unwrap_or_default());
        // A denied question is an entry in the server's ACL log, so ask no needless one.
        let trusts_persistence = options.restart_guard == RestartGuard::TrustPersistence;
        let is_needed = |question: &&Question| {
            (trusts_persistence || **question != Question::Replay)
                && (!options.inspect_only || question.only_reads())
        };
        let asked = || Question::ALL.iter().filter(is_needed);
        for question in asked() {
            connection.send(&question.command(&subject, &token));
        }
        for question in asked() {
            let reply = connection.next(&question.permission().to_string()).await?;
            heard.answers.insert(*question, reply);
        }
        sleep(APART.saturating_sub(clock.now().since(began))).await;
        heard.times.push(ask_time(clock, &mut connection).await?);
        Ok(())
    };
    let ended: Result<(), FindingKind> = conversation.await;
    Heard { ended: ended.err(), ..heard }
}

async fn ask_time(
    clock: Clock,
    connection: &mut SideConnection,
) -> Result<TimeSample, FindingKind> {
    let asked_at = clock.wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    let asked = clock.now();
    let reply = connection.ask("TIME", &wire::pack(&["TIME"])).await?;
    Ok(TimeSample { asked, asked_at, round_trip: clock.now().since(asked), reply })
}

#[cfg(test)]
mod tests;
