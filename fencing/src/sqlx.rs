//! A fence in a transaction of sqlx, on PostgreSQL or SQLite.
//!
//! ```no_run
//! use quorumlock_fencing::{FenceError, FencingToken, sqlx::fence};
//! use sqlx::PgPool;
//!
//! async fn pay(pool: &PgPool, token: FencingToken) -> Result<(), FenceError<sqlx::Error>> {
//!     let mut tx = pool.begin().await?;
//!     fence(&mut tx, "account:42", token).await?;
//!     sqlx::query("UPDATE account SET balance = balance - 50 WHERE id = 42").execute(&mut *tx).await?;
//!     Ok(tx.commit().await?)
//! }
//! ```

use crate::sql::{RAISE, admit};
use crate::{FenceError, FencingToken};
use sqlx::{
    ColumnIndex, Database, Decode, Encode, Error, Executor, IntoArguments, Transaction, Type,
};

/// Admits the rest of the transaction to what the lock `name` guards, if no greater token has been
/// presented. Call it first in the transaction, and not in a savepoint, whose rollback would admit others.
/// An equal token is admitted, so one holder has many transactions. The table is
/// [`sql::CREATE_TABLE`](crate::sql::CREATE_TABLE).
///
/// It raises the greatest token and locks its row until the transaction ends, so another holder's
/// call waits until then. What the transaction reads from here on, no earlier holder can change any
/// more. A rollback takes the raise back together with the writes: what a transaction has read
/// that was rolled back is worth nothing. To read now and to write in a later transaction, commit
/// this one and fence that one, too, with the same token.
///
/// # Isolation
///
/// PostgreSQL: `READ COMMITTED`, the default, is enough. Each later statement has a snapshot that is
/// younger than the lock on the row, so it sees all that earlier holders have committed. Above it,
/// the database may ask to repeat the transaction, by a serialization error. In a transaction of
/// several locks, fence them in the same order everywhere, or the database ends a deadlock by an
/// error.
///
/// SQLite (3.35 or later): the call is a write, so it takes the only write lock of the database,
/// even after a plain `BEGIN`, and even if the token is stale. If another process has it for longer
/// than the `busy_timeout` (5 s in sqlx), the error is `SQLITE_BUSY`: nothing was compared, and the
/// whole transaction may be repeated. A transaction that has read before may get that error at
/// once.
///
/// A holder that is paused inside its transaction makes the others wait, in either database:
/// PostgreSQL ends the transaction after `idle_in_transaction_session_timeout`.
///
/// # Errors
///
/// [`FenceError::Stale`] if a later holder has been here: roll the transaction back at once, since a
/// refused one locks the row, too, until it ends (a dropped one when its connection is next used).
/// [`FenceError::Damaged`] if the row has no token. [`FenceError::Store`] if the database fails; no
/// other database than these two has this statement.
///
/// # Cancel safety
///
/// If the future is dropped, drop the transaction as well.
pub async fn fence<DB: Database>(
    tx: &mut Transaction<'_, DB>,
    name: &str,
    token: FencingToken,
) -> Result<(), FenceError<Error>>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> DB::Arguments<'q>: IntoArguments<'q, DB>,
    for<'q> &'q str: Encode<'q, DB> + Type<DB>,
    for<'q> i64: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
    usize: ColumnIndex<DB::Row>,
{
    let raise = sqlx::query_scalar(RAISE).bind(name).bind(token.as_i64());
    // To the last row: SQLite must run the statement to its end.
    let rows: Vec<i64> = raise.fetch_all(&mut **tx).await?;
    rows.into_iter().try_for_each(|greatest| admit(token, greatest))
}

from_store_error!(Error);
