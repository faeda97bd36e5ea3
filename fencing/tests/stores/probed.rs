//! The probe on each store of the kit: whole with the fence, and broken without it.

use crate::sqlite::empty;
use crate::support::other::Redis;
use crate::support::postgresql::Postgresql;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use quorumlock_fencing::file::FencedFile;
use quorumlock_fencing::object_store::{get, put};
use quorumlock_fencing::probe::{Attempt, FenceProbe, StoreError};
use quorumlock_fencing::redis::FencedScript;
use quorumlock_fencing::sql::CREATE_TABLE;
use quorumlock_fencing::{FenceError, sqlx::fence, tokio_postgres};
use redis::{Client, RedisError};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::SqliteJournalMode;
use sqlx::{Executor, PgPool, SqlitePool};
use std::fs;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

const DATA: &str = "CREATE TABLE probed (name text PRIMARY KEY, content bigint NOT NULL)";
const NEW: &str = "INSERT INTO probed VALUES ($1, 0)";
const READ: &str = "SELECT content FROM probed WHERE name = $1";
const WRITE: &str = "UPDATE probed SET content = $2 WHERE name = $1";

/// Plays these seeds, and prints the report.
async fn assert_whole<S>(what: &str, probe: &FenceProbe<'_, S>, seeds: Range<u64>) {
    let report = probe.play(seeds).await.unwrap();
    assert!(report.cases.values().all(|plays| plays.error.is_none()), "{what}: {report}");
    eprintln!("{what}\n{report}\n");
}

async fn assert_broken<S>(what: &str, probe: &FenceProbe<'_, S>) {
    let error = probe.play(0..200).await.expect_err(what);
    assert!(error.rule.is_some(), "{what}: {error}");
}

fn stored(content: i64) -> u64 {
    content.try_into().unwrap()
}

fn content(attempt: &Attempt, read: u64, updates: bool) -> u64 {
    if updates { attempt.applied_to(read) } else { attempt.value }
}

macro_rules! by_sqlx {
    ($probe:ident, $transact:ident, $pool:ty) => {
        async fn $transact(
            pool: &$pool,
            name: &str,
            attempt: Attempt,
            (fenced, updates): (bool, bool),
        ) -> Result<(), StoreError> {
            let mut tx = pool.begin().await?;
            if fenced {
                fence(&mut tx, name, attempt.token).await?;
            }
            attempt.pass("fenced").await?;
            let read: i64 = sqlx::query_scalar(READ).bind(name).fetch_one(&mut *tx).await?;
            attempt.pass("read").await?;
            let next = content(&attempt, stored(read), updates) as i64;
            sqlx::query(WRITE).bind(name).bind(next).execute(&mut *tx).await?;
            attempt.pass("written").await?;
            tx.commit().await?;
            attempt.pass("committed").await
        }

        fn $probe(pool: &$pool, fenced: bool) -> FenceProbe<'_, String> {
            FenceProbe::new(
                async move |name: String| {
                    sqlx::query(NEW).bind(&name).execute(pool).await?;
                    Ok(name)
                },
                async move |name: &String| {
                    let read: i64 = sqlx::query_scalar(READ).bind(name).fetch_one(pool).await?;
                    Ok(stored(read))
                },
            )
            .write(async move |name, attempt| $transact(pool, name, attempt, (fenced, false)).await)
            .update(async move |name, attempt| $transact(pool, name, attempt, (fenced, true)).await)
        }
    };
}

by_sqlx!(on_postgres, write_postgres, PgPool);
by_sqlx!(on_sqlite, write_sqlite, SqlitePool);

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_by_sqlx() {
    for journal in [SqliteJournalMode::Delete, SqliteJournalMode::Wal] {
        let (_folder, address) = empty(journal).await;
        let pool = SqlitePool::connect(&address).await.unwrap();
        pool.execute(DATA).await.unwrap();
        let what = format!("SQLite, journal {journal:?}");
        assert_whole(&what, &on_sqlite(&pool, true), 0..100).await;
        assert_broken(&what, &on_sqlite(&pool, false)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_by_sqlx() {
    let Some(server) = Postgresql::start() else { return };
    // A write that the probe drops while it begins leaves a transaction open that sqlx does not know of.
    let options = PgPoolOptions::new().before_acquire(|connection, _| {
        Box::pin(async move { connection.execute("ROLLBACK").await.map(|_| true) })
    });
    let pool = options.connect(&server.url()).await.unwrap();
    pool.execute(CREATE_TABLE).await.unwrap();
    pool.execute(DATA).await.unwrap();
    let what = "PostgreSQL by sqlx";
    assert_whole(what, &on_postgres(&pool, true), 0..200).await;
    assert_broken(what, &on_postgres(&pool, false)).await;

    let server = Mutex::new(server);
    let probe = on_postgres(&pool, true).restart(async |_| {
        server.lock().unwrap().restart();
        Ok(())
    });
    assert_whole(what, &probe, 0..30).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_by_tokio_postgres() {
    let Some(server) = Postgresql::start() else { return };
    let address = server.url();
    let connect = async || -> Result<_, StoreError> {
        let (client, connection) =
            ::tokio_postgres::connect(&address, ::tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    };
    connect().await.unwrap().batch_execute(&format!("{CREATE_TABLE}; {DATA}")).await.unwrap();
    let transact = async |name: &String, attempt: Attempt, fenced: bool, updates: bool| {
        let mut client = connect().await?;
        let tx = client.transaction().await?;
        if fenced {
            tokio_postgres::fence(&tx, name, attempt.token).await?;
        }
        attempt.pass("fenced").await?;
        let read: i64 = tx.query_one(READ, &[name]).await?.get(0);
        attempt.pass("read").await?;
        let next = content(&attempt, stored(read), updates) as i64;
        tx.execute(WRITE, &[name, &next]).await?;
        attempt.pass("written").await?;
        tx.commit().await?;
        attempt.pass("committed").await
    };
    let server = Mutex::new(server);
    let probe = |fenced| {
        let (connect, transact) = (&connect, &transact);
        FenceProbe::new(
            async |name: String| {
                connect().await?.execute(NEW, &[&name]).await?;
                Ok(name)
            },
            async |name: &String| {
                Ok(stored(connect().await?.query_one(READ, &[name]).await?.get(0)))
            },
        )
        .write(async move |name, attempt| transact(name, attempt, fenced, false).await)
        .update(async move |name, attempt| transact(name, attempt, fenced, true).await)
    };
    let what = "PostgreSQL by tokio-postgres";
    assert_whole(what, &probe(true), 0..200).await;
    assert_broken(what, &probe(false)).await;
    let restarts = probe(true).restart(async |_| {
        server.lock().unwrap().restart();
        Ok(())
    });
    assert_whole(what, &restarts, 0..30).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_as_the_store() {
    let server = Redis::start();
    let client = Client::open(server.url()).unwrap();
    let server = Mutex::new(server);
    let call = async |lua: &str, name: &str, attempt: &Attempt, next: u64, fenced: bool| {
        let mut connection = client.get_multiplexed_async_connection().await?;
        let lua = format!("{lua} return tonumber(redis.call('GET', KEYS[1]) or '0')");
        let answer: Result<u64, RedisError> = if fenced {
            let script = FencedScript::new(&lua);
            let mut call = script.present(format!("{{{name}}}:fence"), attempt.token);
            call.key(name).arg(next).invoke_async(&mut connection).await
        } else {
            let script = redis::Script::new(&lua);
            script.key(name).arg(next).invoke_async(&mut connection).await
        };
        Ok::<u64, StoreError>(answer.map_err(FenceError::from)?)
    };
    let set = async |name: &String, attempt: Attempt, fenced: bool, updates: bool| {
        let read = if updates { call("", name, &attempt, 0, fenced).await? } else { 0 };
        attempt.pass("read").await?;
        let next = content(&attempt, read, updates);
        call("redis.call('SET', KEYS[1], ARGV[1])", name, &attempt, next, fenced).await?;
        attempt.pass("written").await
    };
    let probe = |fenced| {
        let (set, client, server) = (&set, &client, &server);
        FenceProbe::new(
            async |name: String| Ok(name),
            async |name: &String| {
                let mut connection = client.get_multiplexed_async_connection().await?;
                let read: Option<u64> =
                    redis::cmd("GET").arg(name).query_async(&mut connection).await?;
                Ok(read.unwrap_or_default())
            },
        )
        .write(async move |name, attempt| set(name, attempt, fenced, false).await)
        .update(async move |name, attempt| set(name, attempt, fenced, true).await)
        .restart(async |_| {
            server.lock().unwrap().restart();
            Ok(())
        })
    };
    assert_whole("Redis", &probe(true), 0..200).await;
    assert_broken("Redis", &probe(false)).await;
}

#[tokio::test]
async fn objects() {
    // Each call waits, so that a schedule can hold a write between the read and the put of the kit.
    let waits = ThrottleConfig {
        wait_get_per_call: Duration::from_millis(1),
        wait_put_per_call: Duration::from_millis(1),
        ..ThrottleConfig::default()
    };
    let store = ThrottledStore::new(InMemory::new(), waits);
    let write = async |path: &Path, attempt: Attempt, fenced: bool, updates: bool| {
        let text = match updates {
            true if fenced => get(&store, path, attempt.token).await?,
            _ => "".into(),
        };
        attempt.pass("read").await?;
        let next = content(&attempt, number(&text), updates).to_string();
        if fenced {
            put(&store, path, attempt.token, next.as_bytes()).await?;
        } else {
            store.put(path, next.into()).await?;
        }
        attempt.pass("written").await
    };
    let probe = |fenced| {
        let (store, write) = (&store, &write);
        FenceProbe::new(
            async |name: String| Ok(Path::from(name)),
            async move |path: &Path| match store.get(path).await {
                Ok(found) => Ok(last_line(&found.bytes().await?)),
                Err(object_store::Error::NotFound { .. }) => Ok(0),
                Err(error) => Err(error.into()),
            },
        )
        .write(async move |path, attempt| write(path, attempt, fenced, false).await)
        .update(async move |path, attempt| write(path, attempt, fenced, true).await)
    };
    assert_whole("objects in memory", &probe(true), 0..200).await;
    assert_broken("objects in memory", &probe(false)).await;
}

#[tokio::test]
async fn files() {
    let folder = tempfile::tempdir().unwrap();
    let write = async |name: &String, attempt: Attempt, fenced: bool, updates: bool| {
        let path = folder.path().join(name);
        let file = FencedFile::new(&path);
        let read = if updates && fenced { number(&file.read(attempt.token)?) } else { 0 };
        attempt.pass("read").await?;
        let next = content(&attempt, read, updates).to_string();
        if fenced {
            file.write(attempt.token, next.as_bytes())?;
        } else {
            fs::write(&path, next)?;
        }
        attempt.pass("written").await
    };
    let probe = |fenced| {
        let (folder, write) = (&folder, &write);
        FenceProbe::new(
            async |name: String| Ok(name),
            async move |name: &String| {
                Ok(fs::read(folder.path().join(name)).map_or(0, |content| last_line(&content)))
            },
        )
        .write(async move |name, attempt| write(name, attempt, fenced, false).await)
        .update(async move |name, attempt| write(name, attempt, fenced, true).await)
    };
    assert_whole("files", &probe(true), 0..200).await;
    assert_broken("files", &probe(false)).await;
}

/// Returns what is behind the line of the token, if there is one.
fn last_line(sealed: &[u8]) -> u64 {
    number(sealed.rsplit(|byte| *byte == b'\n').next().unwrap())
}

fn number(text: &[u8]) -> u64 {
    if text.is_empty() { 0 } else { std::str::from_utf8(text).unwrap().parse().unwrap() }
}
