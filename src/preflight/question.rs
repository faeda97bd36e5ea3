//! What is asked of each master, and what it said.

use super::{FindingKind, Right};
use crate::coordinator::wire::{self, Claim, Hashes};
use bytes::Bytes;
use redis::Value;
use std::collections::BTreeMap;
use std::time::Duration;

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
    ScriptTime,
    Load,
    Set,
    Pttl,
    Extend,
    Release,
    Publish,
    Subscribe,
}

/// What one master said.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) hello: Option<Value>,
    pub(super) answers: BTreeMap<Question, Value>,
    /// The quickest answer to `TIME`.
    pub(super) time: Option<TimeSample>,
    /// Why there is no more.
    pub(super) ended: Option<FindingKind>,
}

/// An answer to `TIME`.
pub(super) struct TimeSample {
    /// Our clock when it was asked, since 1970.
    pub(super) asked_at: Duration,
    pub(super) round_trip: Duration,
    pub(super) reply: Value,
}

impl Question {
    pub(super) const ALL: [Self; 15] = [
        Self::InfoServer,
        Self::InfoReplication,
        Self::InfoMemory,
        Self::InfoPersistence,
        Self::ConfigMemory,
        Self::ConfigAppend,
        Self::Kill,
        Self::ScriptTime,
        Self::Load,
        Self::Set,
        Self::Pttl,
        Self::Extend,
        Self::Release,
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
            Self::ScriptTime => Right::ScriptTime,
            Self::Load => Right::ScriptLoad,
            Self::Set => Right::Set,
            Self::Pttl => Right::Pttl,
            Self::Extend => Right::EvalSha,
            Self::Release => Right::Eval,
            Self::Publish => Right::Publish,
            Self::Subscribe => Right::Subscribe,
        }
    }

    /// The command, about a key of our own under a token of our own. Each is what the crate sends
    /// otherwise, so that a script is denied here if it would be there. The extension finds the
    /// key and prolongs it, the release deletes it.
    pub(super) fn command(self, key: &str, token: &str) -> Bytes {
        match self {
            Self::InfoServer => wire::info("server"),
            Self::InfoReplication => wire::info("replication"),
            Self::InfoMemory => wire::info("memory"),
            Self::InfoPersistence => wire::info("persistence"),
            Self::ConfigMemory => config("maxmemory*"),
            Self::ConfigAppend => config("append*"),
            // The ids of clients begin at 1: nobody is killed.
            Self::Kill => wire::kill(0),
            Self::ScriptTime => pack(redis::cmd("EVAL").arg("return redis.call('TIME')").arg(0)),
            Self::Load => wire::load(wire::EXTEND),
            Self::Set => claim(key, token, LIFE).acquire(&Hashes::new()),
            Self::Pttl => wire::pttl(key),
            Self::Extend => claim(key, token, LONGER_LIFE).extend(&Hashes::new()),
            Self::Release => claim(key, token, LIFE).release(),
            Self::Publish => pack(redis::cmd("PUBLISH").arg(key).arg("")),
            // Last: from here on messages may come in between.
            Self::Subscribe => pack(redis::cmd("SUBSCRIBE").arg(key)),
        }
    }
}

impl Heard {
    /// Whether the key was set and, as far as we know, not deleted: where scripts are denied.
    pub(super) fn left_a_key(&self) -> bool {
        matches!(self.answers.get(&Question::Set), Some(Value::Okay))
            && !matches!(self.answers.get(&Question::Release), Some(Value::Int(_)))
    }

    pub(super) fn note_time(&mut self, sample: TimeSample) {
        if self.time.as_ref().is_none_or(|best| sample.round_trip < best.round_trip) {
            self.time = Some(sample);
        }
    }
}

pub(super) fn time() -> Bytes {
    pack(&redis::cmd("TIME"))
}

fn claim(key: &str, token: &str, life: Duration) -> Claim {
    Claim { keys: key.into(), token: token.to_owned(), life, ballot: None }
}

pub(super) fn delete(key: &str) -> Bytes {
    pack(redis::cmd("DEL").arg(key))
}

fn config(pattern: &str) -> Bytes {
    pack(redis::cmd("CONFIG").arg("GET").arg(pattern))
}

fn pack(command: &redis::Cmd) -> Bytes {
    command.get_packed_command().into()
}

/// How long the key lives if the connection is lost before it is deleted.
const LIFE: Duration = Duration::from_secs(1);
const LONGER_LIFE: Duration = Duration::from_secs(2);
