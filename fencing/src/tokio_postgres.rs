//! A fence in a transaction of tokio-postgres.
//!
//! ```no_run
//! use quorumlock_fencing::{FenceError, FencingToken, tokio_postgres::fence};
//! use tokio_postgres::{Client, Error};
//!
//! async fn pay(client: &mut Client, token: FencingToken) -> Result<(), FenceError<Error>> {
//!     let tx = client.transaction().await?;
//!     fence(&tx, "account:42", token).await?;
//!     tx.execute("UPDATE account SET balance = balance - 50 WHERE id = 42", &[]).await?;
//!     Ok(tx.commit().await?)
//! }
//! ```

use crate::sql::{RAISE, admit};
use crate::{FenceError, FencingToken};
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Transaction};

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
/// `READ COMMITTED`, the default, is enough. Each later statement has a snapshot that is younger
/// than the lock on the row, so it sees all that earlier holders have committed. Above it, the
/// database may ask to repeat the transaction, by a serialization error.
///
/// A holder that is paused inside its transaction makes the others wait, until PostgreSQL ends that
/// transaction after `idle_in_transaction_session_timeout`.
///
/// # Errors
///
/// [`FenceError::Stale`] if a later holder has been here: roll the transaction back at once, or drop
/// it, since a refused one locks the row, too, until it ends.
/// [`FenceError::Damaged`] if the row has no token. [`FenceError::Store`] if the database fails.
///
/// # Cancel safety
///
/// If the future is dropped, drop the transaction as well.
pub async fn fence(
    tx: &Transaction<'_>,
    name: &str,
    token: FencingToken,
) -> Result<(), FenceError<Error>> {
    let raise = [(&name as _, Type::TEXT), (&token.as_i64() as _, Type::INT8)];
    // Without a prepared statement, so that a pooler between them is no trouble.
    admit(token, tx.query_typed_one(RAISE, &raise).await?.try_get(0)?)
}

from_store_error!(Error);
