//! The table of the greatest tokens, in PostgreSQL and SQLite.

use crate::{FenceError, FencingToken, StaleToken};

/// The migration: a table `fence` with a row for each lock, in the database of the data. Its rows
/// stay: a row that is deleted is a fence that is forgotten.
pub const CREATE_TABLE: &str = "\
CREATE TABLE fence (
    resource text PRIMARY KEY,
    token bigint NOT NULL CHECK (token > 0)
);";

/// Locks the row until the end of the transaction, and returns it unless the token is stale. Even an
/// equal token writes the row: a transaction at `REPEATABLE READ` fails when the row has changed.
pub(crate) const RAISE: &str = "\
INSERT INTO fence (resource, token) VALUES ($1, $2)
    ON CONFLICT (resource) DO UPDATE SET token = excluded.token
    WHERE fence.token <= excluded.token
    RETURNING token";

/// Run after `RAISE`, so the row is there, is locked, and is the newest.
pub(crate) const GREATEST: &str = "SELECT token FROM fence WHERE resource = $1";

/// Returns the error for a token that `RAISE` has not written.
pub(crate) fn refusal<E>(presented: FencingToken, greatest: i64) -> FenceError<E> {
    match FencingToken::try_from(greatest) {
        Ok(greatest) => StaleToken { presented, greatest }.into(),
        Err(invalid) => invalid.into(),
    }
}
