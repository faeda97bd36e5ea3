//! Two transactions of sqlx at a time, in each order in which they can begin, fence and end.

use crate::support::sql::{LOCK, READ, WRITE};
use crate::support::token;
use quorumlock_fencing::{FenceError, StaleToken, sqlx::fence};
use std::time::Duration;
use tokio::time::sleep;

/// How long a second writer is watched to see that it waits.
pub(crate) const WATCHED: Duration = Duration::from_millis(200);

macro_rules! two_transactions {
    ($name:ident, $pool:ty) => {
        /// Plays on an empty store.
        pub(crate) async fn $name(pool: &$pool) {
            // The row exists already, or the first of the two has just inserted it.
            let mut base = 0;
            for (late, first_commits) in
                [(7, true), (9, true), (11, true), (7, false), (9, false), (11, false)]
            {
                sqlx::query("DELETE FROM fence WHERE resource = 'forgotten'")
                    .execute(pool)
                    .await
                    .unwrap();
                for name in [LOCK, "forgotten"] {
                    let mut first = pool.begin().await.unwrap();
                    fence(&mut first, name, token(base + 9)).await.unwrap();
                    sqlx::query(WRITE).bind("first").execute(&mut *first).await.unwrap();
                    let other = pool.clone();
                    let second = tokio::spawn(async move {
                        let mut tx = other.begin().await?;
                        fence(&mut tx, name, token(base + late)).await?;
                        let seen: String = sqlx::query_scalar(READ).fetch_one(&mut *tx).await?;
                        sqlx::query(WRITE).bind("second").execute(&mut *tx).await?;
                        tx.commit().await?;
                        Ok::<String, FenceError<sqlx::Error>>(seen)
                    });
                    sleep(WATCHED).await;
                    assert!(!second.is_finished(), "the second waits for the first");
                    if first_commits { first.commit().await } else { first.rollback().await }
                        .unwrap();
                    let outcome = second.await.unwrap();
                    if first_commits && late < 9 {
                        let (presented, greatest) = (token(base + late), token(base + 9));
                        let expected = StaleToken { presented, greatest };
                        let error = outcome.unwrap_err();
                        assert!(matches!(error, FenceError::Stale(stale) if stale == expected), "{error}");
                    } else {
                        // A raise that was rolled back is gone, with the writes of its transaction.
                        assert_eq!(outcome.unwrap() == "first", first_commits, "{late}");
                    }
                    sqlx::query(WRITE).bind("").execute(pool).await.unwrap();
                }
                base += 20;
            }

            // A transaction that has begun before the later holder's, and is committed after it.
            let mut early = pool.begin().await.unwrap();
            let mut late = pool.begin().await.unwrap();
            fence(&mut late, LOCK, token(1001)).await.unwrap();
            late.commit().await.unwrap();
            let stale = fence(&mut early, LOCK, token(1000)).await.unwrap_err();
            assert!(matches!(stale, FenceError::Stale(_)), "{stale}");
            drop(early);

            // Another lock has a token of its own.
            let mut other = pool.begin().await.unwrap();
            fence(&mut other, "another", token(1)).await.unwrap();
            other.commit().await.unwrap();

            // What no holder can have written.
            let wide: i64 = 1 << 53;
            let forge = sqlx::query("UPDATE fence SET token = $1 WHERE resource = 'another'");
            forge.bind(wide).execute(pool).await.unwrap();
            let mut tx = pool.begin().await.unwrap();
            let damaged = fence(&mut tx, "another", token(2)).await.unwrap_err();
            assert!(matches!(damaged, FenceError::Damaged(_)), "{damaged}");
            assert!(damaged.to_string().contains("9007199254740992"), "{damaged}");
        }
    };
}

two_transactions!(postgres, sqlx::PgPool);
two_transactions!(sqlite, sqlx::SqlitePool);
