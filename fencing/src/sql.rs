//! The table of the greatest tokens, in PostgreSQL and SQLite.

use crate::{FenceError, FencingToken, StaleToken};

/// The migration: a table `fence` with a row for each lock, in the database of the data. Its rows
/// stay: a row that is deleted is a fence that is forgotten.
pub const CREATE_TABLE: &str = "\
CREATE TABLE fence (
    resource text PRIMARY KEY,
    token bigint NOT NULL CHECK (token > 0)
);";

/// Locks the row until the end of the transaction, and returns the greatest token. Even an equal or
/// smaller one writes the row: a transaction at `REPEATABLE READ` fails when the row has changed.
pub(crate) const RAISE: &str = "\
INSERT INTO fence (resource, token) VALUES ($1, $2)
    ON CONFLICT (resource) DO UPDATE SET token =
        CASE WHEN fence.token < excluded.token THEN excluded.token ELSE fence.token END
    RETURNING token";

/// Compares with what `RAISE` has returned.
pub(crate) fn admit<E>(presented: FencingToken, greatest: i64) -> Result<(), FenceError<E>> {
    Ok(StaleToken::check(presented, greatest.try_into()?)?)
}
