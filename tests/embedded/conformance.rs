//! The conformance suite against embedded masters, on ports, which needs a real clock, and in memory.

use crate::support::conformance::{Backend, Cluster};
use crate::support::prelude::*;
use quorumlock::RedlockBuilder;
use quorumlock::embedded::{Masters, Memory};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, IntoConnectionInfo, RedisConnectionInfo, Value};

/// Masters reached over TCP, like a server.
struct OnPorts(Masters);

/// Masters without a port, in virtual time.
struct InMemory(Masters);

impl Backend for OnPorts {
    type Cluster = Self;

    async fn masters(n: usize) -> Self {
        Self(Masters::start(n).unwrap())
    }
}

impl Backend for InMemory {
    type Cluster = Self;
    const IS_VIRTUAL: bool = true;

    async fn masters(n: usize) -> Self {
        let masters = Masters::start_in_virtual_time(n).unwrap();
        masters.iter().for_each(|master| master.set_latency(MS));
        Self(masters)
    }
}

fn login(database: i64) -> RedisConnectionInfo {
    RedisConnectionInfo::default().set_db(database)
}

impl Cluster for OnPorts {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn builder_in(&self, database: i64) -> RedlockBuilder {
        let urls = self.0.urls();
        builder().nodes(urls.iter().map(|url| format!("{url}/{database}")))
    }

    async fn ask(&self, node: usize, command: &Cmd) -> Value {
        let client = Client::open(self.0[node].url()).unwrap();
        let connection = witness::connect(&client).await.unwrap();
        answer(connection, command).await
    }

    async fn kill(&self, node: usize) {
        self.0[node].kill();
    }

    async fn restart(&self, node: usize) {
        self.0[node].restart(Memory::Lost).unwrap();
    }
}

impl Cluster for InMemory {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn builder_in(&self, database: i64) -> RedlockBuilder {
        self.0.iter().fold(crate::masters::builder(), |builder, master| {
            let name = master.url().into_connection_info().unwrap();
            builder.node_with_connector(name.set_redis_settings(login(database)), master.dialer())
        })
    }

    async fn ask(&self, node: usize, command: &Cmd) -> Value {
        let stream = self.0[node].dialer()().await.unwrap();
        let (login, config) = (login(0), AsyncConnectionConfig::default());
        let connecting = MultiplexedConnection::new_with_config(&login, stream, config);
        let (connection, driver) = connecting.await.unwrap();
        let driver = tokio::spawn(driver);
        let answer = answer(connection, command).await;
        driver.abort();
        answer
    }

    async fn kill(&self, node: usize) {
        self.0[node].kill();
    }

    async fn restart(&self, node: usize) {
        self.0[node].restart(Memory::Lost).unwrap();
    }
}

async fn answer(mut connection: MultiplexedConnection, command: &Cmd) -> Value {
    connection.send_packed_command(command).await.unwrap()
}

mod on_ports {
    crate::support::conformance::conformance!(crate::conformance::OnPorts);
}

mod in_memory {
    crate::support::conformance::each_claim!(in_virtual_time crate::conformance::InMemory);
}
