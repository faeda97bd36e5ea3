//! A store with a hole: each of them was found in a real project, or is next to one that was.

use quorumlock_fencing::FencingToken;
use quorumlock_fencing::probe::{Attempt, Probed, Report, StoreError, StoreResult, play};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex as Cell};
use tokio::sync::Mutex;
use tokio::task::yield_now;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    /// The store as it should be.
    None,
    /// `WHERE NOT EXISTS (.. a greater token)`, which locks no row.
    ExistsLocksNothing,
    /// The check is a transaction, and the write another one.
    CheckApart,
    /// The token counts the holders since the last release.
    TokenStartsAgain,
    /// The counter of tokens is in memory.
    TokenStartsAgainAtRestart,
    /// The token is computed, and compared with nothing.
    ThrownAway,
    /// A random number stands in for the token.
    Random,
    /// A holder writes once only.
    EqualRefused,
    /// The token is checked before the read, and raised after it.
    NoRaiseBeforeRead,
    /// The fence is in memory, and the data on disk.
    LostAtRestart,
    /// A job deletes rows of the fence that are old.
    DroppedByCleanup,
    /// The row of the fence is rolled back, and the data is in another store, which is not.
    RollbackOfTheRaiseAlone,
    /// A failed write puts back the fence from before it, whatever came in between.
    FailureLowersTheFence,
    /// A gateway checks, and what it admits waits in a queue.
    Gateway,
    /// The queue has more than one worker.
    GatewayOfManyWorkers,
    /// The write comes first, and is not undone by a refusal.
    RefusedYetWritten,
    /// The last token is stored, not the greatest.
    LastNotGreatest,
    /// Tokens are compared as strings.
    ComparedAsText,
    /// Tokens are floats of 32 bits.
    ComparedAsFloat,
    /// A migration writes without a token.
    Unfenced,
}

#[derive(Debug, Default)]
struct Inside {
    fence: Option<u64>,
    value: u64,
    queued: u64,
    wins: u64,
}

pub(crate) struct Planted {
    hole: Hole,
    updates: bool,
    row: Mutex<()>,
    inside: Arc<Cell<Inside>>,
}

impl Planted {
    fn new(hole: Hole, updates: bool) -> Self {
        Self { hole, updates, row: Mutex::new(()), inside: Arc::default() }
    }

    fn is_stale(&self, token: u64) -> bool {
        let Some(fence) = self.inside.lock().unwrap().fence else { return false };
        match self.hole {
            Hole::EqualRefused => token <= fence,
            Hole::ComparedAsText => token.to_string() < fence.to_string(),
            Hole::ComparedAsFloat => (token as f32) < (fence as f32),
            Hole::ThrownAway => false,
            _ => token < fence,
        }
    }

    fn check(&self, token: u64) -> Result<(), StoreError> {
        if self.is_stale(token) { Err(StoreError::Stale) } else { Ok(()) }
    }

    fn raise(&self, token: u64) -> Result<(), StoreError> {
        self.check(token)?;
        self.inside.lock().unwrap().fence = Some(token);
        Ok(())
    }

    /// Returns what a write or an update has to store, having read.
    fn content(&self, attempt: &Attempt) -> u64 {
        let read = self.inside.lock().unwrap().value;
        if self.updates { attempt.applied_to(read) } else { attempt.value }
    }

    fn forget(&self, hole: Hole) {
        if self.hole == hole {
            self.inside.lock().unwrap().fence = None;
        }
    }
}

impl Probed for Planted {
    fn updates(&self) -> bool {
        self.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let token = match self.hole {
            Hole::Random => {
                let mut hasher = DefaultHasher::new();
                (attempt.token, attempt.value).hash(&mut hasher);
                hasher.finish() >> 11
            }
            _ => attempt.token.as_u64(),
        };
        attempt.pass("before the transaction").await?;
        match self.hole {
            Hole::ExistsLocksNothing | Hole::LastNotGreatest => {
                self.check(token)?;
                attempt.pass("checked").await?;
                let value = self.content(&attempt);
                let mut inside = self.inside.lock().unwrap();
                let greatest = inside.fence.max(Some(token));
                let last = self.hole == Hole::LastNotGreatest;
                (inside.value, inside.fence) = (value, if last { Some(token) } else { greatest });
            }
            Hole::CheckApart => {
                let row = self.row.lock().await;
                self.raise(token)?;
                drop(row);
                attempt.pass("checked").await?;
                let _row = self.row.lock().await;
                let value = self.content(&attempt);
                self.inside.lock().unwrap().value = value;
            }
            Hole::NoRaiseBeforeRead => {
                self.check(token)?;
                let value = self.content(&attempt);
                attempt.pass("read").await?;
                let _row = self.row.lock().await;
                self.raise(token)?;
                self.inside.lock().unwrap().value = value;
            }
            Hole::RollbackOfTheRaiseAlone | Hole::FailureLowersTheFence => {
                let _row = self.row.lock().await;
                let fence = self.inside.lock().unwrap().fence;
                self.raise(token)?;
                let lowered = fence.filter(|_| self.hole == Hole::RollbackOfTheRaiseAlone);
                let mut undo = Undo { store: self, fence: Some(lowered) };
                if self.hole == Hole::RollbackOfTheRaiseAlone {
                    self.inside.lock().unwrap().value = self.content(&attempt);
                    attempt.pass("written").await?;
                } else {
                    attempt.pass("raised").await?;
                    self.inside.lock().unwrap().value = self.content(&attempt);
                }
                undo.fence = None;
            }
            Hole::Gateway | Hole::GatewayOfManyWorkers => {
                self.raise(token)?;
                let inside = Arc::clone(&self.inside);
                inside.lock().unwrap().queued += 1;
                let (turns, updates) = (1 + (attempt.value * 5) % 7, self.updates);
                tokio::spawn(async move {
                    for _ in 0..turns {
                        yield_now().await;
                    }
                    let mut inside = inside.lock().unwrap();
                    inside.value =
                        if updates { attempt.applied_to(inside.value) } else { attempt.value };
                    inside.queued -= 1;
                });
                return Ok(());
            }
            Hole::RefusedYetWritten => {
                let _row = self.row.lock().await;
                let value = self.content(&attempt);
                self.inside.lock().unwrap().value = value;
                self.raise(token)?;
            }
            _ => {
                let _row = self.row.lock().await;
                self.raise(token)?;
                attempt.pass("raised").await?;
                let value = self.content(&attempt);
                attempt.pass("read").await?;
                self.inside.lock().unwrap().value = value;
            }
        }
        attempt.pass("before the answer").await
    }

    async fn read(&self) -> StoreResult<u64> {
        while self.hole == Hole::GatewayOfManyWorkers && self.inside.lock().unwrap().queued > 0 {
            yield_now().await;
        }
        Ok(self.inside.lock().unwrap().value)
    }

    async fn unfenced(&self, value: u64) -> StoreResult {
        if self.hole != Hole::Unfenced {
            return Err(StoreError::Failed("no token".to_owned()));
        }
        let mut inside = self.inside.lock().unwrap();
        inside.value = if self.updates { inside.value * 16 + value } else { value };
        Ok(())
    }

    async fn restart(&self) -> StoreResult {
        self.forget(Hole::LostAtRestart);
        if self.hole == Hole::TokenStartsAgainAtRestart {
            self.inside.lock().unwrap().wins = 0;
        }
        Ok(())
    }

    async fn cleanup(&self) -> StoreResult {
        self.forget(Hole::DroppedByCleanup);
        Ok(())
    }

    async fn win(&self) -> StoreResult<FencingToken> {
        if !matches!(self.hole, Hole::TokenStartsAgain | Hole::TokenStartsAgainAtRestart) {
            return Err(StoreError::NotGiven);
        }
        let mut inside = self.inside.lock().unwrap();
        inside.wins += 1;
        let token = inside.wins;
        if self.hole == Hole::TokenStartsAgain {
            inside.wins = 0;
        }
        Ok(token.try_into()?)
    }
}

/// Puts back the fence if a write ends early.
struct Undo<'s> {
    store: &'s Planted,
    fence: Option<Option<u64>>,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if let Some(fence) = self.fence {
            self.store.inside.lock().unwrap().fence = fence;
        }
    }
}

/// Plays on stores with the hole; `updates` says whether they have an update, or a write.
pub(crate) async fn probe(
    hole: Hole,
    updates: bool,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<Report, Report> {
    play(async |_| Ok(Planted::new(hole, updates)), seeds).await
}
