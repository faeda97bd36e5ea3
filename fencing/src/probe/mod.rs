//! A probe for fenced stores: it plays against yours the ways in which others have failed, and names
//! the rule that is broken.
//!
//! You implement [`Probed`] with your own write or update, and a read, and give [`play`] a closure
//! that makes a store for a fresh resource. It writes as holders with older and newer tokens, one after
//! another, in turns and at once, and then compares what was answered and what is stored with the
//! five rules of [the document](https://docs.rs/quorumlock/latest/quorumlock/fencing/).
//!
//! ```
//! use quorumlock_fencing::FenceCheck;
//! use quorumlock_fencing::probe::{Attempt, Probed, Report, Rule, StoreResult, play};
//! use tokio::sync::Mutex;
//!
//! struct Account {
//!     inside: Mutex<(FenceCheck<String>, u64)>,
//!     apart: bool,
//! }
//!
//! impl Probed for Account {
//!     fn updates(&self) -> bool {
//!         true
//!     }
//!
//!     async fn write(&self, attempt: Attempt) -> StoreResult {
//!         let mut inside = self.inside.lock().await;
//!         inside.0.admit("account", attempt.token)?;
//!         if self.apart {
//!             // The check and the write are not in one critical section.
//!             drop(inside);
//!             attempt.pass("checked").await?;
//!             inside = self.inside.lock().await;
//!         }
//!         inside.1 = attempt.applied_to(inside.1);
//!         Ok(())
//!     }
//!
//!     async fn read(&self) -> StoreResult<u64> {
//!         Ok(self.inside.lock().await.1)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Report> {
//! let open = async |apart| Ok(Account { inside: Mutex::default(), apart });
//! println!("{}", play(async |_| open(false).await, 0..500).await?);
//!
//! let broken = play(async |_| open(true).await, 0..500).await.unwrap_err();
//! assert_eq!(broken.rule, Some(Rule::OneStep));
//! assert!(broken.to_string().contains("is held at \"checked\""));
//! // Its seed repeats it.
//! let again = play(async |_| open(true).await, broken.seed).await.unwrap_err();
//! assert_eq!(again.to_string(), broken.to_string());
//! # Ok(())
//! # }
//! ```
//!
//! # Schedules
//!
//! A play has one case and one schedule, and its seed determines both. A write takes a step at a
//! time: to its next [`Attempt::pass`], or to its next await that has to wait. Between two steps the
//! schedule may hold it, as a pause of its process does, and let the other one go on. A write that
//! the store itself keeps from going on, by a lock on a row, counts as blocked after a
//! [patience](Probed::patience), and the schedule goes on with the other one: a right store does
//! not end the probe in a deadlock.
//!
//! How many awaits have to wait may vary with a store behind a connection. Points named by `pass`
//! make a schedule exact, and its report readable. Between two points at which it never waits,
//! nothing else is played: put a point between your check and your write.
//!
//! # Limits
//!
//! What a probe does not find may still be there: a crash of the machine, a failover to a replica
//! that lags, a schedule that no seed has drawn. The store restarts, and cleans up, while no write is on
//! its way. Writes with one token are played one after another.

mod cases;
mod judge;
mod report;
mod stage;

pub use cases::Case;
pub use report::{Plays, Report, Rule};
pub use stage::Attempt;

use crate::{FencingToken, StaleToken};
use cases::{Act, ROWS};
use judge::History;
use stage::Stage;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::iter::successors;
use std::time::Duration;
use tokio::time::timeout;

/// How long a play may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A store that is probed, with one resource: whatever reaches it, such as a name and a connection.
///
/// Calls that are not given leave out the plays that need them, as does [`StoreError::NotGiven`].
#[allow(async_fn_in_trait, reason = "a probe runs in one task")]
pub trait Probed {
    /// Returns whether [`write`](Self::write) is an update, which reads what is stored, and writes
    /// back [what the attempt makes of it](Attempt::applied_to). Otherwise it replaces what is stored
    /// by [the value](Attempt::value) of the attempt. Only an update can break rule 4.
    fn updates(&self) -> bool;

    /// Writes, as your program does.
    async fn write(&self, attempt: Attempt) -> StoreResult;

    /// Returns what is stored, and 0 before the first write.
    async fn read(&self) -> StoreResult<u64>;

    /// Writes without a token, as a migration or a console does: the value that it is given, or that
    /// appended as an update does. The store must not take it.
    async fn unfenced(&self, _value: u64) -> StoreResult {
        Err(StoreError::NotGiven)
    }

    /// Restarts the store between writes. What has been acknowledged must be there afterwards.
    async fn restart(&self) -> StoreResult {
        Err(StoreError::NotGiven)
    }

    /// Lets the store forget what it can between writes: runs its cleanup, advances its clock,
    /// releases the lock.
    async fn cleanup(&self) -> StoreResult {
        Err(StoreError::NotGiven)
    }

    /// Wins the lock, and releases it: each token must be greater than the one before. If it is not
    /// given, the probe makes up tokens of any size.
    async fn win(&self) -> StoreResult<FencingToken> {
        Err(StoreError::NotGiven)
    }

    /// Returns for how long a write may not proceed until it counts as blocked by the store, and the
    /// schedule goes on with the other one. Too short a time changes the schedule, and reports
    /// nothing that is not there. A store within the process needs none, under a paused clock.
    fn patience(&self) -> Duration {
        Duration::from_millis(20)
    }
}

/// What a call of the user returns.
pub type StoreResult<T = ()> = Result<T, StoreError>;

/// Why a call of the user did not do its work. `?` makes one of any error: [`Stale`](Self::Stale)
/// if the error is or was caused by a [`StaleToken`], else [`Failed`](Self::Failed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    /// The store refused the token, since it had seen a greater one.
    Stale,
    /// There is no such call. The plays that need it are left out.
    NotGiven,
    /// Anything else, as text. It breaks no rule, and the report counts it.
    Failed(String),
}

impl<E: Error + 'static> From<E> for StoreError {
    fn from(error: E) -> Self {
        let causes = || successors(Some(&error as &dyn Error), |error| (*error).source());
        if causes().any(|error| error.is::<StaleToken>()) {
            return Self::Stale;
        }
        let texts: Vec<_> = causes().map(ToString::to_string).collect();
        Self::Failed(texts.join(": "))
    }
}

/// Plays once for each seed, on a store that `open` makes: its resource has the name that it is given
/// (letters, digits and a dash), which is new. A seed, with the same store, determines the case,
/// tokens and schedule.
///
/// # Errors
///
/// The report, with the first rule that was broken. Without a rule, if errors of the store kept
/// a case from being played even once, or if there was no seed.
///
/// # Cancel safety
///
/// Writes on their way are dropped.
///
/// # Panics
///
/// Outside a Tokio runtime with its time enabled.
pub async fn play<S: Probed>(
    open: impl AsyncFn(String) -> StoreResult<S>,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<Report, Report> {
    let (mut rows, mut report) = (ROWS.map(Some), Report::default());
    for seed in seeds {
        let from = seed as usize % ROWS.len();
        for row in (from..ROWS.len()).chain(0..from) {
            let Some((case, script)) = rows[row] else { continue };
            let played = play_one(&open, seed, script).await;
            if let Err(StoreError::NotGiven) = played {
                rows[row] = None;
                continue;
            }
            report.add(case, seed, played);
            if report.rule.is_some() {
                // A store that refuses nothing breaks nearly every rule: the first cause counts.
                let (first, script) = ROWS[0];
                report.add(first, seed, play_one(&open, seed, script).await);
                return Err(report);
            }
            break;
        }
    }
    report.or_nothing_shown()
}

/// Plays on a store of its own.
async fn play_one<S: Probed>(
    open: &impl AsyncFn(String) -> StoreResult<S>,
    seed: u64,
    script: &[&[Act]],
) -> StoreResult<History> {
    let play = async {
        let store = open(format!("probe-{:x}", RandomState::new().hash_one(seed))).await?;
        let mut stage = Stage::new(&store, seed).await?;
        for act in script.iter().copied().flatten() {
            stage.perform(*act).await?;
            if stage.history.breach.is_some() {
                break;
            }
        }
        Ok(stage.history)
    };
    let late = |_| Err(StoreError::Failed(format!("no end within {LIMIT:?}")));
    timeout(LIMIT, play).await.unwrap_or_else(late)
}
