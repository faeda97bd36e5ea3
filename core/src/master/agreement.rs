//! Settings that all clients of the same masters must share, agreed through the masters.
//!
//! A client that allows a ttl of ten minutes breaks the restart guard if another one waits only
//! thirty seconds for a restarted master. Two clients whose lists of masters have no list in common
//! can win at the same time. So each handshake, and each heartbeat after it, notes this client's
//! settings at the master. It notes nothing if another live client has different settings: then the
//! two disagree, and this one does not use the master. [`crate::quorum::agreement`] decides what
//! follows from that.
//!
//! A note protects what is sent on it. So it is brief until the client's first round, which sends the
//! question that prolongs it ahead of its commands, and a client that ends takes its own part of the
//! note back.

use super::Fault;
use crate::quorum::{FencingWindow, ForeignList, Instant, LONGEST_SILENCE, NodeSet, Numbers};
use crate::report::Difference;
use crate::wire::{self, Reply};
use std::sync::Arc;
use std::time::Duration;

/// The name of a client that has none.
const NO_NAME: &str = "-";

/// The settings that are compared as numbers, as they are noted at a master.
const NUMBERS: [&str; 3] = ["max_ttl", "window back", "window ahead"];

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
    /// How long a client's note lasts after its last confirmation, once it has begun a round.
    pub life: Duration,
    /// How long it lasts before that: nothing was sent on it.
    pub brief: Duration,
}

/// The shared settings, and the command that confirms them at a master.
#[derive(Clone, Debug)]
pub struct Agreement {
    shared: SharedSettings,
    /// This client only looks.
    pub(crate) looks: bool,
    #[cfg(any(test, feature = "testing"))]
    pub(crate) taken_back: Option<super::Rule>,
}

/// A master's report on the other clients' settings.
pub(crate) enum Outcome {
    /// All other clients have the same settings, and ours are noted.
    Agreed,
    /// All other clients have the same settings, and nothing was noted: this client only looks.
    Alike,
    /// Other clients have different settings. Nothing was noted.
    Disagrees(Report),
    /// An error: the question remains open.
    Error(Fault),
    Unreadable,
}

/// A master's report on clients with different settings.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// The whole report, for people.
    pub(crate) cause: Arc<str>,
    /// The lists of each client that has no list in common with this one.
    pub(crate) clients: Vec<Vec<ForeignList>>,
    /// The other clients' numbers, which are all the same at one master.
    pub(crate) theirs: Numbers,
    /// When the first part of the report lapses at the master, unless a client confirms it again.
    pub(crate) lapses: Instant,
    /// The report counts until then, unless the master says more.
    pub(crate) until: Instant,
}

impl Agreement {
    /// Creates the agreement of a client, which notes its settings. One that only `looks` is shown the settings
    /// of the others and notes nothing.
    pub const fn new(shared: SharedSettings, looks: bool) -> Self {
        Self {
            shared,
            looks,
            #[cfg(any(test, feature = "testing"))]
            taken_back: None,
        }
    }

    #[cfg(test)]
    pub(crate) const fn shared(&self) -> &SharedSettings {
        &self.shared
    }

    /// Packs the question. `is_brief`: nothing was ever sent on the client's note. `whose` are the client's name,
    /// drawn at random, the server process that is asked, as it has named itself on this connection, and the one
    /// that the client met before under this address; what is not known is empty. A client without a name cannot
    /// take its note back.
    pub fn question(&self, is_brief: bool, mut whose: [&str; 3]) -> Vec<u8> {
        let shared = &self.shared;
        let life = match (self.looks, is_brief) {
            (true, _) => Duration::ZERO,
            (false, true) => shared.brief,
            (false, false) => shared.life,
        };
        if whose[0].is_empty() {
            whose[0] = NO_NAME;
        }
        let life = wire::millis(life);
        wire::agree(&shared.key, life, &shared.texts(), whose, &shared.lists())
    }

    /// Packs the command that takes back what `client` has noted, except for the time that its keys
    /// have `left`.
    pub(crate) fn withdrawal(&self, client: &str, left: Duration) -> Vec<u8> {
        let left = wire::Millis::rounded_up(left);
        wire::withdraw(&self.shared.key, client, left, &self.shared.lists())
    }

    pub(crate) const fn numbers(&self) -> Numbers {
        Numbers { max_ttl: self.shared.max_ttl, window: self.shared.window }
    }

    /// Reads the master's answer to the question. Returns also whether the server process that the client met before
    /// is noted there: it has kept its memory since.
    pub(crate) fn read(&self, now: Instant, reply: &Reply) -> (Outcome, bool) {
        match reply {
            Reply::Array(parts) => match parts.as_slice() {
                [Reply::Int(ends), Reply::Int(remembers), rest @ ..] => {
                    let outcome = match (rest, ends) {
                        ([], 0) => Outcome::Alike,
                        ([], _) => Outcome::Agreed,
                        _ => self.report(now, rest).map_or(Outcome::Unreadable, Outcome::Disagrees),
                    };
                    (outcome, *remembers != 0)
                }
                _ => (Outcome::Unreadable, false),
            },
            denied if denied.is_denied() => {
                let (error, key) = (denied.unexpected(), &self.shared.key);
                let needed = format!("{error}: EVAL on the key {key} is needed");
                (Outcome::Error(Fault::rejected(needed)), false)
            }
            other => (Outcome::Error(Fault::down(other.unexpected())), false),
        }
    }

    /// Reads every difference: its field, the value noted at the master, and the ms until it
    /// lapses.
    fn report(&self, now: Instant, parts: &[Reply]) -> Option<Report> {
        let mut report = Report {
            cause: "".into(),
            clients: Vec::new(),
            theirs: self.numbers(),
            lapses: now.after(Duration::MAX),
            until: now.after(LONGEST_SILENCE),
        };
        let mut causes = Vec::new();
        for difference in parts.chunks(3) {
            let [field, theirs, Reply::Int(left)] = difference else { return None };
            let (field, theirs) = (field.text()?, theirs.text()?);
            let left = Duration::from_millis(left.unsigned_abs());
            report.lapses = report.lapses.min(now.after(left));
            report.until = report.until.max(now.after(left));
            let number = theirs.parse().ok().map(Duration::from_millis);
            match (field, number) {
                ("lists", _) => report.clients.push(self.shared.foreign(theirs)),
                ("max_ttl", Some(max_ttl)) => report.theirs.max_ttl = max_ttl,
                ("window back", Some(back)) => report.theirs.window.back = back,
                ("window ahead", Some(ahead)) => report.theirs.window.ahead = ahead,
                _ => {}
            }
            let difference = Difference::new(field, theirs, left, &self.shared);
            causes.push(format!("{difference}: {}", difference.remedy()));
        }
        report.cause = causes.join("; ").into();
        Some(report)
    }
}

impl SharedSettings {
    /// Returns the numbers as they are compared: in milliseconds.
    fn texts(&self) -> [u64; 3] {
        [self.max_ttl, self.window.back, self.window.ahead].map(wire::millis)
    }

    /// Compares another client's lists, as it has noted them, with our masters.
    fn foreign(&self, lists: &str) -> Vec<ForeignList> {
        let foreign = |list: &str| {
            let names: Vec<&str> = list.split(' ').collect();
            let ours = NodeSet::places(&self.masters, |master| names.contains(&&**master));
            ForeignList { len: names.len(), ours }
        };
        lists.split('\n').map(foreign).collect()
    }

    /// Returns each list as one word, independent of the order of its masters and of the lists.
    pub(crate) fn lists(&self) -> Vec<String> {
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
        let (_, ours) = NUMBERS.iter().zip(self.texts()).find(|(name, _)| **name == field)?;
        (ours.to_string() != value).then(|| Difference::new(field, value, left, self))
    }
}
