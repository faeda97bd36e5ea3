//! What a client process is told: who it is, where the masters are, what is taken away from it.

use crate::support::sabotage::{Sabotage, dial_through};
use quorumlock::{Redlock, RedlockBuilder};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// In the environment of a client process.
pub(crate) const VARIABLE: &str = "QUORUMLOCK_CHAOS_CLIENT";

/// No ttl is longer, so a master that returns empty is away for a bearable time.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(3);
/// How far a ballot may be off, either way.
pub(crate) const WINDOW: Duration = Duration::from_secs(1);

/// Which safeguard is taken away, from outside: the crate has no switch for the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoiled {
    Nothing,
    /// Rollbacks and releases delete nothing.
    Rollback,
    /// Two of the five masters are enough: each client is given three of them, of which two are a
    /// majority, and the agreement that would refuse such lists is spoiled on its way.
    Quorum,
    /// A master that returns empty votes at once.
    RestartGuard,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) tasks: usize,
    /// Of the masters as clients reach them.
    pub(crate) nodes: Vec<SocketAddr>,
    pub(crate) store: SocketAddr,
    /// The masters forget nothing, and clients trust them with a vote right after a restart.
    pub(crate) durable: bool,
    pub(crate) spoiled: Spoiled,
    pub(crate) history: PathBuf,
}

impl Spoiled {
    pub(crate) const ALL: [Self; 4] =
        [Self::Nothing, Self::Rollback, Self::Quorum, Self::RestartGuard];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Rollback => "rollback",
            Self::Quorum => "quorum",
            Self::RestartGuard => "restart-guard",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

impl Orders {
    /// One line for the environment; the path, which may hold anything, comes last.
    pub(crate) fn to_line(&self) -> String {
        let Self { name, seed, tasks, store, durable, .. } = self;
        let nodes: Vec<String> = self.nodes.iter().map(SocketAddr::to_string).collect();
        let (nodes, spoiled, history) =
            (nodes.join(","), self.spoiled.word(), self.history.display());
        format!("{name} {seed} {tasks} {nodes} {store} {durable} {spoiled} {history}")
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.splitn(8, ' ').collect();
        let [name, seed, tasks, nodes, store, durable, spoiled, history] = words[..] else {
            return None;
        };
        Some(Self {
            name: name.to_owned(),
            seed: seed.parse().ok()?,
            tasks: tasks.parse().ok()?,
            nodes: nodes.split(',').map(str::parse).collect::<Result<_, _>>().ok()?,
            store: store.parse().ok()?,
            durable: durable.parse().ok()?,
            spoiled: Spoiled::parse(spoiled)?,
            history: history.into(),
        })
    }

    pub(super) fn from_environment() -> Option<Self> {
        let line = std::env::var(VARIABLE).ok()?;
        Some(Self::parse(&line).unwrap_or_else(|| panic!("{VARIABLE}={line}: no orders")))
    }

    /// The client that is ordered, with the restart guard on, its label that of the process.
    pub(super) fn builder(&self) -> RedlockBuilder {
        let builder = Redlock::builder().max_ttl(MAX_TTL).fencing_window(WINDOW, WINDOW);
        let builder = builder.ttl(MAX_TTL).label(&self.name);
        let builder = if self.durable { builder.trust_persistence() } else { builder };
        let through = |builder: RedlockBuilder, node: &SocketAddr, sabotage| {
            let dial = dial_through(*node, sabotage, Arc::new(AtomicU64::new(0)));
            builder.node_via(format!("redis://{node}"), dial)
        };
        match self.spoiled {
            Spoiled::Nothing => builder.nodes(self.nodes.iter().map(|it| format!("redis://{it}"))),
            Spoiled::Rollback => {
                self.nodes.iter().fold(builder, |it, node| through(it, node, Sabotage::Rollback))
            }
            Spoiled::Quorum => {
                let from = if self.seed.is_multiple_of(2) { 0 } else { 2 };
                let three = &self.nodes[from..from + 3];
                three.iter().fold(builder, |it, node| through(it, node, Sabotage::Agreement))
            }
            Spoiled::RestartGuard => {
                let nodes = self.nodes.iter().map(|it| format!("redis://{it}"));
                builder.nodes(nodes).without_restart_guard()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        for spoiled in Spoiled::ALL {
            let orders = Orders {
                name: "c7".to_owned(),
                seed: 3,
                tasks: 2,
                nodes: ["127.0.0.1:1", "127.0.0.1:2"].map(|it| it.parse().unwrap()).to_vec(),
                store: "127.0.0.1:3".parse().unwrap(),
                durable: true,
                spoiled,
                history: "/a folder/with spaces".into(),
            };
            assert_eq!(Orders::parse(&orders.to_line()), Some(orders));
        }
    }
}
