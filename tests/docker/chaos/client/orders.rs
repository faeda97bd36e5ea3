//! Orders for a client process: its name, the masters' addresses, and the safeguard that is
//! removed.

use crate::support::sabotage::{Sabotage, dial_through};
use futures::future::BoxFuture;
use quorumlock::{FencingWindow, Redlock, RedlockBuilder, RestartGuard};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::net::TcpStream;

/// Name of the environment variable with the orders of a client process.
pub(crate) const VARIABLE: &str = "QUORUMLOCK_CHAOS_CLIENT";

/// Longest ttl, so that a master that returns empty is away for a reasonable time.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(3);
/// Distance that a ballot may be off, in either direction.
pub(crate) const WINDOW: Duration = Duration::from_secs(1);

/// The safeguard that is removed, from outside: the crate has no switch for the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoiled {
    Nothing,
    /// Rollbacks and releases delete nothing.
    Rollback,
    /// Two of the five masters are enough. Each client is given three of them, of which two are a
    /// majority. The agreement that would refuse such lists is spoiled on its way.
    Quorum,
    /// A master that returns empty votes at once.
    RestartGuard,
    /// Each client receives the answer that all others have the same settings.
    Agreement,
}

/// Settings of a client: those that all clients must share, or with a mistake in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// Correct settings.
    Good,
    /// The client was given three of the five masters. Two of them are a majority, and the three
    /// others are a majority of all five.
    OtherList,
    /// Its locks are shorter, and so is the time for which a restarted master does not vote.
    OtherTtl,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) name: String,
    pub(crate) party: Party,
    pub(crate) seed: u64,
    pub(crate) tasks: usize,
    /// Clients of the process that wait in the crowd, each with connections of its own.
    pub(crate) crowd: usize,
    /// Addresses of the masters as clients reach them.
    pub(crate) nodes: Vec<SocketAddr>,
    pub(crate) store: SocketAddr,
    /// The masters forget nothing, and clients trust them with a vote right after a restart.
    pub(crate) durable: bool,
    /// Some clients have other settings, so a refusal is nothing odd.
    pub(crate) at_odds: bool,
    pub(crate) spoiled: Spoiled,
    /// If its clocks are its own, by how many millionths they are faster than the machine's.
    pub(crate) ppm: Option<i64>,
    pub(crate) history: PathBuf,
}

impl Spoiled {
    pub(crate) const ALL: [Self; 5] =
        [Self::Nothing, Self::Rollback, Self::Quorum, Self::RestartGuard, Self::Agreement];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Rollback => "rollback",
            Self::Quorum => "quorum",
            Self::RestartGuard => "restart-guard",
            Self::Agreement => "agreement",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

impl Party {
    pub(crate) const ALL: [Self; 3] = [Self::Good, Self::OtherList, Self::OtherTtl];

    /// Returns the name of its processes, before their numbers.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Good => "c",
            Self::OtherList => "list",
            Self::OtherTtl => "ttl",
        }
    }

    /// Returns the party of the process of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let word = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        Self::ALL.into_iter().find(|known| known.word() == word)
    }

    pub(crate) const fn max_ttl(self) -> Duration {
        match self {
            Self::Good | Self::OtherList => MAX_TTL,
            Self::OtherTtl => Duration::from_millis(1500),
        }
    }
}

impl Orders {
    /// Formats one line for the environment; the path, which may contain anything, comes last.
    pub(crate) fn to_line(&self) -> String {
        let Self { name, party, seed, tasks, crowd, store, durable, at_odds, .. } = self;
        let party = party.word();
        let nodes: Vec<String> = self.nodes.iter().map(SocketAddr::to_string).collect();
        let (nodes, spoiled, history) =
            (nodes.join(","), self.spoiled.word(), self.history.display());
        let ppm = self.ppm.map_or("-".to_owned(), |ppm| ppm.to_string());
        format!(
            "{name} {party} {seed} {tasks} {crowd} {nodes} {store} {durable} {at_odds} {spoiled} {ppm} {history}"
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.splitn(12, ' ').collect();
        let [
            name,
            party,
            seed,
            tasks,
            crowd,
            nodes,
            store,
            durable,
            at_odds,
            spoiled,
            ppm,
            history,
        ] = words[..]
        else {
            return None;
        };
        Some(Self {
            name: name.to_owned(),
            party: Party::of(party)?,
            seed: seed.parse().ok()?,
            tasks: tasks.parse().ok()?,
            crowd: crowd.parse().ok()?,
            nodes: nodes.split(',').map(str::parse).collect::<Result<_, _>>().ok()?,
            store: store.parse().ok()?,
            durable: durable.parse().ok()?,
            at_odds: at_odds.parse().ok()?,
            spoiled: Spoiled::parse(spoiled)?,
            ppm: if ppm == "-" { None } else { Some(ppm.parse().ok()?) },
            history: history.into(),
        })
    }

    /// Returns how long a span of this client's clock takes by the machine's.
    pub(super) fn by_the_machine(&self, span: Duration) -> Duration {
        span.mul_f64(1.0 / (1.0 + self.ppm.unwrap_or_default() as f64 / 1e6))
    }

    pub(super) fn from_environment() -> Option<Self> {
        let line = std::env::var(VARIABLE).ok()?;
        Some(Self::parse(&line).unwrap_or_else(|| panic!("{VARIABLE}={line}: no orders")))
    }

    /// Configures the ordered client, with the restart guard on, and the process's name as label.
    pub(super) fn builder(&self) -> RedlockBuilder {
        let max_ttl = self.party.max_ttl();
        let builder = Redlock::builder()
            .max_ttl(max_ttl)
            .fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW });
        let builder = builder.ttl(max_ttl).label(&self.name);
        let builder = if self.durable {
            builder.restart_guard(RestartGuard::TrustPersistence)
        } else {
            builder
        };
        let through = |builder: RedlockBuilder, node: &SocketAddr, sabotage| {
            let dial = dial_through(dial_to(*node), sabotage, Arc::new(AtomicU64::new(0)));
            builder.node_with_connector(format!("redis://{node}"), dial)
        };
        let nodes = match self.party {
            Party::OtherList => &self.nodes[..3],
            Party::Good | Party::OtherTtl => &self.nodes[..],
        };
        match self.spoiled {
            Spoiled::Nothing => builder.nodes(nodes.iter().map(|node| format!("redis://{node}"))),
            Spoiled::Rollback => {
                nodes.iter().fold(builder, |built, node| through(built, node, Sabotage::Rollback))
            }
            Spoiled::Agreement => {
                nodes.iter().fold(builder, |built, node| through(built, node, Sabotage::Agreement))
            }
            Spoiled::Quorum => {
                let from = if self.seed.is_multiple_of(2) { 0 } else { 2 };
                let three = &self.nodes[from..from + 3];
                three.iter().fold(builder, |built, node| through(built, node, Sabotage::Agreement))
            }
            Spoiled::RestartGuard => {
                let nodes = nodes.iter().map(|node| format!("redis://{node}"));
                builder.nodes(nodes).restart_guard(RestartGuard::Off)
            }
        }
    }
}

fn dial_to(
    node: SocketAddr,
) -> impl Fn() -> BoxFuture<'static, io::Result<TcpStream>> + Send + Sync {
    move || {
        Box::pin(async move {
            let stream = TcpStream::connect(node).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        for spoiled in Spoiled::ALL {
            let orders = Orders {
                name: "list7".to_owned(),
                party: Party::OtherList,
                seed: 3,
                tasks: 2,
                crowd: 4,
                nodes: ["127.0.0.1:1", "127.0.0.1:2"].map(|node| node.parse().unwrap()).to_vec(),
                store: "127.0.0.1:3".parse().unwrap(),
                durable: true,
                at_odds: true,
                spoiled,
                ppm: Some(-7),
                history: "/a folder/with spaces".into(),
            };
            assert_eq!(Orders::parse(&orders.to_line()), Some(orders));
        }
    }
}
