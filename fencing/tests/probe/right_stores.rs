//! Stores that keep all five rules, each in another way.

use quorumlock_fencing::probe::{Attempt, StoreError};
use quorumlock_fencing::{FenceCheck, FencingToken, StaleToken};
use std::sync::Mutex as Cell;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::yield_now;

fn content(attempt: &Attempt, read: u64, updates: bool) -> u64 {
    if updates { attempt.applied_to(read) } else { attempt.value }
}

/// One critical section, with the check of this package.
#[derive(Default)]
pub(crate) struct Guarded(Mutex<(FenceCheck<String>, u64)>);

impl Guarded {
    pub(crate) async fn write(&self, attempt: Attempt, updates: bool) -> Result<(), StoreError> {
        attempt.pass("before the lock").await?;
        let mut inside = self.0.lock().await;
        inside.0.admit("resource", attempt.token)?;
        attempt.pass("checked").await?;
        let read = inside.1;
        attempt.pass("read").await?;
        inside.1 = content(&attempt, read, updates);
        attempt.pass("written").await?;
        drop(inside);
        attempt.pass("before the answer").await
    }

    pub(crate) async fn read(&self) -> u64 {
        self.0.lock().await.1
    }

    /// Writes past the fence.
    pub(crate) async fn set(&self, value: u64) {
        self.0.lock().await.1 = value;
    }

    pub(crate) async fn restart(&self) {
        let mut inside = self.0.lock().await;
        let saved: Vec<_> = inside.0.iter().map(|(name, token)| (name.clone(), token)).collect();
        inside.0 = saved.into_iter().collect();
    }

    /// Forgets what is below the floor.
    pub(crate) async fn cleanup(&self) {
        let mut inside = self.0.lock().await;
        if let Some(greatest) = inside.0.greatest("resource") {
            inside.0.raise_floor(greatest);
        }
    }
}

/// A database with locks on rows, and transactions whose rollback takes the raise back as well.
#[derive(Default)]
pub(crate) struct Transactional {
    row: Mutex<()>,
    committed: Cell<(u64, u64)>,
}

struct Transaction<'s> {
    store: &'s Transactional,
    _row: MutexGuard<'s, ()>,
    own: (u64, u64),
}

impl Transactional {
    pub(crate) async fn write(&self, attempt: Attempt, updates: bool) -> Result<(), StoreError> {
        yield_now().await;
        let mut transaction = self.fence(attempt.token).await?;
        attempt.pass("raised").await?;
        let read = transaction.own.1;
        yield_now().await;
        transaction.own.1 = content(&attempt, read, updates);
        attempt.pass("before the commit").await?;
        transaction.commit().await;
        attempt.pass("committed").await
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

    pub(crate) async fn read(&self) -> u64 {
        yield_now().await;
        self.committed.lock().unwrap().1
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
pub(crate) struct Conditional(Cell<Object>);

#[derive(Default, Clone, Copy)]
struct Object {
    version: u64,
    token: u64,
    value: u64,
}

impl Conditional {
    pub(crate) async fn write(&self, attempt: Attempt, updates: bool) -> Result<(), StoreError> {
        let token = attempt.token.as_u64();
        let read = if updates { self.put(&attempt, |value| value).await? } else { 0 };
        attempt.pass("raised and read").await?;
        self.put(&attempt, |_| content(&attempt, read, updates)).await?;
        assert!(self.0.lock().unwrap().token >= token);
        attempt.pass("put").await
    }

    /// Puts the token, and what becomes of the value, which it returns.
    async fn put(&self, attempt: &Attempt, value: impl Fn(u64) -> u64) -> Result<u64, StoreError> {
        loop {
            let old = *self.0.lock().unwrap();
            if attempt.token.as_u64() < old.token {
                return Err(StoreError::Stale);
            }
            attempt.pass("before a conditional put").await?;
            let mut object = self.0.lock().unwrap();
            if object.version == old.version {
                let (version, token) = (old.version + 1, attempt.token.as_u64());
                *object = Object { version, token, value: value(old.value) };
                return Ok(object.value);
            }
        }
    }

    pub(crate) async fn read(&self) -> u64 {
        self.0.lock().unwrap().value
    }
}
