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
use quorumlock_fencing::probe::{Attempt, Probed, StoreError, StoreResult, play};
use quorumlock_fencing::redis::FencedScript;
use quorumlock_fencing::sql::CREATE_TABLE;
use quorumlock_fencing::{FenceError, sqlx::fence, tokio_postgres};
use redis::{Client, RedisError};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::SqliteJournalMode;
use sqlx::{Executor, PgPool, SqlitePool};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

const DATA: &str = "CREATE TABLE probed (name text PRIMARY KEY, content bigint NOT NULL)";
const NEW: &str = "INSERT INTO probed VALUES ($1, 0)";
const READ: &str = "SELECT content FROM probed WHERE name = $1";
const WRITE: &str = "UPDATE probed SET content = $2 WHERE name = $1";

/// How the same store is played.
#[derive(Debug, Clone, Copy)]
struct Way {
    fenced: bool,
    updates: bool,
}

impl Way {
    fn content(self, attempt: &Attempt, read: u64) -> u64 {
        if self.updates { attempt.applied_to(read) } else { attempt.value }
    }
}

/// Plays these seeds, by writes and by updates, and prints the reports.
async fn assert_whole<S: Probed>(
    what: &str,
    open: impl AsyncFn(String, Way) -> StoreResult<S>,
    seeds: Range<u64>,
) {
    for updates in [false, true] {
        let way = Way { fenced: true, updates };
        let report = play(async |name| open(name, way).await, seeds.clone()).await.unwrap();
        assert!(report.cases.values().all(|plays| plays.error.is_none()), "{what}: {report}");
        eprintln!("{what}, {way:?}\n{report}\n");
    }
}

async fn assert_broken<S: Probed>(what: &str, open: impl AsyncFn(String, Way) -> StoreResult<S>) {
    for updates in [false, true] {
        let way = Way { fenced: false, updates };
        let error = play(async |name| open(name, way).await, 0..200).await.expect_err(what);
        assert!(error.rule.is_some(), "{what}: {error}");
    }
}

fn stored(content: i64) -> u64 {
    content.try_into().unwrap()
}

/// Restarts the server, if there is one to restart.
fn restart(server: Option<&Mutex<Postgresql>>) -> StoreResult {
    server.ok_or(StoreError::NotGiven)?.lock().unwrap().restart();
    Ok(())
}

macro_rules! by_sqlx {
    ($row:ident, $pool:ty) => {
        struct $row<'p> {
            pool: &'p $pool,
            name: String,
            way: Way,
            server: Option<&'p Mutex<Postgresql>>,
        }

        impl<'p> $row<'p> {
            async fn open(
                pool: &'p $pool,
                server: Option<&'p Mutex<Postgresql>>,
                name: String,
                way: Way,
            ) -> StoreResult<Self> {
                sqlx::query(NEW).bind(&name).execute(pool).await?;
                Ok(Self { pool, name, way, server })
            }
        }

        impl Probed for $row<'_> {
            fn updates(&self) -> bool {
                self.way.updates
            }

            async fn write(&self, attempt: Attempt) -> StoreResult {
                let mut tx = self.pool.begin().await?;
                if self.way.fenced {
                    fence(&mut tx, &self.name, attempt.token).await?;
                }
                attempt.pass("fenced").await?;
                let query = sqlx::query_scalar(READ).bind(&self.name);
                let read: i64 = query.fetch_one(&mut *tx).await?;
                attempt.pass("read").await?;
                let next = self.way.content(&attempt, stored(read)) as i64;
                sqlx::query(WRITE).bind(&self.name).bind(next).execute(&mut *tx).await?;
                attempt.pass("written").await?;
                tx.commit().await?;
                attempt.pass("committed").await
            }

            async fn read(&self) -> StoreResult<u64> {
                let query = sqlx::query_scalar(READ).bind(&self.name);
                Ok(stored(query.fetch_one(self.pool).await?))
            }

            async fn restart(&self) -> StoreResult {
                restart(self.server)
            }
        }
    };
}

by_sqlx!(PostgresRow, PgPool);
by_sqlx!(SqliteRow, SqlitePool);

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_by_sqlx() {
    for journal in [SqliteJournalMode::Delete, SqliteJournalMode::Wal] {
        let (_folder, address) = empty(journal).await;
        let pool = SqlitePool::connect(&address).await.unwrap();
        pool.execute(DATA).await.unwrap();
        let what = format!("SQLite, journal {journal:?}");
        let open = async |name, way| SqliteRow::open(&pool, None, name, way).await;
        assert_whole(&what, open, 0..60).await;
        assert_broken(&what, open).await;
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
    let server = Mutex::new(server);
    let open = async |name, way| PostgresRow::open(&pool, None, name, way).await;
    assert_whole(what, open, 0..105).await;
    assert_broken(what, open).await;
    let open = async |name, way| PostgresRow::open(&pool, Some(&server), name, way).await;
    assert_whole(what, open, 0..15).await;
}

struct ByTokioPostgres<'p> {
    address: &'p str,
    name: String,
    way: Way,
    server: Option<&'p Mutex<Postgresql>>,
}

async fn connect(address: &str) -> StoreResult<::tokio_postgres::Client> {
    let (client, connection) = ::tokio_postgres::connect(address, ::tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

impl Probed for ByTokioPostgres<'_> {
    fn updates(&self) -> bool {
        self.way.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let mut client = connect(self.address).await?;
        let tx = client.transaction().await?;
        if self.way.fenced {
            tokio_postgres::fence(&tx, &self.name, attempt.token).await?;
        }
        attempt.pass("fenced").await?;
        let read: i64 = tx.query_one(READ, &[&self.name]).await?.get(0);
        attempt.pass("read").await?;
        let next = self.way.content(&attempt, stored(read)) as i64;
        tx.execute(WRITE, &[&self.name, &next]).await?;
        attempt.pass("written").await?;
        tx.commit().await?;
        attempt.pass("committed").await
    }

    async fn read(&self) -> StoreResult<u64> {
        let client = connect(self.address).await?;
        Ok(stored(client.query_one(READ, &[&self.name]).await?.get(0)))
    }

    async fn restart(&self) -> StoreResult {
        restart(self.server)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_by_tokio_postgres() {
    let Some(server) = Postgresql::start() else { return };
    let address = server.url();
    let client = connect(&address).await.unwrap();
    client.batch_execute(&format!("{CREATE_TABLE}; {DATA}")).await.unwrap();
    let server = Mutex::new(server);
    let open = async |name, way, server| {
        connect(&address).await?.execute(NEW, &[&name]).await?;
        Ok(ByTokioPostgres { address: &address, name, way, server })
    };
    let what = "PostgreSQL by tokio-postgres";
    assert_whole(what, async |name, way| open(name, way, None).await, 0..105).await;
    assert_broken(what, async |name, way| open(name, way, None).await).await;
    assert_whole(what, async |name, way| open(name, way, Some(&server)).await, 0..15).await;
}

struct InRedis<'p> {
    client: &'p Client,
    name: String,
    way: Way,
    server: &'p Mutex<Redis>,
}

impl InRedis<'_> {
    async fn call(&self, lua: &str, attempt: &Attempt, next: u64) -> StoreResult<u64> {
        let (name, mut connection) =
            (&self.name, self.client.get_multiplexed_async_connection().await?);
        let lua = format!("{lua} return tonumber(redis.call('GET', KEYS[1]) or '0')");
        let answer: Result<u64, RedisError> = if self.way.fenced {
            let script = FencedScript::new(&lua);
            let mut call = script.present(format!("{{{name}}}:fence"), attempt.token);
            call.key(name).arg(next).invoke_async(&mut connection).await
        } else {
            let script = redis::Script::new(&lua);
            script.key(name).arg(next).invoke_async(&mut connection).await
        };
        Ok(answer.map_err(FenceError::from)?)
    }
}

impl Probed for InRedis<'_> {
    fn updates(&self) -> bool {
        self.way.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let read = if self.way.updates { self.call("", &attempt, 0).await? } else { 0 };
        attempt.pass("read").await?;
        let next = self.way.content(&attempt, read);
        self.call("redis.call('SET', KEYS[1], ARGV[1])", &attempt, next).await?;
        attempt.pass("written").await
    }

    async fn read(&self) -> StoreResult<u64> {
        let mut connection = self.client.get_multiplexed_async_connection().await?;
        let read: Option<u64> =
            redis::cmd("GET").arg(&self.name).query_async(&mut connection).await?;
        Ok(read.unwrap_or_default())
    }

    async fn restart(&self) -> StoreResult {
        self.server.lock().unwrap().restart();
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_as_the_store() {
    let server = Redis::start();
    let client = &Client::open(server.url()).unwrap();
    let server = &Mutex::new(server);
    let open = async |name, way| Ok(InRedis { client, name, way, server });
    assert_whole("Redis", open, 0..105).await;
    assert_broken("Redis", open).await;
}

struct Object<'p> {
    store: &'p ThrottledStore<InMemory>,
    path: Path,
    way: Way,
}

impl Probed for Object<'_> {
    fn updates(&self) -> bool {
        self.way.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let (store, path, way) = (self.store, &self.path, self.way);
        let text = match way {
            Way { updates: true, fenced: true } => get(store, path, attempt.token).await?,
            _ => "".into(),
        };
        attempt.pass("read").await?;
        let next = way.content(&attempt, number(&text)).to_string();
        if way.fenced {
            put(store, path, attempt.token, next.as_bytes()).await?;
        } else {
            store.put(path, next.into()).await?;
        }
        attempt.pass("written").await
    }

    async fn read(&self) -> StoreResult<u64> {
        match self.store.get(&self.path).await {
            Ok(found) => Ok(last_line(&found.bytes().await?)),
            Err(object_store::Error::NotFound { .. }) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

#[tokio::test]
async fn objects() {
    // Each call waits, so that a schedule can hold a write between the read and the put of the kit.
    let waits = ThrottleConfig {
        wait_get_per_call: Duration::from_millis(1),
        wait_put_per_call: Duration::from_millis(1),
        ..ThrottleConfig::default()
    };
    let store = &ThrottledStore::new(InMemory::new(), waits);
    let open = async |name, way| Ok(Object { store, path: Path::from(name), way });
    assert_whole("objects in memory", open, 0..105).await;
    assert_broken("objects in memory", open).await;
}

struct OneFile {
    path: PathBuf,
    way: Way,
}

impl Probed for OneFile {
    fn updates(&self) -> bool {
        self.way.updates
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        let Self { path, way } = self;
        let file = FencedFile::new(path);
        let read = if way.updates && way.fenced { number(&file.read(attempt.token)?) } else { 0 };
        attempt.pass("read").await?;
        let next = way.content(&attempt, read).to_string();
        if way.fenced {
            file.write(attempt.token, next.as_bytes())?;
        } else {
            fs::write(path, next)?;
        }
        attempt.pass("written").await
    }

    async fn read(&self) -> StoreResult<u64> {
        Ok(fs::read(&self.path).map_or(0, |content| last_line(&content)))
    }
}

#[tokio::test]
async fn files() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |name: String, way| Ok(OneFile { path: folder.path().join(name), way });
    assert_whole("files", open, 0..105).await;
    assert_broken("files", open).await;
}

/// Returns what is behind the line of the token, if there is one.
fn last_line(sealed: &[u8]) -> u64 {
    number(sealed.rsplit(|byte| *byte == b'\n').next().unwrap())
}

fn number(text: &[u8]) -> u64 {
    if text.is_empty() { 0 } else { std::str::from_utf8(text).unwrap().parse().unwrap() }
}
