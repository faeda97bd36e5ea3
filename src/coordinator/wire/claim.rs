//! The commands that take, keep and give back what one attempt claims.

use super::{ACQUIRE, EXTEND, RELEASE, RELEASE_ALL, RELEASE_AND_TELL, millis, pack};
use crate::coordinator::Keys;
use crate::quorum::Window;
use crate::quorum::fence::micros;
use redis::Cmd;
use std::sync::Arc;
use std::time::Duration;

/// What one attempt claims.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) keys: Keys,
    /// What stands under the keys: nobody else's, and never used again.
    pub(crate) token: String,
    /// How long the keys live.
    pub(crate) life: Duration,
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
    command: Cmd,
    /// By which the scripts of the handshake are called.
    acquire: String,
    extend: String,
}

impl Packer {
    pub(crate) fn new() -> Self {
        let hash = |script| redis::Script::new(script).get_hash().to_owned();
        Self { command: Cmd::new(), acquire: hash(ACQUIRE), extend: hash(EXTEND) }
    }
}

impl Claim {
    /// One key without a ballot is `SET key token NX PX life`, the plain layout, so that other
    /// Redlock clients exclude us and we them.
    pub(crate) fn acquire(&self, packer: &mut Packer) -> Vec<u8> {
        if self.is_plain() { self.set(packer) } else { self.acquire_all(packer, true) }
    }

    /// To a node that has lost the keys of a lock that is held. Its ballot was won long ago: how
    /// far it is behind the node's clock does not matter.
    pub(crate) fn top_up(&self, packer: &mut Packer) -> Vec<u8> {
        if self.is_plain() { self.set(packer) } else { self.acquire_all(packer, false) }
    }

    pub(crate) fn extend(&self, packer: &mut Packer) -> Vec<u8> {
        let Packer { command, extend, .. } = packer;
        command.clear();
        command.arg("EVALSHA").arg(&*extend).arg(self.keys.len());
        self.keys.iter().for_each(|key| _ = command.arg(&**key));
        pack(command.arg(&self.token).arg(millis(self.life)))
    }

    /// Compare and delete. Carried in full by each release, so that it works at once on a master
    /// that has just restarted. `tell` those who wait in other processes, on channels that begin so.
    pub(crate) fn release(&self, packer: &mut Packer, tell: Option<&str>) -> Vec<u8> {
        let command = &mut packer.command;
        command.clear();
        command.arg("EVAL");
        if self.is_plain() {
            let script = if tell.is_some() { RELEASE_AND_TELL } else { RELEASE };
            command.arg(script).arg(1).arg(&**self.keys.first()).arg(&self.token);
            tell.into_iter().for_each(|channels| _ = command.arg(channels));
            return pack(command);
        }
        self.name_keys(command.arg(RELEASE_ALL));
        command.arg(&self.token).arg(tell.unwrap_or_default());
        if let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() {
            command.arg(number).arg(micros(window.ahead)).arg(millis(*kept));
        }
        pack(command)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.ballot.is_none() && self.keys.len() == 1
    }

    fn set(&self, packer: &mut Packer) -> Vec<u8> {
        let command = &mut packer.command;
        command.clear();
        command.arg("SET").arg(&**self.keys.first()).arg(&self.token);
        pack(command.arg("NX").arg("PX").arg(millis(self.life)))
    }

    fn acquire_all(&self, packer: &mut Packer, not_behind: bool) -> Vec<u8> {
        let Packer { command, acquire, .. } = packer;
        command.clear();
        self.name_keys(command.arg("EVALSHA").arg(&*acquire));
        command.arg(&self.token).arg(millis(self.life));
        if let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() {
            command.arg(number);
            match not_behind {
                true => command.arg(micros(window.back)),
                false => command.arg(""),
            };
            command.arg(micros(window.ahead)).arg(millis(*kept));
        }
        pack(command)
    }

    fn name_keys(&self, command: &mut Cmd) {
        let fences = self.ballot.as_ref().map(|ballot| &*ballot.fences);
        command.arg(self.keys.len() + fences.map_or(0, Keys::len));
        let fences = fences.into_iter().flat_map(Keys::iter);
        self.keys.iter().chain(fences).for_each(|key| _ = command.arg(&**key));
    }
}
