//! Inspecting a lock that is held, and taking it away from its holder.

use super::round::{Round, RoundKind};
use super::session::PendingReply;
use super::timers::Timer;
use super::wire::{self, Reply};
use super::{Coordinator, Event, RequestId, RoundId};
use crate::quorum::turns::ticket;
use crate::quorum::{Instant, Tally, Verdict, Vote};
use crate::report::{Answer, Refusal, UnknownCause};
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
    /// Who lives in its queue.
    pub alive: Arc<str>,
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

    /// Returns whether the key is only kept for who is next in turn, and held by no client.
    pub fn is_kept(&self) -> bool {
        self.0.starts_with(wire::NEXT.as_bytes())
    }

    /// Returns whether the work of the holder has ended well, and only keeps the key closed.
    pub fn has_ended(&self) -> bool {
        self.0.starts_with(wire::DONE.as_bytes())
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

impl Coordinator {
    /// Asks every node for the value under `key`, and for its readers and how many wait in turn, which
    /// is `beside` it.
    pub fn handle_inspect(
        &mut self,
        now: Instant,
        request: RequestId,
        key: &str,
        beside: Option<&Beside>,
    ) {
        let seen = self.sessions.iter().map(|_| Err(Answer::Outstanding)).collect();
        let waiting = vec![None; self.sessions.len()];
        let command = wire::inspect(key, beside);
        let kind = RoundKind::Inspect { request, seen, waiting };
        let round = self.ask_all(now, kind, &command);
        self.judge_heard(round);
    }

    /// Deletes `key` wherever its value is `value`, also if the work of that holder has ended well since.
    pub fn handle_force_release(
        &mut self,
        now: Instant,
        request: RequestId,
        key: &str,
        value: impl Into<Mark>,
    ) {
        self.handle_take_away(now, request, key, None, value);
    }

    /// Does the same, unless it is named where the `readers` are: then it removes the reader `value`
    /// wherever it is, and no other.
    pub fn handle_take_away(
        &mut self,
        now: Instant,
        request: RequestId,
        key: &str,
        readers: Option<&str>,
        value: impl Into<Mark>,
    ) {
        let tally = Tally::new(self.settings.membership);
        let (kind, value) = (RoundKind::ForceRelease { request, tally }, value.into().0);
        let command = match readers {
            Some(readers) => wire::delete_reader(key, readers, &value),
            None => wire::take_away(key, &value),
        };
        let round = self.ask_all(now, kind, &command);
        self.judge_heard(round);
    }

    /// Sends one command to every node that takes it. For the other nodes, the reason is their
    /// answer.
    fn ask_all(&mut self, now: Instant, kind: RoundKind, command: &[u8]) -> RoundId {
        let timeout = self.settings.operation_timeout;
        let mut round = self.new_round(kind, now, timeout);
        let id: RoundId = self.rounds.reserve();
        for (node, session) in self.sessions.iter_mut().enumerate() {
            match session.admits(command.len()) {
                Ok(()) => session.push(PendingReply::Vote(id), command),
                Err(reason) => round.record(node, Answer::Refused(reason), now),
            }
        }
        self.timers.set(round.timeout_at, Timer::Round(id));
        self.rounds.insert(id, round);
        id
    }

    /// Handles a node's answer to an inspection.
    pub(super) fn inspected(&mut self, now: Instant, id: RoundId, node: usize, reply: &Reply) {
        // The node may have forgotten the holder: its answer counts for nothing.
        let seen = match self.sessions[node].warming_up(now) {
            Some(remaining) => Err(Answer::Refused(Refusal::WarmingUp { remaining })),
            None => seen(reply),
        };
        let Some(round) = self.rounds.get_mut(id) else { return };
        match seen {
            Ok(found) => round.find(node, found, waiting_in(reply), now),
            Err(answer) => round.record(node, answer, now),
        }
        self.judge_heard(id);
    }

    /// Reports the result once all nodes are done. Both kinds wait for all of them: every node
    /// that is reached has to be inspected, or has to have its key deleted.
    pub(super) fn judge_heard(&mut self, id: RoundId) {
        if !self.rounds.get(id).is_some_and(Round::is_complete) {
            return;
        }
        let Some(round) = self.take_round(id) else { return };
        match round.kind {
            RoundKind::Inspect { request, seen, waiting } => {
                let names = self.sessions.iter().map(|session| session.name.clone());
                let nodes = names.zip(seen).collect();
                let membership = self.settings.membership;
                let waiting = ticket(membership, &waiting);
                self.events.push(Event::Inspected { request, nodes, membership, waiting });
            }
            RoundKind::ForceRelease { request, ref tally } => {
                let reports = round.reports(self.sessions.iter().map(|session| &session.name));
                let won = tally.verdict() == Verdict::Won;
                let result = if won { Ok(reports) } else { Err(reports) };
                self.events.push(Event::ForceReleased { request, result });
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

/// Reads how many wait in turn.
fn waiting_in(reply: &Reply) -> Option<u64> {
    match reply {
        Reply::Array(parts) => match parts.as_slice() {
            [_, _, _, Reply::Int(waiting)] => u64::try_from(*waiting).ok(),
            _ => None,
        },
        _ => None,
    }
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
pub(super) fn deleted(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(_) => Answer::Deleted,
        other => unknown(other),
    }
}

/// Returns how an answer to a forced release counts.
pub(super) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Deleted | Answer::Vacant => Vote::Granted,
        _ => Vote::Unknown,
    }
}

fn unknown(reply: &Reply) -> Answer {
    let error: Arc<str> = reply.unexpected();
    Answer::Unknown(UnknownCause::Server(error))
}
