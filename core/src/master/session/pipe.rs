//! One connection as a queue: bytes out in order, and the order in which answers are due.

use crate::master::Debt;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Keys, RequestId, RoundId};
use crate::wire::waitlist::Says;
use crate::wire::{Replies, Reply, Token, Way};
use bytes::{Buf, BytesMut};
use std::collections::VecDeque;
use std::sync::Arc;

/// The reply that a command waits for, by which it is understood.
#[derive(Debug)]
pub(crate) enum PendingReply {
    /// What the server is, and the id of the connection.
    Hello,
    /// The next identity on a connection that has one.
    Auth,
    /// The database, if it is not the first.
    Select,
    /// A section of INFO.
    Info,
    /// The way in which the server keeps what it has granted.
    Persistence,
    /// The settings that the server's clients share, asked for at this instant: the last question.
    Agree { asked: Instant, is_brief: bool },
    /// This client's note was taken back.
    TakenBack,
    /// A script, in the handshake or after a NOSCRIPT: for the next round.
    Load,
    /// The end of the predecessor.
    Kill,
    /// An acquire or an extension of this round.
    Vote(RoundId),
    /// The same, sent behind a question whose answer decides whether it counts.
    Conditional(RoundId),
    /// The remaining life of the key that refused this attempt, and its holder.
    Remaining(RequestId, RoundId, AttemptId),
    /// What stands under this key: its holders are asked to give way.
    Holders(Arc<str>),
    /// A holder is asked to give way.
    Ask,
    /// A command whose answer counts for nothing.
    Uncounted,
    /// A top-up of this attempt: its answer counts for nothing, either. If it `may_repeat`, it is
    /// sent again with a greater number where the fence has refused it.
    TopUp { attempt: AttemptId, may_repeat: bool },
    /// A release or a rollback, and the way in which it was sent.
    Deletion(Debt, Way),
    /// Those that listen to a key are notified that it is free.
    Tell,
    /// Whether this waiter may try, or where it stands in the list.
    Wait(RequestId, Token),
    /// Which waiter was called for this key, which has become free.
    Call { key: Keys, says: Says, is_repeated: bool },
    /// Answered by a push: messages about this key arrive from now on.
    Subscribe(Arc<str>),
    /// Answered by a push as well: no more of them.
    Unsubscribe,
}

/// The capacity in bytes above which an empty queue returns its memory, after a burst.
const KEPT: usize = 64 * 1024;

/// A command without its answer.
struct Due {
    pending: PendingReply,
    /// The position of its first byte among all bytes ever queued on this connection.
    start: u64,
    len: usize,
    /// When its first byte was written. Before that the server owes nothing.
    written_at: Option<Instant>,
}

#[derive(Default)]
pub(crate) struct Pipe {
    out: BytesMut,
    /// The most bytes that it has held since it was created.
    longest: usize,
    /// Bytes ever queued, and how many of them were written.
    queued: u64,
    written: u64,
    due: VecDeque<Due>,
    /// The bytes of all commands without an answer.
    pub(super) due_bytes: usize,
    /// The number of rollbacks and releases without an answer.
    pub(super) debts_due: usize,
    answered_at: Instant,
    replies: Replies,
}

impl Pipe {
    pub(super) fn push(&mut self, pending: PendingReply, command: &[u8]) {
        if matches!(pending, PendingReply::Deletion(..)) {
            self.debts_due += 1;
        }
        let (start, len) = (self.queued, command.len());
        self.due.push_back(Due { pending, start, len, written_at: None });
        self.due_bytes += len;
        self.queued += len as u64;
        self.out.extend_from_slice(command);
        self.longest = self.longest.max(self.out.len());
    }

    pub(crate) fn transmit(&self) -> &[u8] {
        &self.out
    }

    pub(crate) fn written(&mut self, now: Instant, len: usize) {
        self.out.advance(len.min(self.out.len()));
        if self.out.is_empty() && self.longest > KEPT {
            (self.out, self.longest) = (BytesMut::new(), 0);
        }
        self.written += len as u64;
        let written = self.written;
        // The newest commands are at the back; stamped ones are at the front.
        let unstamped = self.due.iter_mut().rev().take_while(|due| due.written_at.is_none());
        unstamped.filter(|due| due.start < written).for_each(|due| due.written_at = Some(now));
    }

    /// Returns when the last unanswered question about the clients' settings began to leave, if it
    /// has.
    pub(super) fn asked_at(&self) -> Option<Instant> {
        let asks = |due: &&Due| matches!(due.pending, PendingReply::Agree { .. });
        self.due.iter().rfind(asks).and_then(|due| due.written_at)
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.replies.receive(bytes);
    }

    /// Returns the next complete reply, and what it answers; nothing if it is a message on a channel
    /// that we listen to. A push that confirms a subscription or its end is an answer, and any other
    /// push means nothing.
    pub(super) fn next_reply(
        &mut self,
        now: Instant,
    ) -> Result<Option<(Option<PendingReply>, Reply)>, Arc<str>> {
        while let Some(reply) = self.replies.next()? {
            if let Reply::Push(_) = &reply {
                match reply.push_kind() {
                    Some("message") => return Ok(Some((None, reply))),
                    Some("subscribe" | "unsubscribe") => {}
                    // No sign that anything is answered.
                    _ => continue,
                }
                let confirmed = self.due.front().map(|due| &due.pending);
                if !matches!(
                    confirmed,
                    Some(PendingReply::Subscribe(_) | PendingReply::Unsubscribe)
                ) {
                    return Err("the server confirmed a subscription that nobody asked for".into());
                }
            }
            self.answered_at = now;
            let Some(due) = self.due.pop_front() else {
                return Err("the server answered what nobody asked".into());
            };
            if self.due.is_empty() && self.due.capacity() > KEPT / size_of::<Due>() {
                self.due = VecDeque::new();
            }
            self.due_bytes -= due.len;
            self.debts_due -= usize::from(matches!(due.pending, PendingReply::Deletion(..)));
            return Ok(Some((Some(due.pending), reply)));
        }
        Ok(None)
    }

    /// Returns since when the server has owed an answer in silence; `None` if it owes none.
    pub(super) fn silent_since(&self) -> Option<Instant> {
        self.due.front()?.written_at.map(|at| at.max(self.answered_at))
    }

    /// Returns since when the server has owed its next answer; `None` if it owes none.
    pub(super) fn owed_since(&self) -> Option<Instant> {
        self.due.front()?.written_at
    }

    /// Returns the answer that the command waits for which ends here among all bytes ever queued.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn pending_until(&self, end: u64) -> Option<&PendingReply> {
        let ends = |due: &&Due| due.start + due.len as u64 == end;
        self.due.iter().rfind(ends).map(|due| &due.pending)
    }

    /// Returns the debts that were sent, and have no answer.
    pub(super) fn debts(&self) -> impl Iterator<Item = &Debt> {
        self.due.iter().filter_map(|due| match &due.pending {
            PendingReply::Deletion(debt, _) => Some(debt),
            _ => None,
        })
    }

    /// Returns the commands that will never be answered, since the connection is gone, and whether any
    /// byte of each may have left the process.
    pub(super) fn into_unanswered(self) -> impl Iterator<Item = (PendingReply, bool)> {
        let written = self.written;
        self.due.into_iter().map(move |due| (due.pending, due.start < written))
    }
}
