//! Commands out, replies in. Parsing is the `redis` crate's, and so is packing, but for what is sent
//! with each lock.

mod claim;
mod resp;
mod token;

pub(crate) use claim::{Ballot, Claim, Packer, Way};
pub(crate) use token::Token;

use crate::address::Login;
use redis::{Cmd, Value};
use std::io::{self, Read};
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

/// No reply to anything that is sent here comes near this size.
const LARGEST_REPLY: usize = 1 << 20;

/// In bytes, of what is no reply.
const LONGEST_LINE: usize = 60;

fn pack(command: &Cmd) -> Vec<u8> {
    command.get_packed_command()
}

/// A ttl as the server takes it: whole milliseconds, rounded down.
pub(crate) fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn pttl(key: &str) -> Vec<u8> {
    pack(redis::cmd("PTTL").arg(key))
}

/// `HELLO 3`, with credentials where there are any. Its answer carries the connection's id.
pub(crate) fn hello(login: &Login) -> Vec<u8> {
    let mut command = redis::cmd("HELLO");
    command.arg(3);
    if login.username.is_some() || login.password.is_some() {
        let user = login.username.as_deref().unwrap_or("default");
        command.arg("AUTH").arg(user).arg(login.password.as_deref().unwrap_or_default());
    }
    pack(command.arg("SETNAME").arg("quorumlock"))
}

pub(crate) fn select(database: i64) -> Vec<u8> {
    pack(redis::cmd("SELECT").arg(database))
}

pub(crate) fn info(section: &str) -> Vec<u8> {
    pack(redis::cmd("INFO").arg(section))
}

pub(crate) fn config_get(pattern: &str) -> Vec<u8> {
    pack(redis::cmd("CONFIG").arg("GET").arg(pattern))
}

/// What this client goes by, to be noted for `life` ms: see [`super::agreement`]. A life of zero writes
/// nothing.
pub(crate) fn agree(key: &str, life: u64, numbers: &[u64], lists: &[String]) -> Vec<u8> {
    pack(redis::cmd("EVAL").arg(AGREE).arg(1).arg(key).arg(life).arg(numbers).arg(lists))
}

/// What the channels of all keys begin with: channels know no databases.
pub(crate) fn channels(database: i64) -> Arc<str> {
    format!("quorumlock:free:{database}:").into()
}

pub(crate) fn subscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(redis::cmd("SUBSCRIBE").arg(format!("{channels}{key}")))
}

pub(crate) fn unsubscribe(channels: &str, key: &str) -> Vec<u8> {
    pack(redis::cmd("UNSUBSCRIBE").arg(format!("{channels}{key}")))
}

pub(crate) fn inspect(key: &str) -> Vec<u8> {
    pack(redis::cmd("EVAL").arg(INSPECT).arg(1).arg(key))
}

/// Deletes the key where this stands under it, whoever has set it.
pub(crate) fn delete(key: &str, value: &[u8]) -> Vec<u8> {
    pack(redis::cmd("EVAL").arg(RELEASE).arg(1).arg(key).arg(value))
}

/// Takes back what a client goes by.
pub(crate) fn withdraw(key: &str, ends: u64, lists: &[String]) -> Vec<u8> {
    pack(redis::cmd("EVAL").arg(WITHDRAW).arg(1).arg(key).arg(ends).arg(lists))
}

pub(crate) fn load(script: &str) -> Vec<u8> {
    pack(redis::cmd("SCRIPT").arg("LOAD").arg(script))
}

pub(crate) fn kill(client: i64) -> Vec<u8> {
    pack(redis::cmd("CLIENT").arg("KILL").arg("ID").arg(client))
}

/// One field of an INFO reply.
pub(crate) fn info_field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_end)
}

/// The text of an INFO reply, a verbatim string in RESP3.
pub(crate) fn text(reply: &Value) -> Option<&str> {
    match reply {
        Value::VerbatimString { text, .. } => Some(text),
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// One field of a map.
fn field<'a>(reply: &'a Value, wanted: &str) -> Option<&'a Value> {
    let Value::Map(fields) = reply else { return None };
    fields.iter().find_map(|(name, value)| (text(name) == Some(wanted)).then_some(value))
}

/// One field of a map, if it is a text.
pub(crate) fn map_field<'a>(reply: &'a Value, wanted: &str) -> Option<&'a str> {
    field(reply, wanted).and_then(text)
}

/// The connection's own id, from the answer to HELLO.
pub(crate) fn hello_id(reply: &Value) -> Option<i64> {
    match field(reply, "id") {
        Some(Value::Int(id)) => Some(*id),
        _ => None,
    }
}

/// Whether the server has `DELIFEQ`, from the answer to HELLO: Valkey has it from 9 on.
pub(crate) fn has_delifeq(hello: &Value) -> bool {
    let version = map_field(hello, "version").and_then(|version| version.split('.').next());
    let major = version.and_then(|major| major.parse::<u32>().ok());
    map_field(hello, "server") == Some("valkey") && major.is_some_and(|major| major >= 9)
}

/// An error of the server, in its own words; anything else is none.
pub(crate) fn error(reply: &Value) -> Option<Arc<str>> {
    match reply {
        Value::ServerError(error) => Some(match error.details() {
            Some(details) => format!("{} {details}", error.code()).into(),
            None => error.code().into(),
        }),
        _ => None,
    }
}

/// The server does not know the script: nothing was done.
pub(crate) fn is_noscript(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == "NOSCRIPT")
}

/// Our user may not, by itself or within a script, or the server does not know the command, or was told
/// not to.
pub(crate) fn is_denied(reply: &Value) -> bool {
    error(reply).is_some_and(|error| {
        error.starts_with("NOPERM") || is_unknown(&error) || is_denied_within_a_script(&error)
    })
}

/// The server does not know the command: it is too old for it, or it was renamed there.
pub(crate) fn is_unknown(error: &str) -> bool {
    UNKNOWN.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// What a script of ours called is not for our user, or not known.
pub(crate) fn is_denied_within_a_script(error: &str) -> bool {
    DENIED_WITHIN_A_SCRIPT.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// The second is 6.2's word for a subcommand.
const UNKNOWN: [&str; 3] = ["unknown command", "Unknown subcommand", "unknown subcommand"];

/// The second is Valkey's.
const UNKNOWN_WITHIN_A_SCRIPT: [&str; 2] =
    ["Unknown Redis command called from", "Unknown command called from"];

/// Until 7.0, and from 7.2 on.
const DENIED_WITHIN_A_SCRIPT: [&str; 2] =
    ["The user executing the script can't", "ACL failure in script"];

/// What to say of a reply that the command cannot have.
pub(crate) fn unexpected(reply: &Value) -> Arc<str> {
    error(reply).unwrap_or_else(|| format!("unexpected reply {reply:?}").into())
}

/// Replies out of received bytes, however they were cut.
pub(crate) struct Replies {
    parser: redis::Parser,
    /// The parser has a part of a reply and waits for the rest.
    resumes: bool,
    received: Vec<u8>,
    read: usize,
    /// Bytes received since the last complete reply, to bound a reply's size.
    pending: usize,
}

impl Replies {
    pub(crate) fn new() -> Self {
        let parser = redis::Parser::new();
        Self { parser, resumes: false, received: Vec::new(), read: 0, pending: 0 }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.received.drain(..self.read);
        self.read = 0;
        self.received.extend_from_slice(bytes);
        self.pending += bytes.len();
    }

    /// The next complete reply, `None` when more bytes are needed.
    ///
    /// # Errors
    ///
    /// When the bytes are no RESP3, or a reply is larger than any that can be due.
    pub(crate) fn next(&mut self) -> Result<Option<Value>, Arc<str>> {
        let bytes = self.received.get(self.read..).unwrap_or_default();
        if bytes.is_empty() {
            // The parser would clear 8 KiB to find that out.
            return self.incomplete();
        }
        if !self.resumes
            && let Some((reply, len)) = short(bytes)
        {
            self.read += len;
            self.pending = 0;
            return Ok(Some(reply));
        }
        let (began, resumed) = (self.read, self.resumes);
        let mut rest = Rest { bytes: &self.received, read: &mut self.read };
        let parsed = self.parser.parse_value(&mut rest);
        self.resumes = parsed.is_err();
        match parsed {
            Ok(reply) => {
                self.pending = 0;
                Ok(Some(reply))
            }
            // The only I/O error that `Rest` knows is `WouldBlock`.
            Err(error) if error.is_io_error() => self.incomplete(),
            Err(error) => {
                let said = self.received.get(began..).filter(|_| !resumed).and_then(first_line);
                // The parser's own words take several lines, an error is read in one.
                let words = || error.to_string().trim_end().replace('\n', ", ");
                let told = said.map_or_else(words, |said| format!("\"{said}\""));
                Err(format!("not a RESP3 reply: {told}").into())
            }
        }
    }

    fn incomplete(&self) -> Result<Option<Value>, Arc<str>> {
        if self.pending > LARGEST_REPLY {
            Err(format!("a reply of more than {LARGEST_REPLY} bytes").into())
        } else {
            Ok(None)
        }
    }
}

/// What another server says of itself (HTTP, SSH) is told as it is.
fn first_line(bytes: &[u8]) -> Option<&str> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let line = std::str::from_utf8(line.get(..LONGEST_LINE).unwrap_or(line)).ok()?;
    let shows =
        |said: &&str| said.len() > 1 && said.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    Some(line).filter(shows)
}

/// What nearly every reply is, without the parser: granted, refused, deleted or not.
const fn short(bytes: &[u8]) -> Option<(Value, usize)> {
    match bytes {
        [b'+', b'O', b'K', b'\r', b'\n', ..] => Some((Value::Okay, 5)),
        [b'_', b'\r', b'\n', ..] => Some((Value::Nil, 3)),
        [b':', digit @ b'0'..=b'9', b'\r', b'\n', ..] => {
            Some((Value::Int((*digit - b'0') as i64), 4))
        }
        _ => None,
    }
}

/// What was received and not yet parsed. The parser resumes after `WouldBlock`, while an end of
/// input would make it give up on a partial reply.
///
/// It is read line by line: a reply ends with a line, so that the parser, which keeps what it has
/// read, never reads beyond its reply. The first byte of a line waits for the second: given alone, the
/// parser would forget of it that it begins no reply.
struct Rest<'a> {
    bytes: &'a [u8],
    read: &'a mut usize,
}

impl Read for Rest<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = self.bytes.get(*self.read..).unwrap_or_default();
        let line = rest.split_inclusive(|&byte| byte == b'\n').next();
        let Some(mut line) = line.filter(|line| line.len() > 1 || line.ends_with(b"\n")) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let read = line.read(into)?;
        *self.read += read;
        Ok(read)
    }
}

#[cfg(test)]
#[cfg(feature = "embedded")]
mod scripts;

#[cfg(test)]
mod tests;
