//! The commands that take, keep and give back what one attempt claims.

use super::resp::Command;
use super::{ACQUIRE, EXTEND, Millis, RELEASE, RELEASE_ALL, Token, millis};
use crate::coordinator::Keys;
use crate::quorum::Window;
use crate::quorum::fence::micros;
use sha1_smol::Sha1;
use std::sync::Arc;
use std::time::Duration;

/// What one attempt claims.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) keys: Keys,
    pub(crate) token: Token,
    /// How long the keys live.
    pub(crate) life: Millis,
    /// Boxed: most attempts have none, and each is moved from table to table.
    pub(crate) ballot: Option<Box<Ballot>>,
}

/// What a fenced attempt proposes.
#[derive(Clone, Debug)]
pub(crate) struct Ballot {
    /// Where the fence of each key stands.
    pub(crate) fences: Arc<Keys>,
    pub(crate) number: u64,
    pub(crate) window: Window,
    /// How long a fence is kept.
    pub(crate) kept: Duration,
}

/// Packs the commands of claims: one after the other in the same room.
pub(crate) struct Packer {
    room: Vec<u8>,
    /// Who acquires, for whoever inspects: behind each token.
    label: Option<Arc<str>>,
    /// The last release, and of whom and in which way it is: nearly all masters are sent the same.
    release_room: Vec<u8>,
    released: Option<(Token, Way)>,
    /// By which the scripts of the handshake are called.
    acquire: String,
    extend: String,
    /// And those of releases.
    release: String,
    release_all: String,
}

impl Packer {
    /// Tells those who wait for `key` that it is free. They may be told in vain.
    pub(crate) fn publish(&mut self, channels: &str, key: &str) -> &[u8] {
        let command = Command::new(&mut self.room, 3).arg("PUBLISH");
        command.parts(&[channels.as_bytes(), key.as_bytes()]).arg("").done()
    }
}

/// How a server is told to compare and delete: what it costs there is most of what a lock costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By the script, with its source: it works at once on a master that has just restarted.
    Full,
    /// By the hash of the script. The server may have forgotten it, and says so: nothing was done.
    Hash,
    /// By a command of its own, where it is about a single key without a fence: `DELIFEQ` of Valkey 9,
    /// <https://valkey.io/commands/delifeq/>.
    Native,
}

impl Packer {
    pub(crate) fn new(label: Option<Arc<str>>) -> Self {
        let hash = |script| Sha1::from(script).hexdigest();
        Self {
            room: Vec::new(),
            label,
            release_room: Vec::new(),
            released: None,
            acquire: hash(ACQUIRE),
            extend: hash(EXTEND),
            release: hash(RELEASE),
            release_all: hash(RELEASE_ALL),
        }
    }
}

impl Claim {
    /// One key without a ballot is `SET key token NX PX life`, the plain layout, so that other
    /// Redlock clients exclude us and we them.
    pub(crate) fn acquire<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        if self.is_plain() { self.set(packer) } else { self.acquire_all(packer, true) }
    }

    /// To a node that has lost the keys of a lock that is held. Its ballot was won long ago: how
    /// far it is behind the node's clock does not matter.
    pub(crate) fn top_up<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        if self.is_plain() { self.set(packer) } else { self.acquire_all(packer, false) }
    }

    pub(crate) fn extend<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        let Packer { room, extend, label, .. } = packer;
        let command = Command::new(room, 3 + self.keys.len() + 2).arg("EVALSHA").arg(extend);
        let command = command.number(self.keys.len() as u64).keys(self.keys.iter());
        command.token(self.token, label.as_deref()).number(self.life.0).done()
    }

    /// Compare and delete.
    pub(crate) fn release<'a>(&self, packer: &'a mut Packer, way: Way) -> &'a [u8] {
        let Packer { release_room: room, released, release, release_all, label, .. } = packer;
        if released.replace((self.token, way)) == Some((self.token, way)) {
            return room;
        }
        if way == Way::Native && self.is_plain() {
            let command = Command::new(room, 3).arg("DELIFEQ").arg(&**self.keys.first());
            return command.token(self.token, label.as_deref()).done();
        }
        let (script, hash) = match self.is_plain() {
            true => (RELEASE, release),
            false => (RELEASE_ALL, release_all),
        };
        let more = if self.ballot.is_some() { 3 } else { 0 };
        let command = Command::new(room, 3 + self.named() + 1 + more);
        let command = match way {
            Way::Hash => command.arg("EVALSHA").arg(hash),
            Way::Native | Way::Full => command.arg("EVAL").arg(script),
        };
        let command = self.name(command).token(self.token, label.as_deref());
        let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() else {
            return command.done();
        };
        command.number(*number).number(micros(window.ahead)).number(millis(*kept)).done()
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.ballot.is_none() && self.keys.len() == 1
    }

    fn set<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        let Packer { room, label, .. } = packer;
        let command = Command::new(room, 6).arg("SET").arg(&**self.keys.first());
        command.token(self.token, label.as_deref()).arg("NX").arg("PX").number(self.life.0).done()
    }

    fn acquire_all<'a>(&self, packer: &'a mut Packer, not_behind: bool) -> &'a [u8] {
        let Packer { room, acquire, label, .. } = packer;
        let more = if self.ballot.is_some() { 4 } else { 0 };
        let command = Command::new(room, 3 + self.named() + 2 + more).arg("EVALSHA").arg(acquire);
        let command = self.name(command).token(self.token, label.as_deref()).number(self.life.0);
        let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() else {
            return command.done();
        };
        let command = command.number(*number);
        let command = match not_behind {
            true => command.number(micros(window.back)),
            false => command.arg(""),
        };
        command.number(micros(window.ahead)).number(millis(*kept)).done()
    }

    /// How many keys a script is told of.
    fn named(&self) -> usize {
        self.keys.len() + self.ballot.as_ref().map_or(0, |ballot| ballot.fences.len())
    }

    /// How many keys there are, and which: those of the claim, then their fences.
    fn name<'a>(&self, command: Command<'a>) -> Command<'a> {
        let fences = self.ballot.iter().flat_map(|ballot| ballot.fences.iter());
        command.number(self.named() as u64).keys(self.keys.iter().chain(fences))
    }
}
