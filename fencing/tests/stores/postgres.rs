//! PostgreSQL, by sqlx and by tokio-postgres.

use crate::support::postgresql::Postgresql;
use crate::support::sql::{LOCK, READ, SqlxPostgres, TokioPostgres};
use crate::support::{Store, token};
use crate::{cases, storm, waiting};
use quorumlock_fencing::{FenceError, sql::CREATE_TABLE, sqlx::fence};

async fn empty(server: &Postgresql) -> SqlxPostgres {
    let store = SqlxPostgres::open(&server.url()).await;
    sqlx::raw_sql("DROP TABLE IF EXISTS fence, data").execute(&store.0).await.unwrap();
    store.create().await;
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn it_refuses_what_is_stale_by_either_crate_and_after_a_restart() {
    let Some(mut server) = Postgresql::start() else { return };
    cases::play(&empty(&server).await).await;
    server.restart();
    cases::still_fenced(&SqlxPostgres::open(&server.url()).await).await;
    cases::still_fenced(&TokioPostgres::open(&server.url()).await).await;

    empty(&server).await;
    cases::play(&TokioPostgres::open(&server.url()).await).await;
    server.restart();
    cases::still_fenced(&TokioPostgres::open(&server.url()).await).await;

    empty(&server).await;
    let (mut some, mut others) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        some.push(SqlxPostgres::open(&server.url()).await);
        others.push(TokioPostgres::open(&server.url()).await);
    }
    cases::at_once(some).await;
    empty(&server).await;
    cases::at_once(others).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_transactions_wait_for_each_other_and_a_rollback_takes_the_raise_back() {
    let Some(server) = Postgresql::start() else { return };
    let store = empty(&server).await;
    waiting::postgres(&store.0).await;

    // Above the default level, the database asks to repeat the transaction.
    let mut early = store.0.begin().await.unwrap();
    let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
    sqlx::query(level).execute(&mut *early).await.unwrap();
    let _snapshot: String = sqlx::query_scalar(READ).fetch_one(&mut *early).await.unwrap();
    store.write(Some(token(2000)), "of an equal token").await.unwrap();
    let error = fence(&mut early, LOCK, token(2000)).await.unwrap_err();
    assert!(matches!(error, FenceError::Store(_)), "{error}");
    assert!(error.to_string().contains("could not serialize access"), "{error}");
    drop(early);
    store.write(Some(token(2000)), "again").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_paused_holders_loses_nothing_with_the_kit() {
    let Some(server) = Postgresql::start() else { return };
    empty(&server).await;
    storm::both::<SqlxPostgres>(&server.url()).await;
    empty(&server).await;
    storm::both::<TokioPostgres>(&server.url()).await;
}

#[test]
fn the_table_is_the_one_of_the_documents() {
    for document in [include_str!("../../README.md"), include_str!("../../../docs/fencing.md")] {
        assert!(document.contains(CREATE_TABLE), "{CREATE_TABLE}");
    }
}
