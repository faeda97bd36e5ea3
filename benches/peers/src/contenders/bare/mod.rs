//! The floor: one task, five sockets, commands encoded once and replies parsed by hand. No limits,
//! no timeouts, no second chance: what is physically possible, and nothing to lock with.

mod alone;
mod crowd;
mod socket;
mod wire;

use super::{Contender, one_thread};
use crate::workloads::{self, Measured, Workload};
use socket::Socket;
use std::net::SocketAddr;
use std::time::Duration;

pub(super) struct Bare;

impl Contender for Bare {
    fn name(&self) -> &'static str {
        "bare sockets"
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
                Workload::Alone => {
                    workloads::alone::run(alone::Alone::new(sockets), warm_up, span).await
                }
                Workload::Crowd => crowd::run(sockets, warm_up, span).await,
            }
        })
    }
}
