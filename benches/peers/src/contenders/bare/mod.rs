//! The floor: one task, five sockets, commands encoded once and replies parsed by hand. No limits,
//! no timeouts, no second chance: what is physically possible, and nothing to lock with.

mod alone;
mod crowd;
mod passed;
mod shared;
mod socket;
mod wire;

use super::client::Peer;
use super::{Contender, FLOOR, many_threads, one_thread};
use crate::workloads::alone::RESOURCE;
use crate::workloads::{self, Measured, Workload};
use redis::Client;
use socket::Socket;
use std::net::SocketAddr;
use std::time::Duration;
use wire::Commands;

pub(super) struct Bare {
    name: &'static str,
    fenced: bool,
}

pub(super) const PLAIN: Bare = Bare { name: FLOOR, fenced: false };

/// The crate's own scripts instead of `SET` and compare-and-delete.
pub(super) const FENCED: Bare = Bare { name: "bare sockets, fenced", fenced: true };

/// Where tasks of one process wait for each other.
pub(super) const PASSED: Peer<passed::Passed> = Peer::new(FLOOR);

impl Contender for Bare {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(
        &self,
        workload: Workload,
        masters: &[SocketAddr],
        warm_up: Duration,
        span: Duration,
    ) -> Measured {
        one_thread().block_on(async {
            let sockets = Socket::connect(masters).await;
            match workload {
                Workload::Alone | Workload::Fenced => {
                    let commands = match self.fenced {
                        true => fenced(masters).await,
                        false => Commands::new(RESOURCE),
                    };
                    let alone = alone::Alone::new(sockets, commands);
                    workloads::alone::run(alone, warm_up, span).await
                }
                Workload::Crowd => crowd::run(sockets, warm_up, span).await,
            }
        })
    }
}

/// Loads the script first: the masters may have met nobody yet who did.
async fn fenced(masters: &[SocketAddr]) -> Commands {
    let mut hash = String::new();
    for address in masters {
        let client = Client::open(format!("redis://{address}")).expect("a URL");
        let mut connection = client.get_multiplexed_async_connection().await.expect("a connection");
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(wire::ACQUIRE_FENCED);
        hash = load.query_async(&mut connection).await.expect("the script's hash");
    }
    Commands::fenced(RESOURCE, &hash)
}

/// The same sockets in a task of their own, and callers in others: W2 alone.
pub(super) struct Shared;

impl Contender for Shared {
    fn name(&self) -> &'static str {
        "bare sockets, shared"
    }

    fn run(
        &self,
        _: Workload,
        masters: &[SocketAddr],
        warm_up: Duration,
        span: Duration,
    ) -> Measured {
        many_threads().block_on(async {
            let sockets = Socket::connect(masters).await;
            shared::run(sockets, warm_up, span).await
        })
    }
}
