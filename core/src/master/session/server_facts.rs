//! A server's account of itself: its answers to HELLO, INFO and CONFIG GET.
//!
//! Sessions and preflights read these answers here, and each draws its own conclusions from them.

use crate::escape::OneLine;
use crate::wire::{self, Reply};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The facts about a server. What it has not reported is `None`, or `false`.
#[derive(Clone, Default)]
pub struct ServerFacts {
    /// The name that it gives itself, as it writes it: `redis`, `valkey`.
    pub name: Option<Arc<str>>,
    /// Its own version.
    pub version: Option<Arc<str>>,
    /// The id of the server process.
    pub run_id: Option<Arc<str>>,
    /// The time for which that process has run, in whole seconds.
    pub uptime: Option<Duration>,
    /// Master or replica.
    pub role: Option<Role>,
    /// The address of the master that it copies.
    pub replica_of: Option<Arc<str>>,
    /// It had another history before: it was a replica.
    pub promoted: bool,
    /// The number of replicas attached to it.
    pub replicas: Option<u64>,
    /// The bytes at which it is full; 0 if it never is.
    pub maxmemory: Option<u64>,
    /// Its choice of the keys to delete then.
    pub maxmemory_policy: Option<Arc<str>>,
    /// The persistence that it is configured with.
    pub configured: Option<Persistence>,
    /// It has an append-only file, according to INFO.
    aof_enabled: Option<bool>,
}

/// The role of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Role {
    /// A server that takes writes of its own.
    Master,
    /// A server that copies another one.
    Replica,
}

/// The writes that a server keeps across a restart, as far as locks are concerned. Snapshots do not
/// count: they lack what was granted after the last one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Persistence {
    /// Every write that it has answered: `appendonly yes`, `appendfsync always`,
    /// `no-appendfsync-on-rewrite no`.
    EveryWrite,
    /// The same, except for writes during a rewrite of its file: `no-appendfsync-on-rewrite yes`.
    NotInRewrites,
    /// Writes with a short delay: `appendonly yes`, with this `appendfsync` if it reports one.
    Later(Option<Arc<str>>),
    /// No individual write: `appendonly no`.
    Nothing,
}

impl ServerFacts {
    /// Learns from the answer to HELLO. INFO knows better: a server may be configured to call
    /// itself Redis here, for clients that insist.
    pub fn learn_hello(&mut self, hello: &Reply) {
        self.name = hello.field("server").map(Arc::from);
        self.version = hello.field("version").map(Arc::from);
        self.role = hello.field("role").and_then(Role::named);
    }

    /// Learns from one section of INFO; a denied one reveals nothing.
    pub fn learn_info(&mut self, info: &Reply) {
        fn update<T>(known: &mut Option<T>, reported: Option<T>) {
            *known = reported.or(known.take());
        }
        let Some(info) = info.text() else { return };
        let field = |name: &str| wire::info_field(info, name);
        let text = |name: &str| field(name).map(Arc::<str>::from);
        let number = |name: &str| field(name).and_then(|digits| digits.parse::<u64>().ok());
        // A server that is not Redis also reports a version that it is compatible with.
        let its_own = field("server_name").and_then(|name| text(&format!("{name}_version")));
        update(&mut self.name, text("server_name"));
        update(&mut self.version, its_own.or_else(|| text("redis_version")));
        update(&mut self.run_id, text("run_id"));
        let uptime = field("uptime_in_seconds").and_then(|seconds| seconds.parse::<i64>().ok());
        // Negative on a master whose clock was set back.
        let uptime = uptime.map(|seconds| u64::try_from(seconds).unwrap_or(0));
        update(&mut self.uptime, uptime.map(Duration::from_secs));
        if let Some(role) = field("role") {
            self.role = Role::named(role);
            let port = field("master_port").unwrap_or("?");
            self.replica_of = field("master_host").map(|host| format!("{host}:{port}").into());
        }
        if let Some(history) = field("master_replid2") {
            self.promoted = history.bytes().any(|digit| digit != b'0');
        }
        update(&mut self.replicas, number("connected_slaves"));
        update(&mut self.maxmemory, number("maxmemory"));
        update(&mut self.maxmemory_policy, text("maxmemory_policy"));
        update(&mut self.aof_enabled, number("aof_enabled").map(|enabled| enabled != 0));
    }

    /// Learns from the answer to `CONFIG GET maxmemory*` what INFO has not reported.
    pub fn learn_memory(&mut self, config: &Reply) {
        let limit = config.field("maxmemory").and_then(|bytes| bytes.parse().ok());
        let policy = config.field("maxmemory-policy").map(Arc::from);
        self.maxmemory = self.maxmemory.or(limit);
        self.maxmemory_policy = self.maxmemory_policy.take().or(policy);
    }

    /// Learns from the answer to `CONFIG GET *append*`.
    pub fn learn_persistence(&mut self, config: &Reply) {
        self.configured = Persistence::configured(config);
    }

    /// Returns what it keeps across a restart: as it is configured, or else as INFO says.
    pub fn persistence(&self) -> Option<Persistence> {
        let informed = |enabled| match enabled {
            true => Persistence::Later(None),
            false => Persistence::Nothing,
        };
        self.configured.clone().or_else(|| self.aof_enabled.map(informed))
    }

    /// Returns the configured setting by which it may lose a write in a restart. A server that may
    /// not report its configuration has none.
    pub fn weakness(&self) -> Option<String> {
        match self.configured.as_ref()? {
            Persistence::EveryWrite | Persistence::Later(None) => None,
            Persistence::NotInRewrites => Some("no-appendfsync-on-rewrite is yes".to_owned()),
            Persistence::Later(Some(when)) => Some(format!("appendfsync is {when}")),
            Persistence::Nothing => Some("appendonly is no".to_owned()),
        }
    }
}

impl Role {
    fn named(name: &str) -> Option<Self> {
        match name {
            "master" => Some(Self::Master),
            "slave" | "replica" => Some(Self::Replica),
            _ => None,
        }
    }
}

impl Persistence {
    fn configured(config: &Reply) -> Option<Self> {
        match config.field("appendonly")? {
            "no" => return Some(Self::Nothing),
            "yes" => {}
            _ => return None,
        }
        let rewrites = config.field("no-appendfsync-on-rewrite");
        Some(match (config.field("appendfsync"), rewrites) {
            (Some("always"), Some("no")) => Self::EveryWrite,
            // Nothing is synced while the file is rewritten.
            (Some("always"), Some(_)) => Self::NotInRewrites,
            (Some("always"), None) => Self::Later(None),
            (when, _) => Self::Later(when.map(Arc::from)),
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Master => "master",
            Self::Replica => "replica",
        })
    }
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryWrite => f.write_str("appendfsync always"),
            Self::NotInRewrites => f.write_str("appendfsync always, no-appendfsync-on-rewrite yes"),
            Self::Later(Some(appendfsync)) => write!(f, "appendfsync {}", OneLine(appendfsync)),
            Self::Later(None) => f.write_str("appendonly yes"),
            Self::Nothing => f.write_str("appendonly no"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> Reply {
        Reply::Text(words.as_bytes().into())
    }

    fn map(fields: &[(&str, &str)]) -> Reply {
        Reply::Map(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    fn informed(sections: &[&str]) -> ServerFacts {
        let mut facts = ServerFacts::default();
        sections.iter().for_each(|section| facts.learn_info(&text(section)));
        facts
    }

    #[test]
    fn each_section_adds_its_facts_and_a_later_report_replaces_them() {
        let mut facts = informed(&[
            "# Server\r\nredis_version:7.0.15\r\nrun_id:ab\r\nuptime_in_seconds:7\r\n",
            "# Replication\r\nrole:master\r\nconnected_slaves:2\r\nmaster_replid2:00\r\n",
            "# Memory\r\nmaxmemory:9\r\nmaxmemory_policy:noeviction\r\n",
        ]);
        for _ in 0..2 {
            assert_eq!(
                (facts.version.as_deref(), facts.run_id.as_deref()),
                (Some("7.0.15"), Some("ab"))
            );
            assert_eq!(facts.uptime, Some(Duration::from_secs(7)));
            assert_eq!((facts.role, facts.replicas), (Some(Role::Master), Some(2)));
            assert_eq!((facts.replica_of.as_deref(), facts.promoted), (None, false));
            assert_eq!(facts.maxmemory, Some(9));
            assert_eq!(facts.maxmemory_policy.as_deref(), Some("noeviction"));
            // A denied section changes nothing.
            facts.learn_info(&Reply::Error("NOPERM".into()));
        }
        facts.learn_info(&text("run_id:cd\r\nuptime_in_seconds:-3\r\n"));
        facts.learn_info(&text("role:slave\r\nmaster_host:a\r\nmaster_port:7\r\n"));
        assert_eq!(facts.run_id.as_deref(), Some("cd"));
        assert_eq!(facts.uptime, Some(Duration::ZERO), "a clock that was set back");
        assert_eq!((facts.role, facts.replica_of.as_deref()), (Some(Role::Replica), Some("a:7")));
        facts.learn_info(&text("role:master\r\nmaster_replid2:0a\r\n"));
        assert_eq!((facts.replica_of.as_deref(), facts.promoted), (None, true));
    }

    #[test]
    fn info_knows_better_than_hello_and_than_config() {
        let mut facts = ServerFacts::default();
        facts.learn_hello(&map(&[("server", "redis"), ("version", "7.2.4"), ("role", "replica")]));
        let named = |facts: &ServerFacts| {
            format!("{} {}", facts.name.clone().unwrap(), facts.version.clone().unwrap())
        };
        assert_eq!((named(&facts), facts.role), ("redis 7.2.4".into(), Some(Role::Replica)));
        facts.learn_info(&text(
            "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\nrole:master\r\n",
        ));
        assert_eq!((named(&facts), facts.role), ("valkey 8.1.1".into(), Some(Role::Master)));

        facts.learn_info(&text("maxmemory:5\r\n"));
        facts.learn_memory(&map(&[("maxmemory", "7"), ("maxmemory-policy", "allkeys-lfu")]));
        assert_eq!(facts.maxmemory, Some(5));
        assert_eq!(facts.maxmemory_policy.as_deref(), Some("allkeys-lfu"));
    }

    #[test]
    fn a_weakness_is_configured_and_what_info_says_is_none() {
        let full = |on, when, rewrites| {
            let rewrites = ("no-appendfsync-on-rewrite", rewrites);
            map(&[("appendonly", on), ("appendfsync", when), rewrites])
        };
        let part = |when| map(&[("appendonly", "yes"), ("appendfsync", when)]);
        for (config, aof_enabled, shown, weakness) in [
            (full("yes", "always", "no"), 1, "appendfsync always", None),
            (
                full("yes", "always", "yes"),
                1,
                "appendfsync always, no-appendfsync-on-rewrite yes",
                Some("no-appendfsync-on-rewrite is yes"),
            ),
            (
                full("yes", "everysec", "yes"),
                1,
                "appendfsync everysec",
                Some("appendfsync is everysec"),
            ),
            (full("no", "always", "no"), 0, "appendonly no", Some("appendonly is no")),
            (part("always"), 1, "appendonly yes", None),
            (part("no"), 1, "appendfsync no", Some("appendfsync is no")),
            (Reply::Nil, 1, "appendonly yes", None),
            (Reply::Nil, 0, "appendonly no", None),
        ] {
            let mut facts = informed(&[&format!("aof_enabled:{aof_enabled}\r\n")]);
            facts.learn_persistence(&full("yes", "always", "no"));
            facts.learn_persistence(&config);
            assert_eq!(facts.persistence().unwrap().to_string(), shown);
            assert_eq!(facts.weakness().as_deref(), weakness, "{shown}");
        }
        assert_eq!(ServerFacts::default().persistence(), None);
    }
}
