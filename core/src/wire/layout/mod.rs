//! What stands under the keys of a claim, and the commands for it: a room for each layout.
//!
//! No room outside of this folder, and no session, asks which layout a claim has.

mod plain;
mod reader;
mod several;

use super::{
    ACQUIRE_READ, Claim, EXTEND_READ, Millis, Packer, RELEASE, RELEASE_ALL, RELEASE_READ, Way,
};
use crate::shared::ReadWrite;

/// What stands under the keys of a claim.
#[derive(Clone, Copy)]
enum Layout<'a> {
    /// The token under one key: the layout of all Redlock clients, which so exclude each other.
    Plain,
    /// The token under several keys, or beside a fence.
    Several,
    /// A mark that readers have in common, with their tokens beside it.
    Reader(&'a ReadWrite),
}

impl Claim {
    fn layout(&self) -> Layout<'_> {
        match self.keys.as_reader() {
            Some(beside) => Layout::Reader(beside),
            None if self.ballot.is_none() && self.keys.len() == 1 => Layout::Plain,
            None => Layout::Several,
        }
    }

    /// Returns the scripts that the commands of this claim call by their hashes, besides those that every
    /// session loads.
    pub fn scripts(&self) -> &'static [&'static str] {
        match self.layout() {
            Layout::Plain | Layout::Several => &[],
            Layout::Reader(_) => &[ACQUIRE_READ, EXTEND_READ],
        }
    }

    /// Packs an acquire.
    pub fn acquire<'a>(&self, packer: &'a mut Packer) -> &'a [u8] {
        match self.layout() {
            Layout::Plain => plain::acquire(self, packer),
            Layout::Several => several::acquire(self, packer, self.life, false),
            Layout::Reader(beside) => reader::acquire(self, packer, self.life, beside, false),
        }
    }

    /// Returns whether an acquire is a plain `SET`, whose answer nil says that it has set nothing.
    pub fn acquires_by_set(&self) -> bool {
        matches!(self.layout(), Layout::Plain)
    }

    /// Returns whether an acquire has to ask for the life and the holder of the key that refuses it,
    /// since the refusal does not name them.
    pub fn looks(&self) -> bool {
        matches!(self.layout(), Layout::Reader(_)) || self.acquires_by_set()
    }

    /// Packs a top-up, for a node that has lost the keys of a lock that is held: they live for
    /// `life`. Its ballot was won long ago: how far it is behind the node's clock does not matter. It
    /// only has to be above the fence there, as for a late acquire: one that arrives behind the
    /// release of the lock sets nothing.
    pub fn top_up<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        match self.layout() {
            Layout::Reader(beside) => reader::acquire(self, packer, life, beside, true),
            Layout::Plain => plain::top_up(self, packer, life),
            Layout::Several => several::acquire(self, packer, life, true),
        }
    }

    /// Packs an extension, after which the keys live for `life`, or for as long as before.
    pub fn extend<'a>(&self, packer: &'a mut Packer, life: Millis) -> &'a [u8] {
        match self.layout() {
            Layout::Reader(beside) => reader::extend(self, packer, life, beside),
            Layout::Plain | Layout::Several => several::extend(self, packer, life),
        }
    }

    /// Returns the script that releases this claim.
    pub fn release_script(&self) -> &'static str {
        match self.layout() {
            Layout::Plain => RELEASE,
            Layout::Reader(_) => RELEASE_READ,
            Layout::Several => RELEASE_ALL,
        }
    }

    /// Packs a rollback or a release. Returns also whether the script announces by itself what it has
    /// freed, on `channels` with this prefix if any: it knows whether there is anything to announce.
    pub fn give_back<'a>(
        &self,
        packer: &'a mut Packer,
        way: Way,
        channels: Option<&str>,
    ) -> (&'a [u8], bool) {
        match self.layout() {
            Layout::Reader(beside) => (reader::release(self, packer, beside, way, channels), true),
            Layout::Plain | Layout::Several => (several::release(self, packer, way), false),
        }
    }

    /// Packs a release for which nothing is announced.
    pub fn release<'a>(&self, packer: &'a mut Packer, way: Way) -> &'a [u8] {
        self.give_back(packer, way, None).0
    }
}
