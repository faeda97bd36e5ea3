//! PostgreSQL and SQLite by sqlx, and PostgreSQL by tokio-postgres.

use super::{Outcome, Store, in_words};
use quorumlock_fencing::{FencingToken, sql::CREATE_TABLE, sqlx::fence, tokio_postgres};
use sqlx::{Executor, PgPool, SqlitePool};
use tokio::sync::Mutex;

/// A table with the only row that all the cases use, next to the table of the migration.
const DATA: &str = "CREATE TABLE data (id bigint PRIMARY KEY, content text NOT NULL);
    INSERT INTO data VALUES (1, '');";
pub(crate) const READ: &str = "SELECT content FROM data WHERE id = 1";
pub(crate) const WRITE: &str = "UPDATE data SET content = $1 WHERE id = 1";
pub(crate) const LOCK: &str = "data:1";

pub(crate) struct SqlxPostgres(pub(crate) PgPool);

pub(crate) struct SqlxSqlite(pub(crate) SqlitePool);

pub(crate) struct TokioPostgres(Mutex<::tokio_postgres::Client>);

macro_rules! by_sqlx {
    ($store:ident, $pool:ident, $kind:literal) => {
        impl $store {
            pub(crate) async fn create(&self) {
                self.0.execute(CREATE_TABLE).await.unwrap();
                self.0.execute(DATA).await.unwrap();
            }

            async fn transact(
                &self,
                token: Option<FencingToken>,
                content: Option<&str>,
            ) -> Result<String, quorumlock_fencing::FenceError<sqlx::Error>> {
                let mut tx = self.0.begin().await?;
                if let Some(token) = token {
                    fence(&mut tx, LOCK, token).await?;
                }
                if let Some(content) = content {
                    sqlx::query(WRITE).bind(content).execute(&mut *tx).await?;
                }
                let content = sqlx::query_scalar(READ).fetch_one(&mut *tx).await?;
                tx.commit().await?;
                Ok(content)
            }
        }

        impl Store for $store {
            const KIND: &'static str = $kind;

            async fn open(address: &str) -> Self {
                Self($pool::connect(address).await.unwrap())
            }

            async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
                self.transact(token, None).await.map_err(in_words)
            }

            async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
                self.transact(token, Some(content)).await.map(drop).map_err(in_words)
            }
        }
    };
}

by_sqlx!(SqlxPostgres, PgPool, "sqlx-postgres");
by_sqlx!(SqlxSqlite, SqlitePool, "sqlx-sqlite");

impl TokioPostgres {
    async fn transact(
        &self,
        token: Option<FencingToken>,
        content: Option<&str>,
    ) -> Result<String, quorumlock_fencing::FenceError<::tokio_postgres::Error>> {
        let mut client = self.0.lock().await;
        let tx = client.transaction().await?;
        if let Some(token) = token {
            tokio_postgres::fence(&tx, LOCK, token).await?;
        }
        if let Some(content) = content {
            tx.execute(WRITE, &[&content]).await?;
        }
        let content = tx.query_one(READ, &[]).await?.get(0);
        tx.commit().await?;
        Ok(content)
    }
}

impl Store for TokioPostgres {
    const KIND: &'static str = "tokio-postgres";

    async fn open(address: &str) -> Self {
        let (client, connection) =
            ::tokio_postgres::connect(address, ::tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        Self(Mutex::new(client))
    }

    async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
        self.transact(token, None).await.map_err(in_words)
    }

    async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
        self.transact(token, Some(content)).await.map(drop).map_err(in_words)
    }
}
