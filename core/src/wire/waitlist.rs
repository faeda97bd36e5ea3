//! The waitlist of a key: what is asked of it, and what it answers.
//!
//! It stands at one master, as the key does, and decides only which client tries when. It grants nothing: a waiter
//! that is called sends the same commands to all masters as any other.

use super::resp::{Command, pack};
use super::{Packer, Reply, Token, millis};
use crate::quorum::fence::micros;
use crate::shared::{Keys, Slots, Waitlist};
use std::sync::Arc;
use std::time::Duration;

/// The script by which a waiter asks for its key, or for any slot of a semaphore, and a release calls the next waiter.
pub const WAITLIST: &str = include_str!("scripts/waitlist.lua").trim_ascii_end();

/// What is published on the channel of a key when a waiter was called: all others wait on.
pub(crate) const CALLED: &str = "called";

/// How long a list lives after a waiter has asked: all that stand in it are due before, as the longest pause between two of
/// their questions is half of it.
const LIST_LIVES: Duration = Duration::from_secs(120);

/// The longest time for which only a waiter that was called tries.
pub(crate) const LONGEST_QUIET: Duration = Duration::from_secs(1);

/// The most waiters that stand in a list. Any others wait without a place.
const MOST_LISTED: u64 = 1 << 14;

/// How long it is known that the holders of a key know of its list.
pub(crate) const KNOWN_FOR: Duration = Duration::from_secs(60);

/// What a key says, at the master of its list, of whether a waiter is to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    /// None is to while another client holds it.
    Held,
    /// Nothing: the hold that is released had been won without that master.
    Nothing,
}

/// The key or the slots of a waiter.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// A key, or all slots of a semaphore.
    pub(crate) names: &'a [Arc<str>],
    /// The channel of the semaphore.
    pub(crate) channel: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    /// Returns the name of which the list is: a key, or the channel of a semaphore.
    pub(crate) fn list(self) -> Option<&'a str> {
        self.channel.or_else(|| self.names.first().map(|name| &**name))
    }
}

impl<'a> From<&'a Arc<str>> for Wanted<'a> {
    fn from(key: &'a Arc<str>) -> Self {
        let channel = None;
        Self { names: std::slice::from_ref(key), channel }
    }
}

impl<'a> From<&'a Slots> for Wanted<'a> {
    fn from(slots: &'a Slots) -> Self {
        Self { names: slots.names(), channel: Some(slots.channel()) }
    }
}

/// What a waiter says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Asks {
    pub(crate) waiter: Token,
    /// Its place in this list, if it has one.
    pub(crate) stamp: Option<u64>,
    /// How long it has waited in lists of other masters, if it has no place in this one.
    pub(crate) age: Duration,
}

/// The answer to a waiter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) what: Found,
    /// Where it stands; `None` if the list is full.
    pub(crate) stamp: Option<u64>,
    /// How many are ahead of it.
    pub(crate) ahead: usize,
    pub(crate) sight: Sight,
    /// Of a semaphore, the slot that is free, or the first to be.
    pub(crate) slot: Option<u8>,
}

/// What a waiter has seen: the process that held the key, and when and in which process a waiter was last called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sight {
    holder: Box<str>,
    call: Box<str>,
}

impl Sight {
    /// Returns whether a waiter was called lately: then clients that release the key know of the list.
    pub(crate) fn has_call(&self) -> bool {
        !self.call.is_empty()
    }

    /// Returns whether a process was called since that held the key `later`.
    pub(crate) fn is_called_and_holds_in(&self, later: &Self) -> bool {
        let called = later.call.split_once(' ').map(|(_, process)| process);
        self.call != later.call && called.is_some_and(|called| *called == *later.holder)
    }

    /// Returns the process that holds the key, unless it was called last: it may not know of the list.
    pub(crate) fn uncalled(&self) -> Option<&str> {
        let is_uncalled = !self.holder.is_empty() && !self.call.ends_with(&*self.holder);
        is_uncalled.then_some(&*self.holder)
    }
}

/// What a waiter's question has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// The key is free, and the waiter is out of the list: it may try.
    Free,
    /// The key is held for so long; `None` if it never ends.
    Held(Option<Duration>),
    /// Another waiter was called. Any other asks again after so long.
    OtherCalled(Duration),
    /// The same by this question, whose waiter watches that call.
    HasCalled(Duration),
    /// The key is free, and so many in front were gone that the waiter asks again at once.
    GoesOn,
}

impl Found {
    /// Returns for how long the key is held, if that is known.
    pub(crate) const fn life(self) -> Option<Duration> {
        match self {
            Self::Held(life) => life,
            Self::Free | Self::OtherCalled(_) | Self::HasCalled(_) | Self::GoesOn => None,
        }
    }

    /// Returns whether clients in other processes have the key before a waiter that has so many ahead of it. A key that
    /// is held may be the one that this process was about to release.
    pub(crate) const fn is_behind_others(self, ahead: usize) -> bool {
        ahead > 0 || matches!(self, Self::OtherCalled(_) | Self::HasCalled(_))
    }
}

impl Listed {
    pub(crate) fn in_reply(reply: &Reply) -> Option<Self> {
        let Reply::Array(parts) = reply else { return None };
        let [Reply::Int(what), Reply::Int(left), stamp, Reply::Int(ahead), holder, call, slot @ ..] =
            &parts[..]
        else {
            return None;
        };
        let slot = match slot {
            [] => None,
            [Reply::Int(slot)] => Some(u8::try_from(*slot).ok()?),
            _ => return None,
        };
        // A key in its last millisecond is not yet free.
        let span = u64::try_from(*left).ok().map(|left| Duration::from_millis(left.max(1)));
        let what = match what {
            0 => Found::Held(span),
            1 => Found::Free,
            2 => Found::OtherCalled(span?),
            3 => Found::GoesOn,
            4 => Found::HasCalled(span?),
            _ => return None,
        };
        let stamp = stamp.text()?.parse().ok().filter(|stamp| *stamp > 0);
        let sight = Sight {
            // It may be anything, if another client has set it.
            holder: holder.text().unwrap_or_default().into(),
            call: call.text()?.into(),
        };
        Some(Self { what, stamp, ahead: usize::try_from(*ahead).ok()?, sight, slot })
    }
}

/// The answer to a release that calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Called {
    /// The number of waiters, with the called one.
    pub(crate) waiters: u64,
    /// None was, since too many in front had gone: another call goes on.
    pub(crate) goes_on: bool,
    /// How many listen on the channel of the key.
    pub(crate) listeners: u64,
}

impl Called {
    pub(crate) fn in_reply(reply: &Reply) -> Option<Self> {
        let Reply::Array(parts) = reply else { return None };
        let [Reply::Int(called), Reply::Int(listeners), Reply::Int(left)] = parts[..] else {
            return None;
        };
        let listeners = listeners.unsigned_abs();
        let waiters = called.max(0).unsigned_abs() + left.unsigned_abs();
        Some(Self { waiters, goes_on: called < 0 && left > 0, listeners })
    }
}

impl Packer {
    /// Packs the question of a waiter. For `quiet` after a call, only the called waiter tries.
    pub(crate) fn wait(
        &mut self,
        (wanted, list): (Wanted<'_>, &Waitlist),
        Asks { waiter, stamp, age }: Asks,
        channels: &str,
        (quiet, cap): (Duration, Duration),
    ) -> &[u8] {
        let channel = wanted.channel.unwrap_or_default();
        let command = self.list(wanted.names, list, 11).arg("wait").arg(channels).arg(channel);
        let command = command.token(waiter, None);
        let command = match stamp {
            Some(stamp) => command.number(stamp),
            None => command.arg(""),
        };
        let command = command.number(millis(quiet)).number(millis(LIST_LIVES));
        let command = command.number(MOST_LISTED).number(millis(KNOWN_FOR));
        command.number(millis(cap)).number(micros(age)).done()
    }

    /// Packs the call of the next waiter for a key that was released: whatever that key `says` at this master, if
    /// the others are a quorum that had granted it.
    pub(crate) fn call(
        &mut self,
        (key, list): (&Keys, &Waitlist),
        channels: &str,
        says: Says,
    ) -> &[u8] {
        let (channel, slot) = key.as_slot().map_or(("", ""), |(channel, slot)| (&**channel, slot));
        let names = std::slice::from_ref(key.first());
        let command = self.list(names, list, 6).arg("call").arg(channels).arg(channel);
        let anyway = if says == Says::Nothing { "1" } else { "" };
        command.number(millis(LONGEST_QUIET)).arg(anyway).arg(slot).done()
    }

    /// Begins a command in a list: `more` arguments follow the keys.
    fn list(&mut self, names: &[Arc<str>], list: &Waitlist, more: usize) -> Command<'_> {
        let (keys, room) = (names.len() + 2, &mut self.room);
        let command =
            Command::new(room, 3 + keys + more).arg("EVALSHA").arg(self.hashes.of(WAITLIST));
        let command = command.number(keys as u64).keys(names.iter());
        command.arg(&*list.places).arg(&*list.due)
    }
}

/// Packs the end of a waiter's place.
pub(crate) fn leave_waitlist(list: &str, waiter: Token) -> Vec<u8> {
    pack(&[&b"ZREM"[..], list.as_bytes(), &waiter.digits()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(parts: impl IntoIterator<Item = Reply>) -> Reply {
        Reply::Array(parts.into_iter().collect())
    }

    fn listed(what: i64, left: i64, stamp: &str, ahead: i64) -> Option<Listed> {
        let stamp = Reply::Text(stamp.as_bytes().into());
        let (holder, call) = (Reply::Text((*b"01").into()), Reply::Text((*b"7").into()));
        let parts = [Reply::Int(what), Reply::Int(left), stamp, Reply::Int(ahead), holder, call];
        Listed::in_reply(&array(parts))
    }

    #[test]
    fn an_answer_to_a_waiter_says_what_it_does_next_and_where_it_stands() {
        let sight = || Sight { holder: "01".into(), call: "7".into() };
        let found =
            |what, stamp, ahead| Some(Listed { what, stamp, ahead, sight: sight(), slot: None });
        let ms = Duration::from_millis;
        assert_eq!(listed(0, 7, "5", 3), found(Found::Held(Some(ms(7))), Some(5), 3));
        assert_eq!(listed(0, 0, "5", 3), found(Found::Held(Some(ms(1))), Some(5), 3));
        assert_eq!(listed(0, -1, "5", 3), found(Found::Held(None), Some(5), 3));
        assert_eq!(listed(1, 0, "5", 0), found(Found::Free, Some(5), 0));
        assert_eq!(listed(2, 7, "0", 9), found(Found::OtherCalled(ms(7)), None, 9));
        assert_eq!(listed(3, 0, "5", 7), found(Found::GoesOn, Some(5), 7));
        assert_eq!(listed(4, 7, "5", 1), found(Found::HasCalled(ms(7)), Some(5), 1));
        for (what, left, stamp, ahead) in [(5, 0, "5", 0), (2, -1, "5", 0), (0, 0, "5", -1)] {
            assert_eq!(listed(what, left, stamp, ahead), None, "{what} {left} {stamp} {ahead}");
        }
        assert_eq!(Listed::in_reply(&Reply::Error("NOSCRIPT".into())), None);
        assert_eq!(Listed::in_reply(&array([Reply::Int(1)])), None);
    }

    #[test]
    fn an_answer_to_a_call_says_how_many_waited() {
        let called = |parts: [i64; 3]| Called::in_reply(&array(parts.map(Reply::Int)));
        let answer = |waiters, listeners| Some(Called { waiters, goes_on: false, listeners });
        assert_eq!(called([1, 0, 2]), answer(3, 0));
        assert_eq!(called([0, 2, 1]), answer(1, 2));
        assert_eq!(called([0, 2, 0]), answer(0, 2));
        assert_eq!(called([-1, 2, 0]), answer(0, 2));
        assert!(called([-1, 0, 3]).is_some_and(|called| called.goes_on));
        assert_eq!(Called::in_reply(&Reply::Int(1)), None);
    }
}
