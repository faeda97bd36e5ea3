//! Commands to a master, and its replies.

mod claim;
mod layout;
mod login;
pub(crate) mod notice;
mod replies;
mod reply;
mod resp;
mod token;
pub(crate) mod waitlist;

pub use claim::{Ballot, Claim, Native, Packer, Way};
pub use login::{Credentials, Login, Renewal};
pub use notice::NOTIFY;
pub use replies::Replies;
pub use reply::{Reply, info_field, is_denied, is_denied_within_a_script, is_unknown};
pub use resp::pack;
pub use token::{Mailbox, Token};
pub use waitlist::WAITLIST;

use crate::questions::Beside;
use crate::shared::Waitlist;
use std::sync::Arc;
use std::time::Duration;

/// The script by which only the owner releases: compare and delete, atomically. The server hashes
/// it each time, in blocks of 64 bytes. So its comment is here, and the script stays within two
/// blocks.
pub const RELEASE: &str = include_str!("scripts/release.lua").trim_ascii_end();
const _: () = assert!(RELEASE.len() < 2 * 64 - 8);

/// The same for several keys, or with a fence. Its comment is here, too, since a release carries
/// the script and the server hashes it.
///
/// KEYS: the locked keys, followed by the fence of each if there is a ballot. ARGV: the token; with
/// a ballot also the ballot, the us that it may be ahead of this clock, and the ms that a fence
/// lives. Returns 1 if all keys were ours and are deleted, otherwise 0. After that the script
/// raises the fences, so that an acquire of this ballot that is still in flight is stale when it
/// arrives.
///
/// A master that is out of memory raises no fence. That does not keep any key from being deleted.
/// If all were deleted, their acquire has already been there: the answer is an integer. If not,
/// their acquire may still arrive, and nothing would refuse it: the answer is the error, and the
/// release is still owed.
pub const RELEASE_ALL: &str = include_str!("scripts/release_all.lua").trim_ascii_end();

/// Loaded in the handshake and called by their hashes.
pub const ACQUIRE: &str = include_str!("scripts/acquire.lua").trim_ascii_end();
pub const EXTEND: &str = include_str!("scripts/extend.lua").trim_ascii_end();

/// The same for readers, loaded before the first of them is called.
pub const ACQUIRE_READ: &str = include_str!("scripts/acquire_read.lua").trim_ascii_end();
pub const EXTEND_READ: &str = include_str!("scripts/extend_read.lua").trim_ascii_end();

/// The script by which a reader leaves. Its comment is here, since a release carries the script.
///
/// KEYS: the locked key and its readers. ARGV: the token, and the prefix of the channels if waiters
/// are to be notified once there are no readers. Returns 1 if the token was there, otherwise 0: as
/// a reader, or alone, where the master has not heard of a downgrade. The mark under the key expires
/// with the last reader that is left, and is deleted if none is.
pub const RELEASE_READ: &str = include_str!("scripts/release_read.lua").trim_ascii_end();

/// The top-up of a single key without a fence, sent with its source: it is rare.
///
/// KEYS: the locked key. ARGV: the token, and ms to live. It takes over what is only kept for a waiter.
pub const TOP_UP: &str = include_str!("scripts/top_up.lua").trim_ascii_end();

/// The beginning of the value of a key that is kept for a waiter, whose name follows.
pub const NEXT: &str = "quorumlock:next:";

/// What an attempt asks of a key that may refuse it: the ms that the key has yet to live (-1 if it
/// never expires, -2 if nothing is there), with the beginning of its value if that is text. A label
/// of ours is whole in it. Another client's value may be as long as it likes, and of any kind: the
/// answer is bounded, and tells the life all the same.
pub const LOOK: &str = include_str!("scripts/look.lua").trim_ascii_end();

/// The script by which work that has ended well shortens the life of its keys, and marks them.
///
/// KEYS: the locked keys. ARGV: the token, and the ms for which they stay; with 0, they are deleted.
/// Returns 1 if all keys were ours, marked or not, otherwise 0. It is always sent with its source: it
/// is rare.
///
/// The mark is no token: no extension, no adoption and no release finds the lock any more. A master
/// without memory refuses it only until the script has written, so the life is shortened first there.
pub const SHORTEN: &str = include_str!("scripts/shorten.lua").trim_ascii_end();

/// The value under a key that readers hold.
pub const SHARED: &str = "quorumlock:shared";

/// The beginning of the value of a key whose work has ended well; what was there before follows.
pub const DONE: &str = "quorumlock:done:";

/// The script by which the hint of a writer that has given up ends soon.
///
/// KEYS: the hint. ARGV: its value, and ms to live.
pub const SHORTEN_HINT: &str = include_str!("scripts/shorten_hint.lua").trim_ascii_end();

const WITHDRAW: &str = include_str!("scripts/withdraw.lua").trim_ascii_end();
const INSPECT: &str = include_str!("scripts/inspect.lua").trim_ascii_end();

/// Sent with its source: it has to work in the handshake, whatever a script cache has forgotten.
const AGREE: &str = include_str!("scripts/agree.lua").trim_ascii_end();

/// A span in the server's unit: whole milliseconds, rounded down.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Millis(u64);

impl Millis {
    pub const fn span(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// Returns a span in whole milliseconds, and not less than it is.
    pub fn rounded_up(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Duration> for Millis {
    fn from(span: Duration) -> Self {
        Self(millis(span))
    }
}

pub fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Packs the question for the remaining life of the key that refuses us, and its holder.
pub fn look(key: &str) -> Vec<u8> {
    pack(&["EVAL", LOOK, "1", key])
}

/// Packs the hint that a writer, with this id, waits for a lock.
pub fn want(hint: &str, id: &str, life: Millis) -> Vec<u8> {
    pack(&["SET", hint, id, "PX", &life.0.to_string()])
}

/// Lets a hint live for `life` from now on if this is its value, whichever client has set it.
pub fn shorten_hint(hint: &str, id: &[u8], life: Millis) -> Vec<u8> {
    let (script, life) = (SHORTEN_HINT.as_bytes(), life.0.to_string());
    pack(&[&b"EVAL"[..], script, b"1", hint.as_bytes(), id, life.as_bytes()])
}

/// Deletes a key if this is its value, or what stands for it since or before its work has ended well.
pub fn take_away(key: &str, value: &[u8]) -> Vec<u8> {
    let token = value.strip_prefix(DONE.as_bytes()).unwrap_or(value);
    pack(&[&b"EVAL"[..], SHORTEN.as_bytes(), b"1", key.as_bytes(), token, b"0"])
}

pub fn pttl(key: &str) -> Vec<u8> {
    pack(&["PTTL", key])
}

/// Packs `HELLO 3`, with credentials if there are any. Its answer carries the connection's id.
pub fn hello(login: &Login) -> Vec<u8> {
    let mut command = vec!["HELLO", "3"];
    if login.username.is_some() || login.password.is_some() {
        let user = login.username.as_deref().unwrap_or("default");
        command.extend(["AUTH", user, login.password.as_deref().unwrap_or_default()]);
    }
    command.extend(["SETNAME", "quorumlock"]);
    pack(&command)
}

/// Packs the login of a connection that has one already. Whatever is behind it runs as this user, and if
/// it is refused, as the one before.
pub fn auth(login: &Login) -> Vec<u8> {
    let user = login.username.as_deref().unwrap_or("default");
    pack(&["AUTH", user, login.password.as_deref().unwrap_or_default()])
}

pub fn select(database: i64) -> Vec<u8> {
    pack(&["SELECT", &database.to_string()])
}

pub fn info(section: &str) -> Vec<u8> {
    pack(&["INFO", section])
}

pub fn config_get(pattern: &str) -> Vec<u8> {
    pack(&["CONFIG", "GET", pattern])
}

/// Packs the question that notes this client's settings for `life` ms: see `coordinator::agreement`. A
/// life of zero writes nothing. `whose` are the client, the server process that is asked, and the
/// one that the client met before.
pub fn agree(key: &str, life: u64, numbers: &[u64], whose: [&str; 3], lists: &[String]) -> Vec<u8> {
    let mut command = ["EVAL", AGREE, "1", key].map(str::to_owned).to_vec();
    command.push(life.to_string());
    command.extend(numbers.iter().map(u64::to_string));
    command.extend(whose.map(str::to_owned));
    command.extend_from_slice(lists);
    pack(&command)
}

/// Returns the prefix of the channels of all keys: channels know no databases.
pub fn channels(database: i64) -> Arc<str> {
    format!("quorumlock:free:{database}:").into()
}

/// Returns the name of the channel of a mailbox, behind that prefix.
pub(crate) fn mailbox(mailbox: Mailbox) -> Arc<str> {
    format!("@{mailbox}").into()
}

pub fn subscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(&["SUBSCRIBE", &format!("{channels}{key}")])
}

pub fn unsubscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(&["UNSUBSCRIBE", &format!("{channels}{key}")])
}

/// Packs the question for what is under a key, and beside it.
pub fn inspect(key: &str, beside: Option<&Beside>) -> Vec<u8> {
    match beside {
        Some(Beside { readers, waitlist: Waitlist { places, due } }) => {
            pack(&["EVAL", INSPECT, "4", key, readers, places, due])
        }
        None => pack(&["EVAL", INSPECT, "1", key]),
    }
}

/// Deletes the key if this is its value, whichever client has set it.
pub fn delete(key: &str, value: &[u8]) -> Vec<u8> {
    pack(&[&b"EVAL"[..], RELEASE.as_bytes(), b"1", key.as_bytes(), value])
}

/// Removes the reader of the key that has this value.
pub fn delete_reader(key: &str, readers: &str, value: &[u8]) -> Vec<u8> {
    let script = RELEASE_READ.as_bytes();
    pack(&[&b"EVAL"[..], script, b"2", key.as_bytes(), readers.as_bytes(), value])
}

/// Takes back the note of a client's settings, except for the time that its keys have left.
pub fn withdraw(key: &str, client: &str, left: Millis, lists: &[String]) -> Vec<u8> {
    let left = left.0.to_string();
    let mut command = vec!["EVAL", WITHDRAW, "1", key, client, &left];
    command.extend(lists.iter().map(String::as_str));
    pack(&command)
}

pub fn load(script: &str) -> Vec<u8> {
    pack(&["SCRIPT", "LOAD", script])
}

pub fn kill(client: i64) -> Vec<u8> {
    pack(&["CLIENT", "KILL", "ID", &client.to_string()])
}

#[cfg(test)]
mod tests;
