//! The commands that take, keep and give back what one attempt claims.

use super::resp::Command;
use super::{Millis, Reply, Token, millis};
use crate::quorum::fence::micros;
use crate::quorum::{FencingWindow, NodeSet};
use crate::shared::label::TERM;
use crate::shared::{Keys, Label};
use sha1_smol::Sha1;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A claim on the keys of one attempt.
#[derive(Clone, Debug)]
pub struct Claim {
    pub keys: Keys,
    pub token: Token,
    /// How long the keys live.
    pub life: Millis,
    /// Boxed: most attempts have none, and each is moved from table to table.
    pub ballot: Option<Box<Ballot>>,
    /// In place of the packer's label.
    pub label: Option<Arc<Label>>,
    /// The nodes that do not count for an adopted lock: they may yet get a late SET of an earlier
    /// holder, or were warming up when it gave the lock away.
    pub unsettled: NodeSet,
}

/// The proposal of a fenced attempt.
#[derive(Clone, Debug)]
pub struct Ballot {
    /// The fence of each key.
    pub fences: Arc<Keys>,
    /// The token of the guard that has the attempt's hold, once it wins: the first number of its block, until
    /// the hold goes to another guard.
    pub number: u64,
    /// The end of the block. For most attempts it is the number: their hold has one guard.
    pub last: u64,
    /// The greatest number with which the attempt has asked any node for its keys. It is the end of the
    /// block, or that of a top-up, which may need a greater one. A release raises the fences to it.
    pub greatest: u64,
    pub window: FencingWindow,
    /// How long a fence is kept.
    pub kept: Duration,
}

impl Ballot {
    /// Returns whether the block has a number for another guard.
    pub(crate) const fn has_next(&self) -> bool {
        self.number < self.last
    }

    /// Returns what is proposed to a node: the number, how far it may be behind and ahead of the node's clock, in
    /// microseconds, and how many milliseconds a fence is kept.
    pub(super) fn proposal(&self) -> [u64; 4] {
        let FencingWindow { back, ahead } = self.window;
        [self.greatest, micros(back), micros(ahead), millis(self.kept)]
    }
}

/// A packer of the commands of claims, one after the other in the same room.
pub struct Packer {
    pub(super) room: Vec<u8>,
    /// The name of the holder, for clients that inspect a lock; it follows each token.
    pub(super) label: Option<Arc<str>>,
    /// The last release, with its token and its way: nearly all masters are sent the same.
    pub(super) release_room: Vec<u8>,
    pub(super) released: Option<(Token, Way)>,
    pub(super) hashes: Hashes,
}

/// The hashes by which scripts are called.
#[derive(Default)]
pub(super) struct Hashes(BTreeMap<&'static str, String>);

impl Hashes {
    pub(super) fn of(&mut self, script: &'static str) -> &str {
        self.0.entry(script).or_insert_with(|| Sha1::from(script).digest().to_string())
    }
}

impl Packer {
    pub fn new(label: Option<Arc<str>>) -> Self {
        let (room, release_room) = (Vec::new(), Vec::new());
        Self { room, label, release_room, released: None, hashes: Hashes::default() }
    }

    /// Notifies waiters for `key` that it is free, or what `message` says of it. They may be
    /// notified in vain.
    pub fn publish(&mut self, channels: &str, key: &str, message: &str) -> &[u8] {
        let command = Command::new(&mut self.room, 3).arg("PUBLISH");
        command.parts(&[channels.as_bytes(), key.as_bytes()]).arg(message).done()
    }
}

/// The way in which a server is asked to compare and delete. Its cost there is most of the cost of
/// a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// By the script, with its source: it works at once on a master that has just restarted.
    Full,
    /// By the hash of the script. The server may have forgotten it, and reports that: nothing was
    /// done.
    Hash,
    /// By the script that shortens the life of the keys, with its source: nothing is deleted before its
    /// time.
    Shorten,
    /// By a command of its own, for a single key without a fence.
    Native(Native),
}

/// The command by which a server compares and deletes by itself. Both do what the script does, in one
/// step, and answer with the number of deleted keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    /// `DELIFEQ key value` of Valkey 9, <https://valkey.io/commands/delifeq/>.
    DelIfEq,
    /// `DELEX key IFEQ value` of Redis 8.4, <https://redis.io/docs/latest/commands/delex/>.
    DelEx,
}

impl Native {
    /// Returns the command of the server that has answered HELLO like this, if it has one.
    pub fn of(hello: &Reply) -> Option<Self> {
        let mut numbers = hello.field("version")?.split('.').map(|number| number.parse::<u32>());
        let (major, minor) = (numbers.next()?.ok()?, numbers.next().and_then(Result::ok));
        match hello.field("server")? {
            "valkey" if major >= 9 => Some(Self::DelIfEq),
            "redis" if (major, minor.unwrap_or(0)) >= (8, 4) => Some(Self::DelEx),
            _ => None,
        }
    }

    /// Begins the command for this key; the value follows.
    pub(super) fn call<'a>(self, room: &'a mut Vec<u8>, key: &str) -> Command<'a> {
        match self {
            Self::DelIfEq => Command::new(room, 3).arg("DELIFEQ").arg(key),
            Self::DelEx => Command::new(room, 4).arg("DELEX").arg(key).arg("IFEQ"),
        }
    }
}

impl Claim {
    /// Appends the value under the keys, the same in all commands of the claim: they are compared by
    /// it.
    pub(super) fn sign<'a>(&self, command: Command<'a>, usual: Option<&str>) -> Command<'a> {
        command.token(self.token, self.behind_token(usual).as_deref())
    }

    /// Returns the value under the keys.
    #[cfg(any(test, feature = "testing"))]
    pub fn value(&self, usual: Option<&str>) -> String {
        let mut room = Vec::new();
        let packed = self.sign(Command::new(&mut room, 1), usual).done();
        let value = packed.split(|byte| *byte == b'\n').nth(2).unwrap_or_default();
        String::from_utf8_lossy(value.strip_suffix(b"\r").unwrap_or(value)).into_owned()
    }

    /// Returns what follows the token under the keys; `usual` is this client's label.
    pub fn behind_token<'a>(&'a self, usual: Option<&'a str>) -> Option<Cow<'a, str>> {
        let Some(label) = self.label.as_deref() else { return usual.map(Cow::from) };
        let text = label.text();
        match &self.ballot {
            Some(ballot) if label.is_candidate() => {
                Some(format!("{text}{TERM}{}", ballot.number).into())
            }
            _ => Some(text).filter(|text| !text.is_empty()).map(Cow::from),
        }
    }
}
