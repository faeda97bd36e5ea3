//! The masters of one kind of server, and the available kinds.

use crate::contenders::{self, Release};
use crate::support::server::Server;
use crate::support::witness;
use std::net::SocketAddr;

/// The most masters of a scene.
pub(crate) const MOST: usize = 7;

/// The servers of the tests, one of each in turn; `redis-server` on PATH if it is not set.
const SERVERS: &str = "QUORUMLOCK_SERVERS";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    /// The usual name: `Redis 7.0.15`.
    pub(crate) name: String,
    /// The cheapest way in which the server compares and deletes: by a script, or by itself.
    pub(crate) release: Release,
}

impl Kind {
    /// Parses a line like `Valkey server v=9.1.2 sha=..`.
    fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let maker = words.next().unwrap_or_default();
        let version = words.find_map(|word| word.strip_prefix("v=")).unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let numbers: [u32; 2] = [(); 2].map(|()| numbers.next().unwrap_or(0));
        let release = match maker {
            "Valkey" if numbers >= [9, 0] => Release::DelIfEq,
            "Redis" if numbers >= [8, 4] => Release::DelEx,
            _ => Release::Hash,
        };
        Self { name: format!("{maker} {version}"), release }
    }

    /// Returns, in the order in which they are named, the first of each way.
    pub(crate) fn all() -> Vec<Self> {
        let named = std::env::var(SERVERS).map_or(1, |programs| programs.split(':').count());
        let mut kinds = Vec::new();
        for _ in 0..named {
            let kind = Self::parse(&Server::start().version());
            if !kinds.iter().any(|known: &Self| known.release == kind.release) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

pub(crate) struct Field(Vec<Server>);

impl Field {
    pub(crate) fn start(kind: &Kind) -> Self {
        let mut servers = Vec::new();
        // They come in turn: those of another kind are ended at once.
        while servers.len() < MOST {
            let server = Server::start();
            if Kind::parse(&server.version()) == *kind {
                servers.push(server);
            }
        }
        Self(servers)
    }

    /// Returns the first few of them, with nothing on them: not even the agreement of earlier
    /// clients, which may have used another list.
    pub(crate) fn clear(&self, count: usize) -> &[Server] {
        let servers = &self.0[..count];
        empty(servers);
        servers
    }
}

/// Empties the servers. All that run must answer.
pub(crate) fn empty(servers: &[Server]) {
    contenders::one_thread().block_on(async {
        for server in servers {
            witness::ask::<()>(server, &redis::cmd("FLUSHALL")).await.expect("an empty master");
        }
    });
}

pub(crate) fn addresses(servers: &[Server]) -> Vec<SocketAddr> {
    servers.iter().map(Server::addr).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valkey_compares_and_deletes_from_9_on_and_redis_from_8_4_on() {
        let kind = |line| Kind::parse(line);
        let redis = kind("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64");
        assert_eq!(redis, Kind { name: "Redis 7.0.15".to_owned(), release: Release::Hash });
        let valkey = kind("Valkey server v=9.1.2 sha=00000000:0 malloc=jemalloc-5.3.1");
        assert_eq!(valkey, Kind { name: "Valkey 9.1.2".to_owned(), release: Release::DelIfEq });
        for (line, release) in [
            ("Valkey server v=8.1.1 sha=00000000:0", Release::Hash),
            ("Valkey server v=10.0.0 sha=00000000:0", Release::DelIfEq),
            ("Redis server v=8.0.2 sha=00000000:0", Release::Hash),
            ("Redis server v=8.6.3 sha=00000000:0", Release::DelEx),
        ] {
            assert_eq!(kind(line).release, release, "{line}");
        }
    }
}
