//! A probe for fenced stores: it plays against yours the ways in which others have failed, and names
//! the rule that is broken.
//!
//! You give it closures: one that makes a store for a fresh resource, one that reads, and your own
//! write or update. It writes as holders with older and newer tokens, one after another, in turns
//! and at once, and then compares what was answered and what is stored with the five rules of
//! [the document](https://docs.rs/quorumlock/latest/quorumlock/fencing/).
//!
//! ```
//! use quorumlock_fencing::FenceCheck;
//! use quorumlock_fencing::probe::{Attempt, FenceProbe, ProbeError, Rule};
//! use std::time::Duration;
//! use tokio::sync::Mutex;
//!
//! #[derive(Default)]
//! struct Account {
//!     fence: FenceCheck<String>,
//!     content: u64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ProbeError> {
//! let open = async |_name: String| Ok(Mutex::new(Account::default()));
//! let read = async |store: &Mutex<Account>| Ok(store.lock().await.content);
//!
//! let right = async |store: &Mutex<Account>, attempt: Attempt| {
//!     let mut account = store.lock().await;
//!     account.fence.admit("account", attempt.token)?;
//!     attempt.pass("checked").await?;
//!     account.content = attempt.applied_to(account.content);
//!     Ok(())
//! };
//! let probe = FenceProbe::new(open, read).update(right).patience(Duration::ZERO);
//! println!("{}", probe.play(0..500).await?);
//!
//! // The check and the write are not in one critical section.
//! let wrong = async |store: &Mutex<Account>, attempt: Attempt| {
//!     store.lock().await.fence.admit("account", attempt.token)?;
//!     attempt.pass("checked").await?;
//!     let mut account = store.lock().await;
//!     account.content = attempt.applied_to(account.content);
//!     Ok(())
//! };
//! let probe = FenceProbe::new(open, read).update(wrong).patience(Duration::ZERO);
//! let broken = probe.play(0..500).await.unwrap_err();
//! assert_eq!(broken.rule, Some(Rule::OneStep));
//! assert!(broken.to_string().contains("is held at \"checked\""));
//! // Its seed repeats it.
//! assert_eq!(probe.play(broken.seed).await.unwrap_err(), broken);
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
//! [patience](FenceProbe::patience), and the schedule goes on with the other one: a right store does
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

mod draw;
mod gate;
mod judge;
mod report;
mod script;
mod stage;

pub use gate::Attempt;
pub use report::{Plays, ProbeError, Report, Rule};
pub use script::Case;

use crate::{FencingToken, StaleToken};
use draw::Draw;
use judge::History;
use script::{Act, CASES};
use stage::Stage;
use std::collections::BTreeMap;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::iter::repeat_n;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Plays the cases in which fences fail against a store, in schedules that a seed determines: see
/// [the module](self).
///
/// `S` is whatever the closures need to reach the store of one play: a name, a path, a connection.
pub struct FenceProbe<'p, S> {
    open: Call<'p, (), String, S>,
    read: Call<'p, S, (), u64>,
    write: Option<Call<'p, S, Attempt, ()>>,
    update: Option<Call<'p, S, Attempt, ()>>,
    unfenced: Option<Call<'p, S, u64, ()>>,
    restart: Option<Call<'p, S, (), ()>>,
    cleanup: Option<Call<'p, S, (), ()>>,
    tokens: Option<Call<'p, S, (), FencingToken>>,
    patience: Duration,
    run: u64,
    opened: AtomicU64,
}

/// What a closure of the user returns.
pub type StoreResult<T = ()> = Result<T, StoreError>;

/// Why a closure of the user did not do its work. `?` makes one of any error: [`Stale`](Self::Stale)
/// if the error is or was caused by a [`StaleToken`], else [`Failed`](Self::Failed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    /// The store refused the token, since it had seen a greater one.
    Stale,
    /// Anything else, as text. It breaks no rule, and the report counts it.
    Failed(String),
}

impl<E: Error + 'static> From<E> for StoreError {
    fn from(error: E) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        let mut texts = Vec::new();
        while let Some(error) = cause {
            if error.is::<StaleToken>() {
                return Self::Stale;
            }
            texts.push(error.to_string());
            cause = error.source();
        }
        Self::Failed(texts.join(": "))
    }
}

type Work<'a, T> = Pin<Box<dyn Future<Output = StoreResult<T>> + 'a>>;
type Call<'p, S, A, T> = Box<dyn Callable<S, A, T> + 'p>;

/// An `AsyncFn` of the user, in a box.
trait Callable<S, A: 'static, T> {
    fn call<'a>(&'a self, store: &'a S, argument: A) -> Work<'a, T>;
}

impl<S, A: 'static, T, F: AsyncFn(&S, A) -> StoreResult<T>> Callable<S, A, T> for F {
    fn call<'a>(&'a self, store: &'a S, argument: A) -> Work<'a, T> {
        Box::pin(self(store, argument))
    }
}

fn plain<'p, S, T>(call: impl AsyncFn(&S) -> StoreResult<T> + 'p) -> Call<'p, S, (), T> {
    Box::new(async move |store: &S, (): ()| call(store).await)
}

impl<'p, S> FenceProbe<'p, S> {
    /// Returns a probe of the stores that `open` makes. Each play has one of its own, of which the
    /// resource's name (letters, digits and dashes) is new; `read` returns what is stored there, and
    /// 0 before the first write.
    pub fn new(
        open: impl AsyncFn(String) -> StoreResult<S> + 'p,
        read: impl AsyncFn(&S) -> StoreResult<u64> + 'p,
    ) -> Self {
        Self {
            open: Box::new(async move |(): &(), name| open(name).await),
            read: plain(read),
            write: None,
            update: None,
            unfenced: None,
            restart: None,
            cleanup: None,
            tokens: None,
            patience: Duration::from_millis(20),
            run: RandomState::new().hash_one(0),
            opened: AtomicU64::new(0),
        }
    }

    /// Probes this write, which replaces what is stored by [the value](Attempt::value) of the attempt.
    #[must_use]
    pub fn write(mut self, write: impl AsyncFn(&S, Attempt) -> StoreResult + 'p) -> Self {
        self.write = Some(Box::new(write));
        self
    }

    /// Probes this update, which reads what is stored, and writes back what
    /// [the attempt makes of it](Attempt::applied_to). Only an update can break rule 4.
    #[must_use]
    pub fn update(mut self, update: impl AsyncFn(&S, Attempt) -> StoreResult + 'p) -> Self {
        self.update = Some(Box::new(update));
        self
    }

    /// Probes a writer that has no token, such as a migration or a console. It writes the value that it
    /// is given, or appends it as an update does, and the store must not take it.
    #[must_use]
    pub fn unfenced(mut self, write: impl AsyncFn(&S, u64) -> StoreResult + 'p) -> Self {
        self.unfenced = Some(Box::new(write));
        self
    }

    /// Restarts the store between writes. What has been acknowledged must be there afterwards.
    #[must_use]
    pub fn restart(mut self, restart: impl AsyncFn(&S) -> StoreResult + 'p) -> Self {
        self.restart = Some(plain(restart));
        self
    }

    /// Lets the store forget what it can between writes: runs its cleanup, advances its clock,
    /// releases the lock.
    #[must_use]
    pub fn cleanup(mut self, cleanup: impl AsyncFn(&S) -> StoreResult + 'p) -> Self {
        self.cleanup = Some(plain(cleanup));
        self
    }

    /// Takes tokens from this source, which wins the lock, and releases it, on each call: each token
    /// must be greater than the one before. Without a source, the probe makes up tokens of any size.
    #[must_use]
    pub fn tokens(mut self, win: impl AsyncFn(&S) -> StoreResult<FencingToken> + 'p) -> Self {
        self.tokens = Some(plain(win));
        self
    }

    /// Sets for how long a write may not proceed until it counts as blocked by the store, and the
    /// schedule goes on with the other one: 20 ms by default. Zero fits a store within the process.
    /// Too short a time changes the schedule, and reports nothing that is not there.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Plays once for each seed. A seed, with the same closures, determines the case, tokens and
    /// schedule.
    ///
    /// # Errors
    ///
    /// [`ProbeError`] with the first rule that was broken. Without a rule, if errors of the store kept
    /// a case from being played even once, or if there was nothing to play.
    ///
    /// # Cancel safety
    ///
    /// Writes on their way are dropped.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime with its time enabled.
    pub async fn play(&self, seeds: impl IntoIterator<Item = u64>) -> Result<Report, ProbeError> {
        let (cases, mut report) = (self.cases(), Report::default());
        let is_left_out = |case: &Case| cases.iter().all(|(played, ..)| played != case);
        report.left_out = CASES.iter().map(|(case, ..)| *case).filter(is_left_out).collect();
        let mut shown = BTreeMap::new();
        for seed in seeds {
            let Some(index) = seed.checked_rem(cases.len() as u64) else { break };
            let (case, script, updates) = cases[index as usize];
            let played = self.play_one(seed, case, script, updates).await;
            if let Err(broken) = played {
                // A store that refuses nothing breaks nearly every rule: the first cause counts.
                let (case, _, script) = CASES[0];
                self.play_one(seed, case, script, updates).await?;
                return Err(broken);
            }
            let (blocked, error) = played?;
            let plays = report.cases.entry(case).or_default();
            report.blocked += blocked;
            plays.all += 1;
            plays.whole += u64::from(error.is_none());
            plays.error = plays.error.take().or(error.clone());
            let shown = shown.entry((case, updates)).or_insert_with(|| error.clone());
            *shown = shown.take().and(error);
        }
        let untested = shown.into_iter().find_map(|((case, _), error)| Some((case, error?)));
        let (case, text) = match untested {
            Some((case, error)) => (
                Some(case),
                format!(
                    "each play of {case:?} had an error of the store, which is no StoreError::Stale: {error}"
                ),
            ),
            None if report.cases.is_empty() => {
                (None, "nothing was played: give seeds, and a write or an update".to_owned())
            }
            None => return Ok(report),
        };
        Err(ProbeError { rule: None, case, seed: None, text })
    }

    /// Plays on a store of its own. Returns how often it blocked a write, and its first error.
    async fn play_one(
        &self,
        seed: u64,
        case: Case,
        script: &[&[Act]],
        updates: bool,
    ) -> Result<(u64, Option<String>), ProbeError> {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let write = if updates { &self.update } else { &self.write };
        let (store, write) =
            match (self.open.call(&(), format!("probe-{:x}-{number}", self.run)).await, write) {
                (Ok(store), Some(write)) => (store, write),
                (opened, _) => return Ok((0, opened.err().map(|error| format!("{error:?}")))),
            };
        let mut stage = Stage {
            probe: self,
            store: &store,
            write,
            draw: Draw::new(seed),
            tokens: Vec::new(),
            history: History { updates, ..History::default() },
            errors: Vec::new(),
            blocked: 0,
            longest: 0,
        };
        stage.take_tokens().await;
        for act in script.iter().copied().flatten() {
            stage.perform(*act).await;
            if let Some(breach) = stage.history.breach() {
                return Err(ProbeError::broken(breach, case, seed, &stage.history.log));
            }
        }
        let error = stage.errors.first().map(|error| format!("seed {seed}: {error}"));
        Ok((stage.blocked, error))
    }

    /// Returns the cases for which there are closures, each for writes and for updates.
    fn cases(&self) -> Vec<(Case, &'static [&'static [Act]], bool)> {
        let mut cases = Vec::new();
        for (case, weight, script) in CASES {
            for updates in [false, true] {
                let is_given = match case {
                    Case::RaiseBeforeRead => updates,
                    Case::Restart => self.restart.is_some(),
                    Case::Cleanup => self.cleanup.is_some(),
                    Case::Unfenced => self.unfenced.is_some(),
                    Case::Tokens => self.tokens.is_some(),
                    _ => true,
                };
                let write = if updates { &self.update } else { &self.write };
                if is_given && write.is_some() {
                    cases.extend(repeat_n((case, script, updates), weight));
                }
            }
        }
        cases
    }
}
