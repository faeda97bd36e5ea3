//! A master that executes what it is sent, in order per connection.

use crate::quorum::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

struct Key {
    token: String,
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
    has_script: bool,
    pub(super) connections: Vec<Connection>,
}

impl Master {
    pub(super) fn new(node: usize) -> Self {
        Self {
            name: format!("n{}", node + 1),
            run: 0,
            next_id: 0,
            keys: BTreeMap::new(),
            has_script: false,
            connections: Vec::new(),
        }
    }

    pub(super) fn accept(&mut self) -> i64 {
        self.next_id += 1;
        self.connections.push(Connection { id: self.next_id, commands: VecDeque::new() });
        self.next_id
    }

    /// A new process with the keys of the old one; its ids start over.
    pub(super) fn restart(&mut self) {
        self.run += 1;
        self.next_id = 0;
        self.has_script = false;
        self.connections.clear();
    }

    pub(super) fn flush_scripts(&mut self) {
        self.has_script = false;
    }

    pub(super) fn connection(&mut self, id: i64) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|one| one.id == id)
    }

    /// The token that stands under `key`.
    pub(super) fn holder(&self, now: Instant, key: &str) -> Option<&str> {
        self.keys.get(key).filter(|one| one.expires > now).map(|one| one.token.as_str())
    }

    pub(super) fn all_keys(&self, now: Instant) -> Vec<String> {
        let live = self.keys.iter().filter(|(_, one)| one.expires > now);
        live.map(|(key, one)| format!("{key}={}", one.token)).collect()
    }

    /// Executes the next command of a connection; `None` if there is none.
    pub(super) fn execute(&mut self, now: Instant, id: i64) -> Option<String> {
        let command = self.connection(id)?.commands.pop_front()?;
        let words: Vec<&str> = command.split(' ').collect();
        let millis = |word: &str| Duration::from_millis(word.parse().expect("milliseconds"));
        Some(match words[..] {
            ["HELLO", ..] => format!("hello {id}"),
            ["INFO", "server"] => format!("server {}.{}", self.name, self.run),
            ["INFO", "memory"] => "memory".into(),
            ["INFO", _] => "master".into(),
            ["EVAL", "agree", ..] => "1".into(),
            ["SCRIPT", ..] => {
                self.has_script = true;
                "text c0ffee".into()
            }
            ["CLIENT", "KILL", "ID", victim] => {
                let victim: i64 = victim.parse().expect("an id");
                assert_ne!(victim, id, "{} is asked to kill the connection that asks", self.name);
                let before = self.connections.len();
                self.connections.retain(|one| one.id != victim);
                (before - self.connections.len()).to_string()
            }
            ["SET", key, token, "NX", "PX", ttl] => {
                if self.holder(now, key).is_some() {
                    return Some("nil".into());
                }
                let (token, expires) = (token.to_owned(), now.after(millis(ttl)));
                self.keys.insert(key.to_owned(), Key { token, expires });
                "ok".into()
            }
            ["PTTL", key] => match self.holder(now, key) {
                Some(_) => self.keys[key].expires.since(now).as_millis().to_string(),
                None => "-2".into(),
            },
            ["EVAL", "release", "1", key, token] => {
                if self.holder(now, key) == Some(token) {
                    self.keys.remove(key);
                    return Some("1".into());
                }
                "0".into()
            }
            ["EVALSHA", ..] if !self.has_script => "-NOSCRIPT No matching script.".into(),
            ["EVALSHA", "extend", "1", key, token, ttl] => match self.holder(now, key) {
                None => "0".into(),
                Some(holder) if holder != token => "-1".into(),
                Some(_) => {
                    let held = self.keys.get_mut(key).expect("the key");
                    held.expires = held.expires.max(now.after(millis(ttl)));
                    "1".into()
                }
            },
            _ => panic!("{} does not know {command}", self.name),
        })
    }
}
