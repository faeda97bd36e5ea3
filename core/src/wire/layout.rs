//! What stands under the keys of a claim, and the commands for it: the scripts of each layout, and the keys
//! and numbers that are passed to them.
//!
//! No room outside of this file, and no session, asks which layout a claim has.

use super::resp::Command;
use super::{
    ACQUIRE, ACQUIRE_READ, Claim, EXTEND, EXTEND_READ, Millis, Packer, RELEASE, RELEASE_ALL,
    RELEASE_READ, SHORTEN, TOP_UP, Way,
};
use std::sync::Arc;

/// What stands under the keys of a claim.
#[derive(Clone, Copy)]
enum Layout {
    /// The token under one key: the layout of all Redlock clients, which so exclude each other.
    Plain,
    /// The token under several keys, or beside a fence.
    Several,
    /// A mark that readers have in common, with their tokens beside it.
    Reader,
}

/// What a script does for a claim.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Acquire,
    Extend,
    Release,
    Shorten,
}

impl Claim {
    fn layout(&self) -> Layout {
        match &self.keys {
            keys if keys.as_reader().is_some() => Layout::Reader,
            keys if self.ballot.is_none() && keys.len() == 1 => Layout::Plain,
            _ => Layout::Several,
        }
    }

    fn script(&self, act: Act) -> &'static str {
        match (act, self.layout()) {
            // Until the lock is won, a single key is set without a script.
            (Act::Acquire, Layout::Plain) => TOP_UP,
            (Act::Acquire, Layout::Several) => ACQUIRE,
            (Act::Acquire, Layout::Reader) => ACQUIRE_READ,
            (Act::Extend, Layout::Plain | Layout::Several) => EXTEND,
            (Act::Extend, Layout::Reader) => EXTEND_READ,
            (Act::Release, Layout::Plain) => RELEASE,
            (Act::Release, Layout::Several) => RELEASE_ALL,
            (Act::Release, Layout::Reader) => RELEASE_READ,
            (Act::Shorten, _) => SHORTEN,
        }
    }

    /// Returns the keys that are passed to a script: those of the claim, then their fences, or those beside
    /// the key of a reader.
    fn named(&self, act: Act) -> impl Iterator<Item = &Arc<str>> {
        let fences = self.ballot.iter().filter(move |_| matches!(act, Act::Acquire | Act::Release));
        let beside = self.keys.as_reader().filter(|_| act != Act::Shorten);
        let hint = beside.filter(|_| act == Act::Acquire).map(|beside| &beside.hint);
        let keys = self.keys.iter().chain(fences.flat_map(|ballot| ballot.fences.iter()));
        keys.chain(beside.map(|beside| &beside.readers)).chain(hint)
    }

    /// Packs the call of a script, which is passed the keys, the value under them, and `numbers`. It announces
    /// what it has freed on `channels` with this prefix, if there is one.
    fn call<'a>(
        &self,
        packer: &'a mut Packer,
        (act, way): (Act, Way),
        numbers: impl Iterator<Item = u64> + Clone,
        channels: Option<&str>,
    ) -> &'a [u8] {
        let Packer { room, release_room, hashes, label, .. } = packer;
        let room = if act == Act::Release { release_room } else { room };
        let (script, keys) = (self.script(act), self.named(act).count());
        let arguments = 4 + keys + numbers.clone().count() + usize::from(channels.is_some());
        let command = match way {
            Way::Hash => Command::new(room, arguments).arg("EVALSHA").arg(hashes.of(script)),
            _ => Command::new(room, arguments).arg("EVAL").arg(script),
        };
        let command = command.number(keys as u64).keys(self.named(act));
        let command = self.sign(command, label.as_deref());
        let command = numbers.fold(command, Command::number);
        channels.into_iter().fold(command, Command::arg).done()
    }

    /// Returns the scripts that the commands of this claim call by their hashes, besides those that every
    /// session loads.
    pub fn scripts(&self) -> &'static [&'static str] {
        match self.layout() {
            Layout::Plain | Layout::Several => &[],
            Layout::Reader => &[ACQUIRE_READ, EXTEND_READ],
        }
    }

    /// Packs an acquire.
    pub fn acquire<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        if !self.acquires_by_set() {
            return self.set_by_script(packer, self.life, false);
        }
        let Packer { room, label, .. } = packer;
        let command = Command::new(room, 6).arg("SET").arg(&**self.keys.first());
        self.sign(command, label.as_deref()).arg("NX").arg("PX").number(self.life.0).done()
    }

    /// Packs an acquire, or the top-up of what `was_won`. It proposes the ballot, if there is one, and names the
    /// first number of its block, if it has more than one. A top-up names the end alone: the fence is where a
    /// number of the block has been granted.
    fn set_by_script<'a>(&self, packer: &'a mut Packer, life: Millis, was_won: bool) -> &'a [u8] {
        let proposal = self.ballot.iter().flat_map(|ballot| ballot.proposal());
        let block = self.ballot.as_ref().filter(|ballot| !was_won && ballot.has_next());
        let numbers = [life.0, was_won.into()].into_iter().chain(proposal);
        let numbers = numbers.chain(block.map(|ballot| ballot.number));
        self.call(packer, (Act::Acquire, Way::Hash), numbers, None)
    }

    /// Returns whether an acquire is a plain `SET`, whose answer nil says that it has set nothing.
    pub fn acquires_by_set(&self) -> bool {
        matches!(self.layout(), Layout::Plain)
    }

    /// Returns whether an acquire has to ask for the life and the holder of the key that refuses it,
    /// since the refusal does not name them.
    pub fn looks(&self) -> bool {
        matches!(self.layout(), Layout::Plain | Layout::Reader)
    }

    /// Packs a top-up, for a node that has lost the keys of a lock that is held: they live for
    /// `life`. Its ballot was won long ago: how far it is behind the node's clock does not matter. It
    /// only has to be above the fence there, as for a late acquire: one that arrives behind the
    /// release of the lock sets nothing. A single key takes over what is only kept for a waiter.
    pub fn top_up<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        match self.layout() {
            Layout::Plain => {
                self.call(packer, (Act::Acquire, Way::Full), [life.0].into_iter(), None)
            }
            Layout::Several | Layout::Reader => self.set_by_script(packer, life, true),
        }
    }

    /// Packs an extension, after which the keys live for `life`, or for as long as before.
    pub fn extend<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        self.call(packer, (Act::Extend, Way::Hash), [life.0].into_iter(), None)
    }

    /// Packs the end of work that has ended well: from now on the keys live for `life`, marked, or are
    /// deleted if that is nothing.
    pub fn shorten<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        self.call(packer, (Act::Shorten, Way::Shorten), [life.0].into_iter(), None)
    }

    /// Returns the script that releases this claim.
    pub fn release_script(&self) -> &'static str {
        self.script(Act::Release)
    }

    /// Packs a rollback or a release. Returns also whether the script announces by itself what it has
    /// freed, on `channels` with this prefix if any: it knows whether there is anything to announce.
    pub fn give_back<'a>(
        &self,
        packer: &'a mut Packer,
        way: Way,
        channels: Option<&str>,
    ) -> (&'a [u8], bool) {
        let announces = matches!(self.layout(), Layout::Reader);
        // What announces differs from master to master.
        let sent = (!announces).then_some((self.token, way));
        if std::mem::replace(&mut packer.released, sent) == sent && sent.is_some() {
            return (&packer.release_room, false);
        }
        if let Way::Native(native) = way
            && self.acquires_by_set()
        {
            let command = native.call(&mut packer.release_room, self.keys.first());
            return (self.sign(command, packer.label.as_deref()).done(), false);
        }
        let fence = self.ballot.iter().flat_map(|ballot| {
            // It does not matter how far the ballot may be behind the node's clock.
            let [greatest, _, ahead, kept] = ballot.proposal();
            [greatest, ahead, kept]
        });
        let channels = channels.filter(|_| announces);
        (self.call(packer, (Act::Release, way), fence, channels), announces)
    }

    /// Packs a release for which nothing is announced.
    pub fn release<'a>(&self, packer: &'a mut Packer, way: Way) -> &'a [u8] {
        self.give_back(packer, way, None).0
    }
}
