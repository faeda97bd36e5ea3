//! The five masters, of whatever kind is available, and what happens to them.

use crate::gate::Gate;
use crate::nodes;
use crate::server::Server;
use quorumlock::RedlockBuilder;
use std::fmt;
use std::sync::{Mutex, PoisonError};

const NO_SERVER: &str = "there is no redis-server. One of these helps:
  - build with the masters that need no server: cargo run --example failover --features embedded
  - put redis-server 6.2 or later on PATH
  - name five masters: QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,... and --on-nodes";

pub(crate) const MASTERS: usize = 5;
pub(crate) const QUORUM: usize = MASTERS / 2 + 1;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Named by `QUORUMLOCK_NODES`; not ours to kill.
    Named,
    Servers,
    #[cfg(feature = "embedded")]
    Embedded,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Up,
    Lost,
    Back,
}

pub(crate) struct Masters {
    pub(crate) kind: Kind,
    all: Vec<Master>,
}

/// One master.
pub(crate) struct Master {
    pub(crate) url: String,
    /// Its address without credentials.
    pub(crate) name: String,
    body: Body,
    state: Mutex<State>,
}

enum Body {
    Named(Gate),
    Server(Server),
    #[cfg(feature = "embedded")]
    Embedded(quorumlock::embedded::Masters),
}

impl Masters {
    /// Uses those of the wanted kind; otherwise embedded ones, and redis-servers where those are not
    /// built in. It never uses masters of others unasked.
    pub(crate) async fn choose(wanted: Option<Kind>) -> Result<Self, String> {
        match wanted {
            Some(Kind::Named) => Self::named(&nodes::from_environment()?),
            #[cfg(feature = "embedded")]
            None | Some(Kind::Embedded) => Self::embedded(),
            _ => match servers().await? {
                Some(all) => Ok(Self { kind: Kind::Servers, all }),
                None => Err(NO_SERVER.to_owned()),
            },
        }
    }

    fn named(urls: &[String]) -> Result<Self, String> {
        if urls.len() != MASTERS {
            let named = urls.len();
            return Err(format!("QUORUMLOCK_NODES names {named} masters; the play is for five"));
        }
        let all = urls.iter().zip(1..).map(|(url, place)| {
            let gate = Gate::new(url);
            let gate = gate.map_err(|e| format!("QUORUMLOCK_NODES, address {place}: {e}"))?;
            Ok(Master::new(url.clone(), gate.name(), Body::Named(gate)))
        });
        Ok(Self { kind: Kind::Named, all: all.collect::<Result<_, String>>()? })
    }

    #[cfg(feature = "embedded")]
    fn embedded() -> Result<Self, String> {
        let mut all = Vec::new();
        for _ in 0..MASTERS {
            let embedded = quorumlock::embedded::Masters::start(1);
            let embedded = embedded.map_err(|error| format!("no embedded master: {error}"))?;
            all.push(Master::local(embedded[0].url(), Body::Embedded(embedded)));
        }
        Ok(Self { kind: Kind::Embedded, all })
    }

    pub(crate) fn all(&self) -> &[Master] {
        &self.all
    }

    /// Takes the master at this place in the list away.
    pub(crate) fn lose(&self, node: usize) {
        let master = &self.all[node];
        match &master.body {
            Body::Named(gate) => gate.close(),
            Body::Server(server) => server.kill(),
            #[cfg(feature = "embedded")]
            Body::Embedded(embedded) => embedded[0].kill(),
        }
        master.set(State::Lost);
    }

    /// Brings a master back, without its memory if it was killed.
    pub(crate) async fn bring_back(&self, node: usize) -> Result<(), String> {
        let master = &self.all[node];
        match &master.body {
            Body::Named(gate) => gate.open(),
            Body::Server(server) => server.come_back().await?,
            #[cfg(feature = "embedded")]
            Body::Embedded(embedded) => embedded[0]
                .restart(quorumlock::embedded::Memory::Lost)
                .map_err(|error| format!("the embedded master does not come back: {error}"))?,
        }
        master.set(State::Back);
        Ok(())
    }

    pub(crate) fn up(&self) -> usize {
        self.all.iter().filter(|master| master.state() != State::Lost).count()
    }

    /// Leaves no process behind, even if other code still has a handle to this.
    pub(crate) fn end(&self) {
        for master in &self.all {
            if let Body::Server(server) = &master.body {
                server.end();
            }
        }
    }

    /// Returns `false` if a loss is a connection that is cut.
    pub(crate) const fn can_be_killed(&self) -> bool {
        !matches!(self.kind, Kind::Named)
    }
}

impl Master {
    fn new(url: String, name: String, body: Body) -> Self {
        Self { url, name, body, state: Mutex::new(State::Up) }
    }

    fn local(url: String, body: Body) -> Self {
        let name = url.trim_start_matches("redis://").to_owned();
        Self::new(url, name, body)
    }

    pub(crate) fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    pub(crate) fn add_to(&self, builder: RedlockBuilder) -> RedlockBuilder {
        match &self.body {
            Body::Named(gate) => builder.node_with_connector(self.url.as_str(), gate.dialer()),
            _ => builder.node(self.url.as_str()),
        }
    }
}

/// Returns `None` if there is no redis-server here.
async fn servers() -> Result<Option<Vec<Master>>, String> {
    let mut servers = Vec::new();
    for _ in 0..MASTERS {
        match Server::start()? {
            Some(server) => servers.push(server),
            None => return Ok(None),
        }
    }
    for server in &servers {
        server.answers().await?;
    }
    let master = |server: Server| Master::local(server.url(), Body::Server(server));
    Ok(Some(servers.into_iter().map(master).collect()))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => {
                "the five masters that QUORUMLOCK_NODES names: cut off, since not ours to kill"
            }
            Self::Servers => "five redis-servers, started for this",
            #[cfg(feature = "embedded")]
            Self::Embedded => "five embedded masters, in this process",
        })
    }
}
