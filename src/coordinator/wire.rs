//! Commands out, replies in.

mod claim;
mod login;
mod replies;
mod reply;
mod resp;
mod token;

pub(crate) use claim::{Ballot, Claim, Packer, Way};
pub(crate) use login::Login;
pub(crate) use replies::Replies;
pub(crate) use reply::{Reply, info_field, is_denied_within_a_script, is_unknown};
pub(crate) use token::Token;

use resp::pack;
use std::sync::Arc;
use std::time::Duration;

/// Only the owner releases: compare and delete, atomically. The server hashes it each time, in blocks of
/// 64 bytes: its comment is here, and it stays in two of them.
pub(crate) const RELEASE: &str = include_str!("scripts/release.lua").trim_ascii_end();
const _: () = assert!(RELEASE.len() < 2 * 64 - 8);

/// The same for several keys, or with a fence; its comment is here, too, since a release carries it and
/// the server hashes it.
///
/// KEYS: what is locked, and behind it, if there is a ballot, the fence of each. ARGV: token; ballot,
/// us that it may be ahead of this clock, ms that a fence lives. 1 if all keys were ours and are
/// deleted, otherwise 0. Behind that it raises the fences, so that an acquire of this ballot that is
/// still on its way is stale when it comes.
///
/// A master that is out of memory raises none. That keeps no key from being deleted, and where all
/// were, their acquire has been there: the answer is an integer. Where not, it may yet come, and
/// nothing would refuse it: the answer is the error, and the release is still owed.
pub(crate) const RELEASE_ALL: &str = include_str!("scripts/release_all.lua").trim_ascii_end();

/// Loaded in the handshake and called by their hashes.
pub(crate) const ACQUIRE: &str = include_str!("scripts/acquire.lua").trim_ascii_end();
pub(crate) const EXTEND: &str = include_str!("scripts/extend.lua").trim_ascii_end();

const WITHDRAW: &str = include_str!("scripts/withdraw.lua").trim_ascii_end();
const INSPECT: &str = include_str!("scripts/inspect.lua").trim_ascii_end();

/// Carries its source: it has to work in the handshake, whatever a script cache has forgotten.
const AGREE: &str = include_str!("scripts/agree.lua").trim_ascii_end();

/// A span as the server takes it: whole milliseconds, rounded down.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Millis(u64);

impl Millis {
    pub(crate) const fn span(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl From<Duration> for Millis {
    fn from(span: Duration) -> Self {
        Self(millis(span))
    }
}

pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn pttl(key: &str) -> Vec<u8> {
    pack(&["PTTL", key])
}

/// `HELLO 3`, with credentials where there are any. Its answer carries the connection's id.
pub(crate) fn hello(login: &Login) -> Vec<u8> {
    let mut command = vec!["HELLO", "3"];
    if login.username.is_some() || login.password.is_some() {
        let user = login.username.as_deref().unwrap_or("default");
        command.extend(["AUTH", user, login.password.as_deref().unwrap_or_default()]);
    }
    command.extend(["SETNAME", "quorumlock"]);
    pack(&command)
}

pub(crate) fn select(database: i64) -> Vec<u8> {
    pack(&["SELECT", &database.to_string()])
}

pub(crate) fn info(section: &str) -> Vec<u8> {
    pack(&["INFO", section])
}

pub(crate) fn config_get(pattern: &str) -> Vec<u8> {
    pack(&["CONFIG", "GET", pattern])
}

/// What this client goes by, to be noted for `life` ms: see [`super::agreement`]. A life of zero writes
/// nothing.
pub(crate) fn agree(key: &str, life: u64, numbers: &[u64], lists: &[String]) -> Vec<u8> {
    let mut command = ["EVAL", AGREE, "1", key].map(str::to_owned).to_vec();
    command.push(life.to_string());
    command.extend(numbers.iter().map(u64::to_string));
    command.extend_from_slice(lists);
    pack(&command)
}

/// What the channels of all keys begin with: channels know no databases.
pub(crate) fn channels(database: i64) -> Arc<str> {
    format!("quorumlock:free:{database}:").into()
}

pub(crate) fn subscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(&["SUBSCRIBE", &format!("{channels}{key}")])
}

pub(crate) fn unsubscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(&["UNSUBSCRIBE", &format!("{channels}{key}")])
}

pub(crate) fn inspect(key: &str) -> Vec<u8> {
    pack(&["EVAL", INSPECT, "1", key])
}

/// Deletes the key where this stands under it, whoever has set it.
pub(crate) fn delete(key: &str, value: &[u8]) -> Vec<u8> {
    let command: [&[u8]; 5] = [b"EVAL", RELEASE.as_bytes(), b"1", key.as_bytes(), value];
    pack(&command)
}

/// Takes back what a client goes by.
pub(crate) fn withdraw(key: &str, ends: u64, lists: &[String]) -> Vec<u8> {
    let ends = ends.to_string();
    let mut command = vec!["EVAL", WITHDRAW, "1", key, &ends];
    command.extend(lists.iter().map(String::as_str));
    pack(&command)
}

pub(crate) fn load(script: &str) -> Vec<u8> {
    pack(&["SCRIPT", "LOAD", script])
}

pub(crate) fn kill(client: i64) -> Vec<u8> {
    pack(&["CLIENT", "KILL", "ID", &client.to_string()])
}

#[cfg(test)]
#[cfg(feature = "embedded")]
mod scripts;

#[cfg(test)]
mod tests;
