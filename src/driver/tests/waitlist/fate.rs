//! Clients that die, or stop, as processes do: nothing more comes from them, and no place is left.

use super::*;
use crate::Redlock;
use std::io;
use tokio::io::{DuplexStream, copy_bidirectional, duplex};
use tokio::sync::watch;

/// What becomes of the clients whose connections it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Lives,
    /// Stopped, or cut off without a reset: for the masters, its connections live.
    Stops,
    /// Killed: its connections are closed.
    Dies,
}

/// The connections of some clients, to all masters or to some.
#[derive(Clone)]
pub(super) struct Fates(watch::Sender<Fate>);

impl Fates {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Fate::Lives))
    }

    pub(super) fn become_all(&self, fate: Fate) {
        self.0.send_replace(fate);
    }

    /// Makes a builder for these masters. What comes from those that `may_end` ends with this fate.
    pub(super) fn builder(
        &self,
        masters: &Masters,
        may_end: impl Fn(usize) -> bool,
    ) -> RedlockBuilder {
        masters.iter().enumerate().fold(Redlock::builder(), |builder, (node, master)| {
            if !may_end(node) {
                return builder.node_with_connector(master.url(), master.dialer());
            }
            let (dial, fates) = (master.dialer(), self.0.clone());
            builder.node_with_connector(master.url(), move || {
                let (dialing, fate) = (dial(), fates.subscribe());
                async move {
                    if *fate.borrow() != Fate::Lives {
                        std::future::pending::<()>().await;
                    }
                    Ok::<_, io::Error>(joined(dialing.await?, fate))
                }
            })
        })
    }
}

fn joined(mut theirs: DuplexStream, mut fate: watch::Receiver<Fate>) -> DuplexStream {
    let (ours, mut between) = duplex(1 << 16);
    tokio::spawn(async move {
        let ended = fate.wait_for(|fate| *fate != Fate::Lives);
        let fate = tokio::select! {
            _ = copy_bidirectional(&mut between, &mut theirs) => Fate::Dies,
            fate = ended => fate.map_or(Fate::Dies, |fate| *fate),
        };
        if fate == Fate::Stops {
            std::future::pending::<()>().await;
        }
    });
    ours
}
