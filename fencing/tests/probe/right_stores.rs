//! Stores that keep all five rules, each in another way.

use quorumlock_fencing::probe::{Attempt, Probed, StoreError, StoreResult};
use quorumlock_fencing::{FenceCheck, FencingToken, StaleToken};
use std::sync::Mutex as Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::yield_now;

fn content(attempt: &Attempt, read: u64, updates: bool) -> u64 {
    if updates { attempt.applied_to(read) } else { attempt.value }
}

/// One critical section, with the check of this package, and every call that a probe knows.
#[derive(Default)]
pub(crate) struct Guarded {
    updates: bool,
    inside: Mutex<(FenceCheck<String>, u64)>,
    wins: AtomicU64,
}

impl Guarded {
    pub(crate) fn new(updates: bool) -> Self {
        Self { updates, ..Self::default() }
    }

    /// Writes past the fence.
    pub(crate) async fn set(&self, value: u64) {
        self.inside.lock().await.1 = value;
    }
}

impl Probed for Guarded {
    fn updates(&self) -> bool {
        self.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        attempt.pass("before the lock").await?;
        let mut inside = self.inside.lock().await;
        inside.0.admit("resource", attempt.token)?;
        attempt.pass("checked").await?;
        let read = inside.1;
        attempt.pass("read").await?;
        inside.1 = content(&attempt, read, self.updates);
        attempt.pass("written").await?;
        drop(inside);
        attempt.pass("before the answer").await
    }

    async fn read(&self) -> StoreResult<u64> {
        Ok(self.inside.lock().await.1)
    }

    async fn unfenced(&self, _value: u64) -> StoreResult {
        Err(StoreError::Failed("no token".to_owned()))
    }

    async fn restart(&self) -> StoreResult {
        let mut inside = self.inside.lock().await;
        let saved: Vec<_> = inside.0.iter().map(|(name, token)| (name.clone(), token)).collect();
        inside.0 = saved.into_iter().collect();
        Ok(())
    }

    /// Forgets what is below the floor.
    async fn cleanup(&self) -> StoreResult {
        let mut inside = self.inside.lock().await;
        if let Some(greatest) = inside.0.greatest("resource") {
            inside.0.raise_floor(greatest);
        }
        Ok(())
    }

    async fn win(&self) -> StoreResult<FencingToken> {
        Ok(FencingToken::try_from(1 + self.wins.fetch_add(1, Ordering::Relaxed))?)
    }
}

/// A database with locks on rows, and transactions whose rollback takes the raise back as well.
#[derive(Default)]
pub(crate) struct Transactional {
    updates: bool,
    row: Mutex<()>,
    committed: Cell<(u64, u64)>,
}

struct Transaction<'s> {
    store: &'s Transactional,
    _row: MutexGuard<'s, ()>,
    own: (u64, u64),
}

impl Probed for Transactional {
    fn updates(&self) -> bool {
        self.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        yield_now().await;
        let mut transaction = self.fence(attempt.token).await?;
        attempt.pass("raised").await?;
        let read = transaction.own.1;
        yield_now().await;
        transaction.own.1 = content(&attempt, read, self.updates);
        attempt.pass("before the commit").await?;
        transaction.commit().await;
        attempt.pass("committed").await
    }

    async fn read(&self) -> StoreResult<u64> {
        yield_now().await;
        Ok(self.committed.lock().unwrap().1)
    }

    async fn restart(&self) -> StoreResult {
        Ok(())
    }
}

impl Transactional {
    pub(crate) fn new(updates: bool) -> Self {
        Self { updates, ..Self::default() }
    }

    async fn fence(&self, token: FencingToken) -> Result<Transaction<'_>, StoreError> {
        let row = self.row.lock().await;
        yield_now().await;
        let own = *self.committed.lock().unwrap();
        if let Ok(greatest) = FencingToken::try_from(own.0)
            && token < greatest
        {
            Err(StaleToken { presented: token, greatest })?;
        }
        Ok(Transaction { store: self, _row: row, own: (token.as_u64(), own.1) })
    }
}

impl Transaction<'_> {
    async fn commit(self) {
        yield_now().await;
        *self.store.committed.lock().unwrap() = self.own;
        yield_now().await;
    }
}

/// Objects with versions, put on the condition that nothing has changed in between.
#[derive(Default)]
pub(crate) struct Conditional {
    updates: bool,
    object: Cell<Object>,
}

#[derive(Default, Clone, Copy)]
struct Object {
    version: u64,
    token: u64,
    value: u64,
}

impl Probed for Conditional {
    fn updates(&self) -> bool {
        self.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let token = attempt.token.as_u64();
        let read = if self.updates { self.put(&attempt, |value| value).await? } else { 0 };
        attempt.pass("raised and read").await?;
        self.put(&attempt, |_| content(&attempt, read, self.updates)).await?;
        assert!(self.object.lock().unwrap().token >= token);
        attempt.pass("put").await
    }

    async fn read(&self) -> StoreResult<u64> {
        Ok(self.object.lock().unwrap().value)
    }
}

impl Conditional {
    pub(crate) fn new(updates: bool) -> Self {
        Self { updates, ..Self::default() }
    }

    /// Puts the token, and what becomes of the value, which it returns.
    async fn put(&self, attempt: &Attempt, value: impl Fn(u64) -> u64) -> Result<u64, StoreError> {
        loop {
            let old = *self.object.lock().unwrap();
            if attempt.token.as_u64() < old.token {
                return Err(StoreError::Stale);
            }
            attempt.pass("before a conditional put").await?;
            let mut object = self.object.lock().unwrap();
            if object.version == old.version {
                let (version, token) = (old.version + 1, attempt.token.as_u64());
                *object = Object { version, token, value: value(old.value) };
                return Ok(object.value);
            }
        }
    }
}
