//! Inspecting a lock that is held.

use super::{Question, Replied, To};
use crate::report::{Answer, UnknownCause};
use crate::shared::{Event, Owner, RequestId, Waitlist};
use crate::wire::{self, Mailbox, Reply, Token};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The value that a holder has put under a key. Ours is a token and perhaps a label; another
/// client's may be any bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark(pub(crate) Vec<u8>);

/// The value under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredValue {
    pub value: Mark,
    /// The remaining life of the key; `None` if it does not expire.
    pub remaining: Option<Duration>,
    /// If the value is the [`SHARED`](wire::SHARED) mark: the readers, as far as the node may tell.
    pub readers: Vec<StoredValue>,
}

/// The keys beside the one that is inspected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beside {
    /// Its readers.
    pub readers: Arc<str>,
    /// Those that wait.
    pub waitlist: Waitlist,
}

impl StoredValue {
    /// Creates what has no readers.
    pub const fn new(value: Mark, remaining: Option<Duration>) -> Self {
        Self { value, remaining, readers: Vec::new() }
    }

    /// Reads what is under a key: its `value`, or nil, the ms that it has `left`, and its readers, if it was asked for
    /// them. `None` if no holder has put such a value there.
    pub fn read(value: &Reply, left: i64, readers: Option<&Reply>) -> Option<Option<Self>> {
        let value = match value {
            Reply::Nil => return Some(None),
            Reply::Text(bytes) => Mark(bytes.to_vec()),
            _ => return None,
        };
        // -1: a key that never expires.
        let remaining = u64::try_from(left).ok().map(Duration::from_millis);
        let readers = readers.map(readers_in).unwrap_or_default();
        Some(Some(Self { value, remaining, readers }))
    }
}

impl Mark {
    /// Returns the mark as text. All of ours are text.
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns whether the key is only kept for the waiter that is next in turn, and held by no client.
    pub fn is_kept(&self) -> bool {
        self.0.starts_with(wire::NEXT.as_bytes())
    }

    /// Returns whether the work of the holder has ended well, and only keeps the key closed.
    pub fn has_ended(&self) -> bool {
        self.0.starts_with(wire::DONE.as_bytes())
    }

    /// Returns the client that holds the key; `None` if its work has ended well, or if it is of another kind.
    pub(crate) fn holder(&self) -> Option<Owner<'_>> {
        Owner::of(self.as_text()?).filter(|owner| !owner.has_ended)
    }

    /// Returns whether the same holder has put both under a key, before its work has ended or after it.
    pub fn is_of_the_holder_of(&self, other: &Self) -> bool {
        self.at_work() == other.at_work()
    }

    /// Returns what the holder has put under the key while its work went on.
    fn at_work(&self) -> &[u8] {
        self.0.strip_prefix(wire::DONE.as_bytes()).unwrap_or(&self.0)
    }
}

impl<Bytes: Into<Vec<u8>>> From<Bytes> for Mark {
    fn from(bytes: Bytes) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

/// One node's answer about a key.
pub type Seen = Result<Option<StoredValue>, Answer>;

impl Question {
    /// Asks every node for the value under `key`, and for its readers and how many wait, which is
    /// `beside` it.
    pub fn inspect(request: RequestId, key: &str, beside: Option<&Beside>) -> Self {
        Self::new(To::All, vec![wire::inspect(key, beside)], move |_, replied| {
            let waiting =
                replied.iter().filter_map(|(_, replies)| waiting_in(replies.first()?)).max();
            let seen = |(report, replies): Replied| {
                (report.node, replies.first().map_or(Err(report.answer), seen))
            };
            Event::Inspected { request, nodes: replied.into_iter().map(seen).collect(), waiting }
        })
    }
}

fn seen(reply: &Reply) -> Seen {
    match reply {
        Reply::Nil => Ok(None),
        Reply::Array(parts) => match parts.as_slice() {
            // The value is not shown, whatever it is.
            [value, Reply::Int(left), beside @ ..] => {
                StoredValue::read(value, *left, beside.first()).ok_or_else(|| unknown(value))
            }
            _ => Err(unknown(reply)),
        },
        other => Err(unknown(other)),
    }
}

/// Returns the clients that hold a key, as a master reports it: the mailbox of each, and its token. Whatever is
/// there otherwise has none.
pub(crate) fn holders_in(reply: &Reply) -> Vec<(Mailbox, String)> {
    let Ok(Some(found)) = seen(reply) else { return Vec::new() };
    let values = std::iter::once(&found).chain(&found.readers);
    let holder = |stored: &StoredValue| {
        let mailbox = stored.value.holder()?.mailbox;
        Some((mailbox, stored.value.as_text()?.get(..Token::DIGITS)?.to_owned()))
    };
    values.filter_map(holder).collect()
}

/// Returns how many wait for a key, if the node says so: they stand in a list at one node.
fn waiting_in(reply: &Reply) -> Option<u64> {
    let Reply::Array(parts) = reply else { return None };
    let [Reply::Nil | Reply::Text(_), _, _, Reply::Int(waiting)] = parts[..] else { return None };
    u64::try_from(waiting).ok()
}

/// Reads the readers of a key: values, each followed by the ms it has yet to live.
fn readers_in(reply: &Reply) -> Vec<StoredValue> {
    let Reply::Array(parts) = reply else { return Vec::new() };
    let reader = |pair: &[Reply]| match pair {
        [value, Reply::Int(left)] => StoredValue::read(value, *left, None)?,
        _ => None,
    };
    parts.chunks(2).filter_map(reader).collect()
}

fn unknown(reply: &Reply) -> Answer {
    Answer::Unknown(UnknownCause::Server(reply.unexpected()))
}
