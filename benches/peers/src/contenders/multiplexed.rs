//! The code that most people would write: the `redis` crate's multiplexed connections, one for each
//! master, and a fan-out that awaits every reply.

use super::{Contender, RELEASE, TTL_MS, token, two_workers};
use crate::cell::Cell;
use crate::workloads::{Locker, Measured, Workload, alone, crowd};
use futures::future::join_all;
use redis::aio::MultiplexedConnection;
use redis::{Client, Script, Value};
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct Multiplexed;

impl Contender for Multiplexed {
    fn name(&self) -> &'static str {
        "multiplexed fan-out"
    }

    fn run(&self, cell: &Cell) -> Measured {
        two_workers().block_on(async {
            let fan_out = FanOut::connect(&cell.masters).await;
            match cell.workload {
                Workload::Alone | Workload::Fenced | Workload::Kept => {
                    alone::run(fan_out, cell).await
                }
                Workload::Crowd | Workload::Warm => crowd::run(|_| fan_out.clone(), cell).await,
            }
        })
    }
}

#[derive(Clone)]
struct FanOut {
    connections: Vec<MultiplexedConnection>,
    release: Arc<Script>,
}

impl FanOut {
    async fn connect(masters: &[SocketAddr]) -> Self {
        let dial = async |address: &SocketAddr| {
            let client = Client::open(format!("redis://{address}?protocol=resp3")).expect("a URL");
            client.get_multiplexed_async_connection().await.expect("a connection")
        };
        let connections = join_all(masters.iter().map(dial)).await;
        Self { connections, release: Arc::new(Script::new(RELEASE)) }
    }
}

struct Held {
    resource: Arc<str>,
    token: String,
}

impl Locker for FanOut {
    type Held = Held;

    async fn acquire(&mut self, resource: &Arc<str>) -> Held {
        let token = token();
        let mut set = redis::cmd("SET");
        set.arg(&**resource).arg(&token).arg("NX").arg("PX").arg(TTL_MS);
        let answers = self.connections.iter_mut().map(|master| set.query_async::<Value>(master));
        let answers = join_all(answers).await;
        let granted = answers.iter().filter(|answer| matches!(answer, Ok(Value::Okay))).count();
        assert!(granted > self.connections.len() / 2, "no quorum: {answers:?}");
        Held { resource: resource.clone(), token }
    }

    async fn release(&mut self, held: Held) {
        let Held { resource, token } = held;
        let mut script = self.release.key(&*resource);
        script.arg(token);
        let answers = self.connections.iter_mut().map(|master| script.invoke_async::<u64>(master));
        let answers = join_all(answers).await;
        let deleted = answers.iter().filter(|answer| matches!(answer, Ok(1))).count();
        assert!(deleted > self.connections.len() / 2, "no quorum: {answers:?}");
    }
}
