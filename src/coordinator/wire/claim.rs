//! The commands that take, keep and give back what one attempt claims.

use super::{ACQUIRE, EXTEND, RELEASE, RELEASE_ALL, RELEASE_AND_TELL, SPARE, millis, pack};
use crate::coordinator::Keys;
use crate::quorum::Window;
use crate::quorum::fence::micros;
use bytes::Bytes;
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

/// By which the scripts of the handshake are called.
pub(crate) struct Hashes {
    pub(crate) acquire: String,
    pub(crate) extend: String,
}

impl Hashes {
    pub(crate) fn new() -> Self {
        let hash = |script| redis::Script::new(script).get_hash().to_owned();
        Self { acquire: hash(ACQUIRE), extend: hash(EXTEND) }
    }
}

impl Claim {
    /// One key without a ballot is `SET key token NX PX life`, the plain layout, so that other
    /// Redlock clients exclude us and we them.
    pub(crate) fn acquire(&self, hashes: &Hashes) -> Bytes {
        if self.is_plain() { self.set() } else { self.acquire_all(hashes, true) }
    }

    /// To a node that has lost the keys of a lock that is held. Its ballot was won long ago: how
    /// far it is behind the node's clock does not matter.
    pub(crate) fn top_up(&self, hashes: &Hashes) -> Bytes {
        if self.is_plain() { self.set() } else { self.acquire_all(hashes, false) }
    }

    pub(crate) fn extend(&self, hashes: &Hashes) -> Bytes {
        let mut extend = redis::cmd("EVALSHA");
        extend.arg(&hashes.extend).arg(self.keys.len());
        self.keys.iter().for_each(|key| _ = extend.arg(&**key));
        pack(extend.arg(&self.token).arg(millis(self.life)))
    }

    /// Compare and delete. Carried in full by each release, so that it works at once on a master
    /// that has just restarted. `tell` those who wait in other processes, on channels that begin so.
    pub(crate) fn release(&self, tell: Option<&str>) -> Bytes {
        if self.is_plain() {
            let script = if tell.is_some() { RELEASE_AND_TELL } else { RELEASE };
            let (key, token) = (&**self.keys.first(), &self.token);
            let mut eval =
                Cmd::with_capacity(6, script.len() + key.len() + token.len() + 2 * SPARE);
            eval.arg("EVAL").arg(script).arg(1).arg(key).arg(token);
            tell.into_iter().for_each(|channels| _ = eval.arg(channels));
            return pack(&eval);
        }
        let mut eval = self.script(RELEASE_ALL.len());
        self.name_keys(eval.arg("EVAL").arg(RELEASE_ALL));
        eval.arg(&self.token).arg(tell.unwrap_or_default());
        if let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() {
            eval.arg(number).arg(micros(window.ahead)).arg(millis(*kept));
        }
        pack(&eval)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.ballot.is_none() && self.keys.len() == 1
    }

    fn set(&self) -> Bytes {
        let (key, token) = (&**self.keys.first(), &self.token);
        let mut set = Cmd::with_capacity(6, key.len() + token.len() + SPARE);
        pack(set.arg("SET").arg(key).arg(token).arg("NX").arg("PX").arg(millis(self.life)))
    }

    fn acquire_all(&self, hashes: &Hashes, not_behind: bool) -> Bytes {
        let mut acquire = self.script(hashes.acquire.len());
        self.name_keys(acquire.arg("EVALSHA").arg(&hashes.acquire));
        acquire.arg(&self.token).arg(millis(self.life));
        if let Some(Ballot { number, window, kept, .. }) = self.ballot.as_deref() {
            acquire.arg(number);
            match not_behind {
                true => acquire.arg(micros(window.back)),
                false => acquire.arg(""),
            };
            acquire.arg(micros(window.ahead)).arg(millis(*kept));
        }
        pack(&acquire)
    }

    /// Room for a call of such a script for all keys.
    fn script(&self, len: usize) -> Cmd {
        let fences = self.ballot.iter().flat_map(|ballot| ballot.fences.iter());
        let keys = self.keys.iter().chain(fences).map(|key| key.len());
        let (count, bytes) = keys.fold((0, 0), |(count, bytes), len| (count + 1, bytes + len));
        let arguments = 9 + count;
        Cmd::with_capacity(arguments, len + bytes + self.token.len() + 3 * SPARE)
    }

    fn name_keys(&self, command: &mut Cmd) {
        let fences = self.ballot.as_ref().map(|ballot| &*ballot.fences);
        command.arg(self.keys.len() + fences.map_or(0, Keys::len));
        let fences = fences.into_iter().flat_map(Keys::iter);
        self.keys.iter().chain(fences).for_each(|key| _ = command.arg(&**key));
    }
}
