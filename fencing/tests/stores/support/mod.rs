//! The stores, as all the cases see them, and the servers.

pub(crate) mod objects;
pub(crate) mod other;
#[path = "../../../../tests/support/postgresql.rs"]
pub(crate) mod postgresql;
pub(crate) mod sql;

use quorumlock_fencing::{FenceError, FencingToken};
use std::fmt::Display;

/// A content under one fence. Without a token, it reads and writes as if there were no kit.
pub(crate) trait Store: Sized + Send + Sync + 'static {
    /// Its name in a worker's environment.
    const KIND: &'static str;
    fn open(address: &str) -> impl Future<Output = Self> + Send;
    fn read(&self, token: Option<FencingToken>) -> impl Future<Output = Outcome<String>> + Send;
    fn write(
        &self,
        token: Option<FencingToken>,
        content: &str,
    ) -> impl Future<Output = Outcome<()>> + Send;
}

/// The error of whatever store, as text.
pub(crate) type Outcome<T> = Result<T, FenceError<String>>;

pub(crate) fn in_words<E: Display>(error: FenceError<E>) -> FenceError<String> {
    match error {
        FenceError::Stale(stale) => FenceError::Stale(stale),
        FenceError::Damaged(invalid) => FenceError::Damaged(invalid),
        error => FenceError::Store(error.to_string()),
    }
}

pub(crate) fn token(number: u64) -> FencingToken {
    FencingToken::try_from(number).unwrap()
}
