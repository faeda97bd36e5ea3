//! A master that executes what it is sent, in order per connection.

use super::scripts::{Defect, millis};
use crate::quorum::Instant;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

struct Key {
    value: String,
    /// On the master's own clock.
    expires: Instant,
}

/// One connection as the server sees it. It stays after the client has given it up, with all that
/// was written to it, until the server kills it or ends.
pub(super) struct Connection {
    pub(super) id: i64,
    pub(super) commands: VecDeque<String>,
}

pub(super) struct Master {
    name: String,
    run: u32,
    next_id: i64,
    keys: BTreeMap<String, Key>,
    scripts: BTreeSet<String>,
    pub(super) connections: Vec<Connection>,
    /// How much faster than the clients' its clock runs, in parts per million.
    rate_ppm: i64,
    /// What its wall clock showed at the origin of time, and when its process started.
    origin_us: u64,
    started_us: u64,
    /// When it last lost its memory, on the clients' clock.
    pub(super) forgot_at: Option<Instant>,
    /// It is made a replica, until somebody notices.
    pub(super) is_replica: bool,
    pub(super) defect: Option<Defect>,
}

const A_DAY_US: u64 = 86_400_000_000;

impl Master {
    pub(super) fn new(node: usize, rate_ppm: i64, origin_us: u64, defect: Option<Defect>) -> Self {
        Self {
            name: format!("n{}", node + 1),
            run: 0,
            next_id: 0,
            keys: BTreeMap::new(),
            scripts: BTreeSet::new(),
            connections: Vec::new(),
            rate_ppm,
            origin_us,
            started_us: origin_us - A_DAY_US,
            forgot_at: None,
            is_replica: false,
            defect,
        }
    }

    pub(super) fn accept(&mut self) -> i64 {
        self.next_id += 1;
        self.connections.push(Connection { id: self.next_id, commands: VecDeque::new() });
        self.next_id
    }

    /// A new process, with the keys of the old one or `empty`; its ids start over.
    pub(super) fn restart(&mut self, now: Instant, empty: bool) {
        self.run += 1;
        self.next_id = 0;
        self.started_us = self.wall_us(now);
        self.scripts.clear();
        self.connections.clear();
        self.is_replica = false;
        if empty {
            self.keys.clear();
            self.forgot_at = Some(now);
        }
    }

    pub(super) fn flush_scripts(&mut self) {
        self.scripts.clear();
    }

    pub(super) fn connection(&mut self, id: i64) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|one| one.id == id)
    }

    // Its clock.

    /// What its own clock shows at `now` on the clients'.
    fn clock(&self, now: Instant) -> Instant {
        let gained = i128::from(now.as_nanos()) * i128::from(self.rate_ppm) / 1_000_000;
        Instant::from_nanos((i128::from(now.as_nanos()) + gained) as u64)
    }

    pub(super) fn wall_us(&self, now: Instant) -> u64 {
        self.origin_us + self.clock(now).as_nanos() / 1_000
    }

    /// As Redis tells it: the difference of two whole seconds.
    fn uptime(&self, now: Instant) -> u64 {
        self.wall_us(now) / 1_000_000 - self.started_us / 1_000_000
    }

    // Its keys.

    /// What stands under `key`.
    pub(super) fn get(&self, now: Instant, key: &str) -> Option<&str> {
        let clock = self.clock(now);
        self.keys.get(key).filter(|one| one.expires > clock).map(|one| one.value.as_str())
    }

    pub(super) fn set(&mut self, now: Instant, key: &str, value: &str, life: Duration) {
        let expires = self.clock(now).after(life);
        self.keys.insert(key.to_owned(), Key { value: value.to_owned(), expires });
    }

    /// PTTL of a key that is there.
    pub(super) fn life(&self, now: Instant, key: &str) -> u128 {
        self.keys[key].expires.since(self.clock(now)).as_millis()
    }

    pub(super) fn prolong(&mut self, now: Instant, key: &str, life: Duration) {
        let until = self.clock(now).after(life);
        let key = self.keys.get_mut(key).expect("the key");
        key.expires = key.expires.max(until);
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.keys.remove(key);
    }

    /// Key and value of all that stand.
    pub(super) fn all_keys(&self, now: Instant) -> Vec<(&str, &str)> {
        let names = self.keys.keys().map(String::as_str);
        names.filter_map(|key| Some((key, self.get(now, key)?))).collect()
    }

    /// Executes the next command of a connection; `None` if there is none.
    pub(super) fn execute(&mut self, now: Instant, id: i64) -> Option<String> {
        let command = self.connection(id)?.commands.pop_front()?;
        let words: Vec<&str> = command.split(' ').collect();
        Some(match words[..] {
            ["HELLO", ..] => format!("hello {id}"),
            ["INFO", "server"] => {
                format!("server {}.{} up {}", self.name, self.run, self.uptime(now))
            }
            ["INFO", "memory"] => "memory".into(),
            ["INFO", _] if self.is_replica => "replica elsewhere:6379".into(),
            ["INFO", _] => "master".into(),
            ["SCRIPT", "LOAD", script] => {
                self.scripts.insert(script.to_owned());
                "text c0ffee".into()
            }
            ["SUBSCRIBE" | "UNSUBSCRIBE", _] => "-NOPERM no".into(),
            ["CLIENT", "KILL", "ID", victim] => {
                let victim: i64 = victim.parse().expect("an id");
                assert_ne!(victim, id, "{} is asked to kill the connection that asks", self.name);
                if self.defect == Some(Defect::KillsNobody) {
                    return Some("1".into());
                }
                let before = self.connections.len();
                self.connections.retain(|one| one.id != victim);
                (before - self.connections.len()).to_string()
            }
            ["SET", key, token, "NX", "PX", life] => {
                if self.get(now, key).is_some() {
                    return Some("nil".into());
                }
                self.set(now, key, token, millis(life));
                "ok".into()
            }
            ["PTTL", key] => match self.get(now, key) {
                Some(_) => self.life(now, key).to_string(),
                None => "-2".into(),
            },
            ["EVALSHA", script, ..] if !self.scripts.contains(script) => {
                "-NOSCRIPT No matching script.".into()
            }
            // Whoever may not publish tells nobody.
            ["PUBLISH", ..] => "-NOPERM no".into(),
            ["EVAL", script, ..] => {
                self.scripts.insert(script.to_owned());
                self.run(now, &words[1..])
            }
            ["EVALSHA", ref call @ ..] => self.run(now, call),
            _ => panic!("{} does not know {command}", self.name),
        })
    }
}
