//! Settings that all clients of the same masters must share, agreed through the masters.
//!
//! A client that allows a ttl of ten minutes breaks the restart guard if another one waits only
//! thirty seconds for a restarted master. Two clients whose lists of masters have no list in common
//! can win at the same time. So each handshake, and each heartbeat after it, notes this client's
//! settings at the master. It notes nothing if another live client has different settings: then the
//! two disagree, and this one does not use the master. [`crate::quorum::agreement`] decides what
//! follows from that.

mod difference;

pub use difference::Difference;

use super::fault::Fault;
use super::wire::{self, Reply};
use crate::quorum::{FencingWindow, ForeignList, Instant, LONGEST_SILENCE, Numbers};
use std::sync::Arc;
use std::time::Duration;

/// The settings of a client that all clients of the same masters must share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedSettings {
    /// The key under which clients agree.
    pub key: String,
    pub max_ttl: Duration,
    pub window: FencingWindow,
    /// The names of all masters, in node order.
    pub masters: Vec<Arc<str>>,
    /// The names of the masters of each list.
    pub lists: Vec<Vec<Arc<str>>>,
    /// How long a client's note lasts after its last confirmation.
    pub life: Duration,
}

/// The shared settings, and the command that confirms them at a master.
#[derive(Clone, Debug)]
pub struct Agreement {
    shared: SharedSettings,
    looks: bool,
    question: Vec<u8>,
    #[cfg(any(test, feature = "testing"))]
    pub(super) taken_back: Option<super::Rule>,
}

/// A master's answer to the question.
pub(super) enum Said {
    /// All other clients have the same settings, and ours are noted until `ends`, on the master's
    /// clock. The note lasted until `before`, which is zero the first time.
    Agreed {
        ends: u64,
        before: u64,
        memory: Duration,
    },
    /// All other clients have the same settings, and nothing was noted: this client only looks.
    Alike {
        memory: Duration,
    },
    /// Other clients have different settings. Nothing was noted.
    Told {
        told: Told,
        memory: Duration,
    },
    /// An error: the question remains open.
    Error(Fault),
    Unreadable,
}

/// A master's report on clients with different settings.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The whole report, for people.
    pub(super) cause: Arc<str>,
    /// The lists of each client that has no list in common with this one.
    pub(super) clients: Vec<Vec<ForeignList>>,
    /// The other clients' numbers, which are all the same at one master.
    pub(super) theirs: Numbers,
    /// When the first part of the report lapses at the master, unless a client confirms it again.
    pub(super) lapses: Instant,
    /// The report counts until then, unless the master says more.
    pub(super) until: Instant,
}

impl Agreement {
    /// Creates the agreement of a client that acquires: it notes its settings.
    pub fn new(shared: SharedSettings) -> Self {
        let life = wire::millis(shared.life);
        Self::asking(shared, life)
    }

    /// Creates the agreement of a client that only looks. It is shown the settings of the others
    /// and notes nothing.
    pub fn to_look(shared: SharedSettings) -> Self {
        Self::asking(shared, 0)
    }

    fn asking(shared: SharedSettings, life: u64) -> Self {
        let question = wire::agree(&shared.key, life, &shared.texts(), &shared.lists());
        Self {
            shared,
            looks: life == 0,
            question,
            #[cfg(any(test, feature = "testing"))]
            taken_back: None,
        }
    }

    #[cfg(test)]
    pub(super) const fn shared(&self) -> &SharedSettings {
        &self.shared
    }

    /// Returns whether this client only looks.
    pub(super) const fn is_look(&self) -> bool {
        self.looks
    }

    pub fn question(&self) -> &[u8] {
        &self.question
    }

    /// Packs the command that takes back a note that only this client made, and that lasts until
    /// `ends`.
    pub(super) fn withdrawal(&self, ends: u64) -> Vec<u8> {
        wire::withdraw(&self.shared.key, ends, &self.shared.lists())
    }

    /// Returns how long a note lasts.
    pub(super) const fn life(&self) -> Duration {
        self.shared.life
    }

    pub(super) const fn numbers(&self) -> Numbers {
        self.shared.numbers()
    }

    /// Reads the master's answer to the question.
    pub(super) fn said(&self, now: Instant, reply: &Reply) -> Said {
        match reply {
            Reply::Array(parts) => match parts.as_slice() {
                [Reply::Int(ends), Reply::Int(before), Reply::Int(memory), differences @ ..] => {
                    let [ends, before, memory] = [*ends, *before, *memory].map(i64::unsigned_abs);
                    let memory = Duration::from_millis(memory);
                    match (differences, ends) {
                        ([], 0) => Said::Alike { memory },
                        ([], _) => Said::Agreed { ends, before, memory },
                        _ => match self.told(now, differences) {
                            Some(told) => Said::Told { told, memory },
                            None => Said::Unreadable,
                        },
                    }
                }
                _ => Said::Unreadable,
            },
            denied if denied.is_denied() => {
                let (error, key) = (denied.unexpected(), &self.shared.key);
                let needed = format!("{error}: EVAL on the key {key} is needed");
                Said::Error(Fault::rejected(needed))
            }
            other => Said::Error(Fault::down(other.unexpected())),
        }
    }

    /// Reads every difference: its field, the value noted at the master, and the ms until it
    /// lapses.
    fn told(&self, now: Instant, parts: &[Reply]) -> Option<Told> {
        let mut told = Told {
            cause: "".into(),
            clients: Vec::new(),
            theirs: self.shared.numbers(),
            lapses: now.after(Duration::MAX),
            until: now.after(LONGEST_SILENCE),
        };
        let mut causes = Vec::new();
        for difference in parts.chunks(3) {
            let [field, theirs, Reply::Int(left)] = difference else { return None };
            let (field, theirs) = (field.text()?, theirs.text()?);
            let left = Duration::from_millis(left.unsigned_abs());
            told.lapses = told.lapses.min(now.after(left));
            told.until = told.until.max(now.after(left));
            let number = theirs.parse().ok().map(Duration::from_millis);
            match (field, number) {
                ("lists", _) => told.clients.push(self.shared.foreign(theirs)),
                ("max_ttl", Some(max_ttl)) => told.theirs.max_ttl = max_ttl,
                ("window back", Some(back)) => told.theirs.window.back = back,
                ("window ahead", Some(ahead)) => told.theirs.window.ahead = ahead,
                _ => {}
            }
            let difference = Difference::new(field, theirs, left, &self.shared);
            causes.push(format!("{difference}: {}", difference.remedy()));
        }
        told.cause = causes.join("; ").into();
        Some(told)
    }
}

impl SharedSettings {
    const fn numbers(&self) -> Numbers {
        Numbers { max_ttl: self.max_ttl, window: self.window }
    }

    /// Returns the numbers as they are compared: in milliseconds.
    fn texts(&self) -> [u64; 3] {
        [self.max_ttl, self.window.back, self.window.ahead].map(wire::millis)
    }

    /// Compares another client's lists, as it has noted them, with our masters.
    fn foreign(&self, lists: &str) -> Vec<ForeignList> {
        let foreign = |list: &str| {
            let names: Vec<&str> = list.split(' ').collect();
            let places = self.masters.iter().enumerate();
            let ours = places.filter(|(_, master)| names.contains(&&***master));
            ForeignList { len: names.len(), ours: ours.map(|(place, _)| place).collect() }
        };
        lists.split('\n').map(foreign).collect()
    }

    /// Returns each list as one word, independent of the order of its masters and of the lists.
    fn lists(&self) -> Vec<String> {
        let word = |list: &Vec<Arc<str>>| {
            let mut names: Vec<&str> = list.iter().map(|name| &**name).collect();
            names.sort_unstable();
            names.join(" ")
        };
        let mut lists: Vec<String> = self.lists.iter().map(word).collect();
        lists.sort_unstable();
        lists
    }

    /// Returns every difference that the script would report for `noted` at a master (the reply to
    /// `HGETALL`), without noting anything. The note lapses in `left`, and the master's clock shows
    /// `now`.
    pub fn differences(&self, noted: &Reply, left: Duration, now: Duration) -> Vec<Difference> {
        let Reply::Map(fields) = noted else { return Vec::new() };
        let texts = fields.iter().filter_map(|(f, v)| Some((f.text()?, v.text()?)));
        texts.filter_map(|(field, value)| self.difference(field, value, left, now)).collect()
    }

    fn difference(
        &self,
        field: &str,
        value: &str,
        left: Duration,
        now: Duration,
    ) -> Option<Difference> {
        if let Some(theirs) = field.strip_prefix("lists\n") {
            let theirs = theirs.trim_end_matches('\n');
            let ours = self.lists();
            let common = theirs.split('\n').any(|list| ours.iter().any(|other| other == list));
            let until = Duration::from_millis(value.parse().unwrap_or(0));
            let lives = !common && until > now;
            let left = until.saturating_sub(now);
            return lives.then(|| Difference::new("lists", theirs, left, self));
        }
        let [max_ttl, back, ahead] = self.texts().map(|number| number.to_string());
        let ours = match field {
            "max_ttl" => max_ttl,
            "window back" => back,
            "window ahead" => ahead,
            _ => return None,
        };
        (ours != value).then(|| Difference::new(field, value, left, self))
    }
}
