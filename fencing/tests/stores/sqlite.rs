//! SQLite, by sqlx.

use crate::support::sql::{LOCK, READ, SqlxSqlite};
use crate::support::{Store, token};
use crate::{cases, storm, waiting};
use quorumlock_fencing::sqlx::fence;
use quorumlock_fencing::{FenceError, sql::CREATE_TABLE};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use std::time::Duration;
use tempfile::TempDir;

/// A new file with both tables, and its address. Both journals lock in ways of their own.
pub(crate) async fn empty(journal: SqliteJournalMode) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.sqlite");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let pool = SqlitePoolOptions::new().connect_with(options.journal_mode(journal)).await.unwrap();
    SqlxSqlite(pool.clone()).create().await;
    pool.close().await;
    (folder, format!("sqlite://{}", path.display()))
}

const JOURNALS: [SqliteJournalMode; 2] = [SqliteJournalMode::Delete, SqliteJournalMode::Wal];

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale_and_after_a_restart() {
    for journal in JOURNALS {
        let (_folder, address) = empty(journal).await;
        let store = SqlxSqlite::open(&address).await;
        cases::play(&store).await;
        store.0.close().await;
        cases::still_fenced(&SqlxSqlite::open(&address).await).await;

        let (_folder, address) = empty(journal).await;
        let mut stores = Vec::new();
        for _ in 0..5 {
            stores.push(SqlxSqlite::open(&address).await);
        }
        cases::at_once(stores).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_transactions_wait_for_each_other_and_a_rollback_takes_the_raise_back() {
    for journal in JOURNALS {
        let (_folder, address) = empty(journal).await;
        waiting::sqlite(&SqlxSqlite::open(&address).await.0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_database_has_compared_nothing_and_may_be_tried_again() {
    for journal in JOURNALS {
        let (_folder, address) = empty(journal).await;
        let options: SqliteConnectOptions = address.parse().unwrap();
        let options = options.busy_timeout(Duration::from_millis(50));
        let pool = SqlitePoolOptions::new().connect_with(options).await.unwrap();

        let mut holder = pool.begin().await.unwrap();
        fence(&mut holder, LOCK, token(7)).await.unwrap();
        let mut other = pool.begin().await.unwrap();
        let busy = fence(&mut other, LOCK, token(9)).await.unwrap_err();
        assert!(matches!(busy, FenceError::Store(_)), "{busy}");
        assert!(busy.to_string().contains("database is locked"), "{busy}");
        drop(other);
        holder.commit().await.unwrap();

        // A transaction that has read before the fence is refused as well, and not admitted to what
        // it has read.
        let mut reader = pool.begin().await.unwrap();
        let _read: String = sqlx::query_scalar(READ).fetch_one(&mut *reader).await.unwrap();
        if matches!(journal, SqliteJournalMode::Wal) {
            SqlxSqlite(pool.clone()).write(Some(token(8)), "since then").await.unwrap();
            let busy = fence(&mut reader, LOCK, token(9)).await.unwrap_err();
            assert!(busy.to_string().contains("database is locked"), "{busy}");
        }
        drop(reader);
        SqlxSqlite(pool.clone()).write(Some(token(9)), "again").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_paused_holders_loses_nothing_with_the_kit() {
    for journal in JOURNALS {
        let (_folder, address) = empty(journal).await;
        storm::both::<SqlxSqlite>(&address).await;
    }
}

#[tokio::test]
async fn the_migration_refuses_what_is_no_token() {
    let pool = sqlx::SqlitePool::connect("sqlite::memory:").await.unwrap();
    sqlx::query(CREATE_TABLE).execute(&pool).await.unwrap();
    let forge = sqlx::query("INSERT INTO fence VALUES ('a', 0)").execute(&pool).await;
    assert!(forge.unwrap_err().to_string().contains("CHECK"));
}
