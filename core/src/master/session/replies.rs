//! The consequences of one master's answers: one place that sends each to the question it answers.

use crate::master::{Fault, Incoming, PendingReply, Session};
use crate::quorum::Instant;
use crate::wire::Reply;

impl Session {
    /// Returns the consequence of the next complete answer; `None` when there is none.
    pub(crate) fn next_incoming(&mut self, now: Instant) -> Option<Incoming> {
        if !self.has_connection() {
            return None;
        }
        let (pending, reply) = match self.pipe.next_reply(now) {
            Ok(Some((Some(pending), reply))) => (pending, reply),
            Ok(Some((None, message))) => return Some(self.message(&message)),
            Ok(None) => return None,
            Err(cause) => return Some(Incoming::Broken(Fault::down(cause))),
        };
        if self.is_open() {
            // The session has opened and the server answers. Opening alone is not enough: otherwise
            // a session that dies at once each time would be redialled forever at the shortest
            // pause.
            self.failures = 0;
        }
        Some(match pending {
            PendingReply::Vote(round) => Incoming::Vote(round, reply),
            PendingReply::Conditional(round) => self.conditional_vote(now, round, reply),
            PendingReply::Remaining(request, round, attempt) => {
                Incoming::Remaining(request, round, attempt, reply)
            }
            PendingReply::Holders(key) => Incoming::Holders(key, reply),
            PendingReply::Deletion(debt, way) => self.debt_answered(now, debt, way, &reply),
            // A master that denies PUBLISH notifies no waiter.
            PendingReply::Tell => {
                self.known.denies_calls |= reply.is_denied();
                self.message_answered(&reply)
            }
            PendingReply::Ask => self.message_answered(&reply),
            PendingReply::Wait(request, waiter) => Incoming::Listed(request, waiter, reply),
            PendingReply::Call { key, says, is_repeated } => {
                self.call_answered(key, says, is_repeated, &reply)
            }
            // For the next round, as with a vote.
            PendingReply::Uncounted | PendingReply::TopUp { .. } if reply.is_noscript() => {
                self.reload();
                Incoming::Nothing
            }
            PendingReply::TopUp { attempt, may_repeat: true } => Incoming::ToppedUp(attempt, reply),
            PendingReply::Subscribe(key) if matches!(reply, Reply::Push(_)) => {
                Incoming::Subscribed(key)
            }
            // A denied right to load costs only the command that needs the script: it gets
            // NOSCRIPT. One to subscribe leaves it unconfirmed: waiters go on polling.
            PendingReply::Uncounted
            | PendingReply::TopUp { .. }
            | PendingReply::Load
            | PendingReply::Subscribe(_)
            | PendingReply::Unsubscribe => Incoming::Nothing,
            PendingReply::Hello => self.hello_answered(&reply),
            PendingReply::Auth => self.auth_answered(now, &reply),
            PendingReply::Select => match reply.error() {
                Some(error) => Incoming::Broken(Fault::from_select(error, self.login.database)),
                None => {
                    self.introduce(now);
                    Incoming::Nothing
                }
            },
            PendingReply::Info => self.info_answered(now, &reply),
            PendingReply::Persistence => {
                self.identity.facts.learn_persistence(&reply);
                Incoming::Nothing
            }
            PendingReply::Agree { asked, is_brief } => {
                self.agreement_answered(now, asked, is_brief, &reply)
            }
            PendingReply::TakenBack => {
                self.departure.answered().map_or(Incoming::Nothing, Incoming::Broken)
            }
            PendingReply::Kill => self.kill_answered(now, &reply),
        })
    }

    /// Returns the key that a message on a channel is about.
    fn message(&self, message: &Reply) -> Incoming {
        let Reply::Push(parts) = message else { return Incoming::Nothing };
        let channel = parts.get(1).and_then(Reply::text);
        let key = channel.and_then(|channel| channel.strip_prefix(&*self.channels));
        let text = parts.get(2).and_then(Reply::text).unwrap_or_default();
        key.map_or(Incoming::Nothing, |key| Incoming::Freed {
            key: key.into(),
            message: text.into(),
        })
    }
}
