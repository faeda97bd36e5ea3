//! The questions to each master, and its answers.

use super::{FindingKind, Right};
use quorumlock_core::coordinator::wire::{self, Ballot, Claim, Packer, Reply, Token, Way};
use quorumlock_core::coordinator::{Agreement, Keys, Terms};
use quorumlock_core::quorum::Window;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The script that tries the calls of the crate's scripts, one by one.
const SURVEY: &str = include_str!("survey.lua").trim_ascii_end();

/// One command; they are sent in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Question {
    InfoServer,
    InfoReplication,
    InfoMemory,
    InfoPersistence,
    ConfigMemory,
    ConfigAppend,
    Kill,
    Survey,
    LoadAcquire,
    LoadExtend,
    Set,
    Pttl,
    Extend,
    Release,
    DeleteIfEqual,
    AcquireAll,
    ReleaseAll,
    Agree,
    Noted,
    NotedLife,
    Clear,
    Publish,
    Subscribe,
}

/// The answers of one master.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) hello: Option<Reply>,
    pub(super) answers: BTreeMap<Question, Reply>,
    /// The quickest answer to `TIME`.
    pub(super) time: Option<TimeSample>,
    /// The reason why there are no more.
    pub(super) ended: Option<FindingKind>,
}

/// An answer to `TIME`.
pub(super) struct TimeSample {
    /// Our clock when it was asked, since 1970.
    pub(super) asked_at: Duration,
    pub(super) round_trip: Duration,
    pub(super) reply: Reply,
}

/// The subject of the questions: our terms, and keys that belong to no other client.
#[derive(Clone)]
pub(super) struct Subject {
    terms: Terms,
    /// The key of a plain lock.
    key: Arc<str>,
    /// The beginning of its channel: the master's database is in it.
    channels: Arc<str>,
}

impl Question {
    pub(super) const ALL: [Self; 23] = [
        Self::InfoServer,
        Self::InfoReplication,
        Self::InfoMemory,
        Self::InfoPersistence,
        Self::ConfigMemory,
        Self::ConfigAppend,
        Self::Kill,
        Self::Survey,
        Self::LoadAcquire,
        Self::LoadExtend,
        Self::Set,
        Self::Pttl,
        Self::Extend,
        Self::Release,
        Self::DeleteIfEqual,
        Self::AcquireAll,
        Self::ReleaseAll,
        Self::Agree,
        Self::Noted,
        Self::NotedLife,
        Self::Clear,
        Self::Publish,
        Self::Subscribe,
    ];

    pub(super) const fn right(self) -> Right {
        match self {
            Self::InfoServer | Self::InfoReplication | Self::InfoMemory | Self::InfoPersistence => {
                Right::Info
            }
            Self::ConfigMemory | Self::ConfigAppend => Right::ConfigGet,
            Self::Kill => Right::ClientKill,
            Self::LoadAcquire | Self::LoadExtend => Right::ScriptLoad,
            Self::Set => Right::Set,
            Self::Pttl | Self::NotedLife => Right::Pttl,
            Self::Extend | Self::AcquireAll => Right::EvalSha,
            Self::Survey | Self::Release | Self::ReleaseAll | Self::Agree => Right::Eval,
            Self::DeleteIfEqual => Right::DelIfEq,
            Self::Noted => Right::Hgetall,
            Self::Clear => Right::Del,
            Self::Publish => Right::Publish,
            Self::Subscribe => Right::Subscribe,
        }
    }

    /// Returns the command, under a token of our own. Each is what the crate sends otherwise, so
    /// that a script is denied here if it would be denied there. The extension finds the key and
    /// prolongs it; the releases delete theirs. What other clients have recorded is read and not
    /// touched.
    pub(super) fn command(self, subject: &Subject, token: &Token) -> Vec<u8> {
        let Subject { terms, key, channels } = subject;
        match self {
            Self::InfoServer => wire::info("server"),
            Self::InfoReplication => wire::info("replication"),
            Self::InfoMemory => wire::info("memory"),
            Self::InfoPersistence => wire::info("persistence"),
            Self::ConfigMemory => wire::config_get("maxmemory*"),
            Self::ConfigAppend => wire::config_get("*append*"),
            Self::Kill => wire::kill(NOBODY),
            Self::Survey => {
                pack(redis::cmd("EVAL").arg(SURVEY).arg(1).arg(&*subject.part("survey")))
            }
            Self::LoadAcquire => wire::load(wire::ACQUIRE),
            Self::LoadExtend => wire::load(wire::EXTEND),
            Self::Set => subject.plain(token, LIFE).acquire(&mut Packer::new(None)).to_vec(),
            Self::Pttl => wire::pttl(key),
            Self::Extend => {
                subject.plain(token, LONGER_LIFE).extend(&mut Packer::new(None)).to_vec()
            }
            Self::Release => {
                subject.plain(token, LIFE).release(&mut Packer::new(None), Way::Full).to_vec()
            }
            // The key is gone by then: this only asks whether our user may.
            Self::DeleteIfEqual => {
                subject.plain(token, LIFE).release(&mut Packer::new(None), Way::Native).to_vec()
            }
            Self::AcquireAll => subject.fenced(token).acquire(&mut Packer::new(None)).to_vec(),
            Self::ReleaseAll => {
                subject.fenced(token).release(&mut Packer::new(None), Way::Full).to_vec()
            }
            Self::Agree => {
                let key = subject.part("agreement").to_string();
                Agreement::new(Terms { key, life: LIFE, ..terms.clone() }).question().to_vec()
            }
            Self::Noted => pack(redis::cmd("HGETALL").arg(&terms.key)),
            Self::NotedLife => wire::pttl(&terms.key),
            // What releases leave on purpose, or for want of a right.
            Self::Clear => {
                let parts = ["fence", "fenced", "agreement"].map(|part| subject.part(part));
                let mut clear = redis::cmd("DEL");
                clear.arg(&**key);
                parts.iter().for_each(|key| _ = clear.arg(&**key));
                pack(&clear)
            }
            Self::Publish => Packer::new(None).publish(channels, key).to_vec(),
            // Last: from here on messages may come in between.
            Self::Subscribe => wire::subscribe(channels, key),
        }
    }
}

impl Subject {
    /// Creates a subject whose keys all begin with `key`.
    pub(super) fn new(terms: Terms, key: Arc<str>) -> Self {
        Self { terms, key, channels: wire::channels(0) }
    }

    /// Returns the subject for a master that is asked in this database.
    pub(super) fn within(&self, database: i64) -> Self {
        Self { channels: wire::channels(database), ..self.clone() }
    }

    fn part(&self, name: &str) -> Arc<str> {
        format!("{}:{name}", self.key).into()
    }

    fn plain(&self, token: &Token, life: Duration) -> Claim {
        Claim { keys: Keys::one(self.key.clone()), token: *token, life: life.into(), ballot: None }
    }

    /// Returns a claim with the lowest ballot there is, and a window that it is within.
    fn fenced(&self, token: &Token) -> Claim {
        let fences = Keys::one(self.part("fence"));
        let window = Window { back: AGES, ahead: AGES };
        let ballot = Ballot { fences: fences.into(), number: 1, window, kept: LIFE };
        let keys = Keys::one(self.part("fenced"));
        Claim { keys, token: *token, life: LIFE.into(), ballot: Some(Box::new(ballot)) }
    }
}

impl Heard {
    pub(super) fn note_time(&mut self, sample: TimeSample) {
        if self.time.as_ref().is_none_or(|best| sample.round_trip < best.round_trip) {
            self.time = Some(sample);
        }
    }
}

impl TimeSample {
    /// Returns the time that the server's clock showed, since 1970.
    pub(super) fn shown(&self) -> Option<Duration> {
        let Reply::Array(parts) = &self.reply else { return None };
        let [seconds, micros] = &parts[..] else { return None };
        let number = |part: &Reply| part.text()?.parse::<u64>().ok();
        let micros = number(seconds)?.checked_mul(1_000_000)?.checked_add(number(micros)?)?;
        Some(Duration::from_micros(micros))
    }
}

pub(super) fn time() -> Vec<u8> {
    pack(&redis::cmd("TIME"))
}

fn pack(command: &redis::Cmd) -> Vec<u8> {
    command.get_packed_command()
}

/// The life of the keys if the connection is lost before they are deleted.
const LIFE: Duration = Duration::from_secs(1);
const LONGER_LIFE: Duration = Duration::from_secs(2);

/// The id of no client. It is not 0, which some servers (Redis 6.2) take as no id given: they would
/// kill every other client.
const NOBODY: i64 = i64::MAX;

/// More than any clock shows.
const AGES: Duration = Duration::from_micros(quorumlock_core::quorum::fence::GREATEST);
