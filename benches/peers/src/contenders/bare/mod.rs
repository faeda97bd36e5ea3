//! The floor: one task, a socket for each master, commands encoded once and replies parsed by hand.
//! It has no limits, no timeouts and no second chance: the physical limit, and no locking.
//!
//! The way a lock is released is most of its cost at the masters, so there is a floor for each way.
//! One uses the script in full, as most people do. Others use its hash or the server's own command,
//! as quorumlock does. The last ones add the PUBLISH to one master that notifies other processes,
//! which quorumlock sends if no task in its own process waits. The masters of that last one do
//! exactly what quorumlock's do.

mod alone;
mod crowd;
mod passed;
mod shared;
mod socket;
mod wire;

pub(crate) use wire::Release;

use super::client::Peer;
use super::{Contender, FLOOR, one_thread, two_workers};
use crate::cell::Cell;
use crate::workloads::alone::RESOURCE;
use crate::workloads::{self, Measured, Workload};
use redis::Client;
use socket::Socket;
use std::net::SocketAddr;
use tokio::runtime::Runtime;
use wire::{Commands, Way};

pub(super) struct Bare {
    name: &'static str,
    runtime: fn() -> Runtime,
    way: Way,
    fenced: bool,
}

const BY_SCRIPT: Way = Way { release: Release::Full, notifies: false };

pub(super) const PLAIN: Bare =
    Bare { name: FLOOR, runtime: one_thread, way: BY_SCRIPT, fenced: false };

/// On two workers it is also one task, which moves from worker to worker.
pub(super) const ON_TWO_WORKERS: Bare =
    Bare { name: "bare sockets, two workers", runtime: two_workers, ..PLAIN };

/// The crate's own scripts instead of `SET` and compare-and-delete.
pub(super) const FENCED: Bare = Bare { name: "bare sockets, fenced", fenced: true, ..PLAIN };

/// The floors that release in the way that quorumlock does.
pub(super) const RELEASING: [&str; 6] = [
    "bare sockets, EVALSHA",
    "bare sockets, EVALSHA + PUBLISH",
    "bare sockets, DELIFEQ",
    "bare sockets, DELIFEQ + PUBLISH",
    "bare sockets, DELEX",
    "bare sockets, DELEX + PUBLISH",
];

pub(super) const fn releasing(release: Release, notifies: bool) -> Bare {
    let name = match (release, notifies) {
        (Release::Full, _) => FLOOR,
        (Release::Hash, false) => RELEASING[0],
        (Release::Hash, true) => RELEASING[1],
        (Release::DelIfEq, false) => RELEASING[2],
        (Release::DelIfEq, true) => RELEASING[3],
        (Release::DelEx, false) => RELEASING[4],
        (Release::DelEx, true) => RELEASING[5],
    };
    Bare { name, way: Way { release, notifies }, ..PLAIN }
}

/// The floor where tasks of one process wait for each other.
pub(super) const PASSED: Peer<passed::Passed> = Peer::new(FLOOR);

impl Contender for Bare {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        (self.runtime)().block_on(async {
            // The masters may have met no client yet that loaded the scripts.
            if self.fenced {
                load(&cell.masters, wire::ACQUIRE_FENCED).await;
            }
            if self.way.release == Release::Hash {
                load(&cell.masters, wire::RELEASE).await;
            }
            let sockets = Socket::connect(&cell.masters).await;
            match cell.workload {
                Workload::Alone | Workload::Fenced | Workload::Kept => {
                    let commands = match self.fenced {
                        true => Commands::fenced(RESOURCE),
                        false => Commands::new(RESOURCE, self.way),
                    };
                    let alone = alone::Alone::new(sockets, commands);
                    workloads::alone::run(alone, cell).await
                }
                Workload::Crowd | Workload::Warm => {
                    let (way, cell) = (self.way, cell.clone());
                    let running =
                        tokio::spawn(async move { crowd::run(sockets, way, &cell).await });
                    running.await.expect("a turn without a panic")
                }
            }
        })
    }
}

async fn load(masters: &[SocketAddr], script: &str) {
    for address in masters {
        let client = Client::open(format!("redis://{address}")).expect("a URL");
        let mut connection = client.get_multiplexed_async_connection().await.expect("a connection");
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(script);
        let hash: String = load.query_async(&mut connection).await.expect("the script's hash");
        assert_eq!(hash, wire::hash(script));
    }
}

/// The same sockets in their own task, with callers in other tasks: W2 only.
pub(super) struct Shared;

impl Contender for Shared {
    fn name(&self) -> &'static str {
        "bare sockets, shared"
    }

    fn run(&self, cell: &Cell) -> Measured {
        two_workers().block_on(async {
            let sockets = Socket::connect(&cell.masters).await;
            shared::run(sockets, cell).await
        })
    }
}
