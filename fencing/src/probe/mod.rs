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
//! use quorumlock_fencing::probe::{Attempt, ProbeError, Probed, Rule, StoreResult, play};
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
//! # async fn main() -> Result<(), ProbeError> {
//! let open = async |apart| Ok(Account { inside: Mutex::default(), apart });
//! println!("{}", play(async |_| open(false).await, 0..500).await?);
//!
//! let broken = play(async |_| open(true).await, 0..500).await.unwrap_err();
//! assert_eq!(broken.rule, Some(Rule::OneStep));
//! assert!(broken.to_string().contains("is held at \"checked\""));
//! // Its seed repeats it.
//! assert_eq!(play(async |_| open(true).await, broken.seed).await.unwrap_err(), broken);
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
mod draw;
mod gate;
mod judge;
mod report;
mod stage;

pub use cases::Case;
pub use gate::Attempt;
pub use report::{Plays, ProbeError, Report, Rule};

use crate::{FencingToken, StaleToken};
use cases::{Act, CASES, FOUR_HOLDERS, Row};
use stage::Stage;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::iter::{repeat_n, successors};
use std::time::Duration;
use tokio::time::timeout;

/// How long each thing that is done to a store may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A store that is probed, with one resource: whatever reaches it, such as a name and a connection.
///
/// Calls that are not given leave out the cases that need them, as does [`StoreError::NotGiven`].
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
    /// There is no such call. The cases that need it are left out.
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
/// [`ProbeError`] with the first rule that was broken. Without a rule, if errors of the store kept
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
) -> Result<Report, ProbeError> {
    let rows: Vec<_> = CASES.iter().flat_map(|row| repeat_n(row, row.1)).collect();
    let mut report = Report::default();
    for seed in seeds {
        for below in 0..rows.len() {
            let row = rows[(seed as usize % rows.len() + below) % rows.len()];
            let played = play_one(&open, seed, row, &mut report).await;
            if played.is_err() {
                // A store that refuses nothing breaks nearly every rule: the first cause counts.
                play_one(&open, seed, &CASES[0], &mut report).await?;
            }
            if played? {
                break;
            }
        }
    }
    report.or_nothing_shown()
}

/// Plays on a store of its own. Returns false if the case is left out.
async fn play_one<S: Probed>(
    open: &impl AsyncFn(String) -> StoreResult<S>,
    seed: u64,
    (case, _, needs, script): &Row,
    report: &mut Report,
) -> Result<bool, ProbeError> {
    if report.left_out.contains(case) {
        return Ok(false);
    }
    let name = format!("probe-{:x}", RandomState::new().hash_one(seed));
    let store = match open(name).await {
        Ok(store) => store,
        Err(error) => {
            report.count(*case, seed, Some(format!("{error:?}")));
            return Ok(true);
        }
    };
    let mut stage = Stage::new(&store, seed);
    for act in FOUR_HOLDERS.iter().chain(script.iter().copied().flatten()) {
        let late = |_| Err(StoreError::Failed(format!("no end within {LIMIT:?}")));
        match timeout(LIMIT, stage.perform(*act)).await.unwrap_or_else(late) {
            Err(StoreError::NotGiven) if act == needs => {
                report.left_out.insert(*case);
                return Ok(false);
            }
            Ok(()) => {}
            Err(StoreError::NotGiven) if matches!(act, Act::Win | Act::Restart | Act::Cleanup) => {}
            Err(error) => stage.fail(format!("{error:?}")),
        }
        if let Some(breach) = stage.history.breach {
            return Err(ProbeError::broken(breach, *case, seed, &stage.history.log));
        }
    }
    report.blocked += stage.blocked;
    report.count(*case, seed, stage.error);
    Ok(true)
}
