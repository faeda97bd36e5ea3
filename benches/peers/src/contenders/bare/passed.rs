//! One lock that passes from task to task, in their order, within one process: each release and the
//! next acquire are one write.

use super::BY_SCRIPT;
use super::alone::Alone;
use super::socket::Socket;
use super::wire::Commands;
use crate::contenders::Client;
use crate::worker::RESOURCE;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

#[derive(Clone)]
pub(crate) struct Passed(Arc<Mutex<Turns>>);

pub(crate) struct Turns {
    masters: Alone,
    /// The next task has the lock already.
    won: bool,
}

impl Client for Passed {
    type Held = OwnedMutexGuard<Turns>;

    async fn connect(masters: &[SocketAddr]) -> Self {
        let masters =
            Alone::new(Socket::connect(masters).await, Commands::new(RESOURCE, BY_SCRIPT));
        Self(Arc::new(Mutex::new(Turns { masters, won: false })))
    }

    async fn acquire(&self, _: &Arc<str>) -> Self::Held {
        let mut turn = self.0.clone().lock_owned().await;
        if !turn.won {
            turn.masters.round().await;
            turn.won = true;
        }
        turn
    }

    async fn attempt(&self, _: &Arc<str>) -> Option<Self::Held> {
        unreachable!("it takes part where all wait")
    }

    async fn release(&self, mut turn: Self::Held) {
        turn.masters.pass_on().await;
    }
}
