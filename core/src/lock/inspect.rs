//! Inspecting a lock that is held, and taking it away from its holder.

use super::{Locks, RoundKind};
use crate::master::PendingReply;
use crate::quorum::{Tally, Verdict, Vote};
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{Cx, Event, Owner, RequestId, RoundId, Waitlist};
use crate::wire::{self, Mailbox, Reply, Token};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The value that a holder has put under a key. Ours is a token and perhaps a label; another
/// client's may be any bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark(Vec<u8>);

/// The value under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredValue {
    pub value: Mark,
    /// The remaining life of the key; `None` if it does not expire.
    pub remaining: Option<Duration>,
    /// If the value is the [`SHARED`] mark: the readers, as far as the node may tell.
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
}

/// The value under a key that readers hold.
pub const SHARED: &str = "quorumlock:shared";

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
}

impl Mark {
    /// Returns what the holder has put under the key while its work went on.
    fn at_work(&self) -> &[u8] {
        self.0.strip_prefix(wire::DONE.as_bytes()).unwrap_or(&self.0)
    }
}

impl From<&str> for Mark {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Mark {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Vec<u8>> for Mark {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

/// One node's answer about a key.
pub type Seen = Result<Option<StoredValue>, Answer>;

impl Locks {
    /// Asks every node for the value under `key`, and for its readers and how many wait, which is
    /// `beside` it.
    pub(crate) fn inspect(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        key: &str,
        beside: Option<&Beside>,
    ) {
        let nodes = cx.masters.sessions.len();
        let seen = vec![Err(Answer::Outstanding); nodes];
        let kind = RoundKind::Inspect { request, seen, waiting: vec![None; nodes] };
        self.ask_all(cx, kind, &wire::inspect(key, beside));
    }

    /// Deletes `key` wherever its value is `value`, also if the work of that holder has ended well since. With
    /// the key of its `readers`, removes the reader `value` instead, and no other.
    pub(crate) fn force_release(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        key: &str,
        readers: Option<&str>,
        value: Mark,
    ) {
        let tally = Tally::new(cx.masters.settings.membership);
        let command = match readers {
            Some(readers) => wire::delete_reader(key, readers, &value.0),
            None => wire::take_away(key, &value.0),
        };
        self.ask_all(cx, RoundKind::ForceRelease { request, tally }, &command);
    }

    /// Sends one command to every node that takes it. For the other nodes, the reason is their
    /// answer.
    fn ask_all(&mut self, cx: &mut Cx, kind: RoundKind, command: &[u8]) {
        let timeout = cx.masters.settings.operation_timeout;
        let mut round = self.new_round(cx, kind, timeout);
        let id: RoundId = self.rounds.reserve();
        for (node, session) in cx.masters.sessions.iter_mut().enumerate() {
            match session.admits(command.len()) {
                Ok(()) => session.push(PendingReply::Vote(id), command),
                Err(reason) => round.record(node, Answer::Refused(reason), cx.now),
            }
        }
        self.open_round(cx, id, round);
        self.judge_heard(cx, id);
    }

    /// Handles a node's answer to an inspection.
    pub(crate) fn inspected(&mut self, cx: &mut Cx, id: RoundId, node: usize, reply: &Reply) {
        // The node may have forgotten the holder: its answer counts for nothing.
        let seen = match cx.masters.sessions[node].warming_up(cx.now) {
            Some(remaining) => Err(Answer::Refused(Refusal::WarmingUp { remaining })),
            None => seen(reply),
        };
        let Some(round) = self.rounds.get_mut(id) else { return };
        match seen {
            Ok(found) => round.find(node, found, waiting_in(reply), cx.now),
            Err(answer) => round.record(node, answer, cx.now),
        }
        self.judge_heard(cx, id);
    }

    /// Reports the result once all nodes are done. Both kinds wait for all of them: every node
    /// that is reached has to be inspected, or has to have its key deleted.
    pub(crate) fn judge_heard(&mut self, cx: &mut Cx, id: RoundId) {
        let Some(round) = self.take_complete(cx, id) else { return };
        match round.kind {
            RoundKind::Inspect { request, seen, waiting } => {
                let nodes = cx.masters.names().cloned().zip(seen).collect();
                let waiting = waiting.into_iter().flatten().max();
                cx.events.push(Event::Inspected { request, nodes, waiting });
            }
            RoundKind::ForceRelease { request, ref tally } => {
                let reports = round.reports(cx.masters.names());
                let won = tally.verdict() == Verdict::Won;
                let result = if won { Ok(reports) } else { Err(reports) };
                cx.events.push(Event::ForceReleased { request, result });
            }
            _ => {}
        }
    }
}

fn seen(reply: &Reply) -> Seen {
    match reply {
        Reply::Nil => Ok(None),
        Reply::Array(parts) => match parts.as_slice() {
            [value, Reply::Int(left), beside @ ..] => {
                let value = match value {
                    Reply::Nil => return Ok(None),
                    Reply::Text(bytes) => Mark(bytes.to_vec()),
                    // The value is not shown, whatever it is.
                    _ => return Err(unknown(value)),
                };
                // -1: a key that never expires.
                let remaining = u64::try_from(*left).ok().map(Duration::from_millis);
                let readers = beside.first().map(readers_in).unwrap_or_default();
                Ok(Some(StoredValue { value, remaining, readers }))
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
    let [_, _, _, Reply::Int(waiting)] = parts[..] else { return None };
    u64::try_from(waiting).ok()
}

/// Reads the readers of a key: values, each followed by the ms it has yet to live.
pub fn readers_in(reply: &Reply) -> Vec<StoredValue> {
    let Reply::Array(parts) = reply else { return Vec::new() };
    let reader = |pair: &[Reply]| match pair {
        [Reply::Text(value), Reply::Int(left)] => {
            let remaining = u64::try_from(*left).ok().map(Duration::from_millis);
            Some(StoredValue::new(Mark(value.to_vec()), remaining))
        }
        _ => None,
    };
    parts.chunks(2).filter_map(reader).collect()
}

/// Reads a master's reply to a forced release.
pub(crate) fn deleted(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(_) => Answer::Deleted,
        other => unknown(other),
    }
}

/// Returns how an answer to a forced release counts.
pub(crate) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Deleted | Answer::Vacant => Vote::Granted,
        _ => Vote::Unknown,
    }
}

fn unknown(reply: &Reply) -> Answer {
    let error: Arc<str> = reply.unexpected();
    Answer::Unknown(UnknownCause::Server(error))
}
