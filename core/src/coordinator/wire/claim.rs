//! The commands that take, keep and give back what one attempt claims.

mod turns;

pub(in crate::coordinator) use turns::PLACE_LIVES;
pub use turns::{Leaves, Place};

use super::resp::Command;
use super::{
    ACQUIRE, ACQUIRE_READ, ASK, EXTEND, EXTEND_READ, LEAVE, Millis, RELEASE, RELEASE_ALL,
    RELEASE_READ, SHORTEN, TOP_UP, Token, millis,
};
use crate::coordinator::label::{Label, TERM};
use crate::coordinator::{Keys, ReadWrite};
use crate::quorum::fence::micros;
use crate::quorum::{FencingWindow, NodeSet};
use sha1_smol::Sha1;
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
    /// The place from which it waits in turn, once it has one. Boxed, as the ballot is.
    pub place: Option<Box<Place>>,
}

/// The proposal of a fenced attempt.
#[derive(Clone, Debug)]
pub struct Ballot {
    /// The fence of each key.
    pub fences: Arc<Keys>,
    /// The token of the attempt, if it wins.
    pub number: u64,
    /// The greatest number with which the attempt has asked any node for its keys: a top-up may need
    /// a greater one than the token. A release raises the fences to it.
    pub greatest: u64,
    pub window: FencingWindow,
    /// How long a fence is kept.
    pub kept: Duration,
}

/// A packer of the commands of claims, one after the other in the same room.
pub struct Packer {
    room: Vec<u8>,
    /// The name of the holder, for clients that inspect a lock; it follows each token.
    label: Option<Arc<str>>,
    /// The last release, with its token and its way: nearly all masters are sent the same.
    release_room: Vec<u8>,
    released: Option<(Token, Way)>,
    /// The hashes by which the scripts of the handshake are called.
    acquire: String,
    extend: String,
    /// The hashes of the release scripts.
    release: String,
    release_all: String,
    /// The hashes of the scripts of readers.
    acquire_read: String,
    extend_read: String,
    release_read: String,
    /// Those of clients that wait in turn.
    ask: String,
    leave: String,
}

impl Packer {
    /// Notifies those who wait for `key` that it is free, or what `message` says of it. They may be
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
    /// By a command of its own, for a single key without a fence: `DELIFEQ` of Valkey 9,
    /// <https://valkey.io/commands/delifeq/>.
    Native,
}

impl Way {
    /// Appends the call of a script, as far as the script: by its hash, or with its source.
    fn call<'a>(self, command: Command<'a>, hash: &str, source: &str) -> Command<'a> {
        match self {
            Self::Hash => command.arg("EVALSHA").arg(hash),
            Self::Native | Self::Full | Self::Shorten => command.arg("EVAL").arg(source),
        }
    }
}

impl Packer {
    pub fn new(label: Option<Arc<str>>) -> Self {
        let hash = |script| Sha1::from(script).digest().to_string();
        Self {
            room: Vec::new(),
            label,
            release_room: Vec::new(),
            released: None,
            acquire: hash(ACQUIRE),
            extend: hash(EXTEND),
            release: hash(RELEASE),
            release_all: hash(RELEASE_ALL),
            acquire_read: hash(ACQUIRE_READ),
            extend_read: hash(EXTEND_READ),
            release_read: hash(RELEASE_READ),
            ask: hash(ASK),
            leave: hash(LEAVE),
        }
    }
}

impl Claim {
    /// Packs an acquire. One key without a ballot is `SET key token NX PX life`, the plain layout,
    /// so that other Redlock clients exclude us and we exclude them.
    pub fn acquire<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        let life = self.life;
        match (self.keys.as_reader(), self.keys.queue(), self.place.as_deref()) {
            (Some(beside), ..) => self.acquire_read(packer, life, beside, false),
            (None, Some(queue), Some(place)) => self.ask(packer, queue, *place, true),
            _ if self.is_one_without_a_fence() => self.set(packer, life),
            _ => self.acquire_all(packer, life, false),
        }
    }

    /// Packs a top-up, for a node that has lost the keys of a lock that is held: they live for
    /// `life`. Its ballot was won long ago: how far it is behind the node's clock does not matter. It
    /// only has to be above the fence there, as for a late acquire: one that arrives behind the
    /// release of the lock sets nothing.
    pub fn top_up<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        match self.keys.as_reader() {
            Some(beside) => self.acquire_read(packer, life, beside, true),
            None if self.is_one_without_a_fence() => {
                let Packer { room, label, .. } = packer;
                let command = Command::new(room, 6).arg("EVAL").arg(TOP_UP).number(1);
                let command = command.arg(&**self.keys.first());
                self.sign(command, label.as_deref()).number(life.0).done()
            }
            None => self.acquire_all(packer, life, true),
        }
    }

    /// Packs an extension, after which the keys live for `life`, or for as long as before.
    pub fn extend<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        let Packer { room, extend, extend_read, label, .. } = packer;
        if let Some(beside) = self.keys.as_reader() {
            let command = Command::new(room, 3 + 2 + 2).arg("EVALSHA").arg(extend_read).number(2);
            let command = command.keys([self.keys.first(), &beside.readers].into_iter());
            return self.sign(command, label.as_deref()).number(life.0).done();
        }
        let command = Command::new(room, 3 + self.keys.len() + 2).arg("EVALSHA").arg(extend);
        let command = command.number(self.keys.len() as u64).keys(self.keys.iter());
        self.sign(command, label.as_deref()).number(life.0).done()
    }

    /// Packs the end of work that has ended well: from now on the keys live for `life`, marked, or are
    /// deleted if that is nothing.
    pub fn shorten<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        let Packer { room, label, .. } = packer;
        let command = Command::new(room, 3 + self.keys.len() + 2).arg("EVAL").arg(SHORTEN);
        let command = command.number(self.keys.len() as u64).keys(self.keys.iter());
        self.sign(command, label.as_deref()).number(life.0).done()
    }

    /// Packs the release of a reader. The script announces on `channels` that there are no readers any more.
    pub fn release_read<'a>(
        &self,
        packer: &'a mut Packer,
        beside: &ReadWrite,
        way: Way,
        channels: Option<&str>,
    ) -> &'a [u8] {
        let Packer { room, release_read, label, .. } = packer;
        let command = Command::new(room, 3 + 2 + 1 + usize::from(channels.is_some()));
        let command = way.call(command, release_read, RELEASE_READ);
        let command = command.number(2).keys([self.keys.first(), &beside.readers].into_iter());
        let command = self.sign(command, label.as_deref());
        channels.into_iter().fold(command, Command::arg).done()
    }

    /// Packs a compare-and-delete.
    pub fn release<'a>(&self, packer: &'a mut Packer, way: Way) -> &'a [u8] {
        let Packer { release_room: room, released, release, release_all, label, .. } = packer;
        if released.replace((self.token, way)) == Some((self.token, way)) {
            return room;
        }
        if way == Way::Native && self.is_plain() {
            let command = Command::new(room, 3).arg("DELIFEQ").arg(&**self.keys.first());
            return self.sign(command, label.as_deref()).done();
        }
        let (script, hash) = match self.is_plain() {
            true => (RELEASE, release),
            false => (RELEASE_ALL, release_all),
        };
        let more = if self.ballot.is_some() { 3 } else { 0 };
        let command = Command::new(room, 3 + self.named() + 1 + more);
        let command = way.call(command, hash, script);
        let command = self.sign(self.name(command), label.as_deref());
        self.raise_fence(command)
    }

    /// Appends the value under the keys, the same in all commands of the claim: they are compared by
    /// it.
    fn sign<'a>(&self, command: Command<'a>, usual: Option<&str>) -> Command<'a> {
        let Some(label) = self.label.as_deref() else { return command.token(self.token, usual) };
        match &self.ballot {
            Some(ballot) if label.is_candidate() => {
                command.candidate(self.token, label.text(), TERM, ballot.number)
            }
            _ => command.token(self.token, Some(label.text()).filter(|text| !text.is_empty())),
        }
    }

    /// Returns the value under the keys.
    #[cfg(any(test, feature = "testing"))]
    pub fn value(&self, usual: Option<&str>) -> String {
        let mut room = Vec::new();
        let packed = self.sign(Command::new(&mut room, 1), usual).done();
        let value = packed.split(|byte| *byte == b'\n').nth(2).unwrap_or_default();
        String::from_utf8_lossy(value.strip_suffix(b"\r").unwrap_or(value)).into_owned()
    }

    pub fn is_plain(&self) -> bool {
        self.is_one_without_a_fence()
            && self.keys.as_reader().is_none()
            && self.keys.queue().is_none()
    }

    /// Returns whether a single key is locked, with or without others beside it, and no fence is set.
    fn is_one_without_a_fence(&self) -> bool {
        self.ballot.is_none() && self.keys.len() == 1
    }

    /// Returns whether an acquire has to ask for the life and the holder of the key that refuses it,
    /// since the refusal does not name them.
    pub fn looks(&self) -> bool {
        let is_set = self.place.is_none() && self.is_one_without_a_fence();
        is_set || self.keys.as_reader().is_some()
    }

    /// Returns what follows the token under the keys; `usual` is this client's label.
    pub fn behind_token(&self, usual: Option<&Arc<str>>) -> Option<Arc<str>> {
        let Some(label) = self.label.as_deref() else { return usual.cloned() };
        let text = label.text();
        match &self.ballot {
            Some(ballot) if label.is_candidate() => {
                Some(format!("{text}{TERM}{}", ballot.number).into())
            }
            _ => Some(text).filter(|text| !text.is_empty()).map(Into::into),
        }
    }

    fn set<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        let Packer { room, label, .. } = packer;
        let command = Command::new(room, 6).arg("SET").arg(&**self.keys.first());
        self.sign(command, label.as_deref()).arg("NX").arg("PX").number(life.0).done()
    }

    fn acquire_read<'a>(
        &self,
        packer: &'a mut Packer,
        life: Millis,
        ReadWrite { readers, hint }: &ReadWrite,
        was_let_in: bool,
    ) -> &'a [u8] {
        let Packer { room, acquire_read, label, .. } = packer;
        let command = Command::new(room, 3 + 3 + 3).arg("EVALSHA").arg(acquire_read).number(3);
        let command = command.keys([self.keys.first(), readers, hint].into_iter());
        self.sign(command, label.as_deref()).number(life.0).number(was_let_in.into()).done()
    }

    fn acquire_all<'a>(&self, packer: &'a mut Packer, life: Millis, was_won: bool) -> &'a [u8] {
        let Packer { room, acquire, label, .. } = packer;
        let more = if self.ballot.is_some() { 4 } else { 0 };
        let command = Command::new(room, 3 + self.named() + 3 + more).arg("EVALSHA").arg(acquire);
        let command = self.sign(self.name(command), label.as_deref()).number(life.0);
        let command = command.number(was_won.into());
        self.propose(command)
    }

    /// Ends a command with the proposal, if there is one: the ballot, how far it may be behind and ahead
    /// of the node's clock, and how long a fence is kept.
    fn propose<'a>(&self, command: Command<'a>) -> &'a [u8] {
        let Some(Ballot { greatest, window, kept, .. }) = self.ballot.as_deref() else {
            return command.done();
        };
        let command = command.number(*greatest).number(micros(window.back));
        command.number(micros(window.ahead)).number(millis(*kept)).done()
    }

    /// Ends a command with what raises the fence, if there is one: the same, but for how far the ballot
    /// may be behind.
    fn raise_fence<'a>(&self, command: Command<'a>) -> &'a [u8] {
        let Some(Ballot { greatest, window, kept, .. }) = self.ballot.as_deref() else {
            return command.done();
        };
        command.number(*greatest).number(micros(window.ahead)).number(millis(*kept)).done()
    }

    /// Returns the number of keys that are passed to a script.
    fn named(&self) -> usize {
        self.keys.len() + self.ballot.as_ref().map_or(0, |ballot| ballot.fences.len())
    }

    /// Appends the number of keys and their names: those of the claim, then their fences.
    fn name<'a>(&self, command: Command<'a>) -> Command<'a> {
        let fences = self.ballot.iter().flat_map(|ballot| ballot.fences.iter());
        command.number(self.named() as u64).keys(self.keys.iter().chain(fences))
    }
}
