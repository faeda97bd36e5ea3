//! The consequences of one master's answers: one place that sends each to the question it answers.

use super::pipe::Arrived;
use super::{Purpose, Session, Settled};
use crate::coordinator::fault::Fault;
use crate::coordinator::wire::Reply;
use crate::coordinator::{Settings, wire};
use crate::quorum::Instant;

impl Session {
    /// Returns the consequence of the next complete answer; `None` when there is none.
    pub(in crate::coordinator) fn next_settled(
        &mut self,
        now: Instant,
        settings: &Settings,
    ) -> Option<Settled> {
        if !self.has_connection() {
            return None;
        }
        let (purpose, reply) = match self.pipe.next_answer(now) {
            Ok(Some(Arrived::Answer(purpose, reply))) => (purpose, reply),
            Ok(Some(Arrived::Message(message))) => return Some(self.message(&message)),
            Ok(None) => return None,
            Err(cause) => return Some(Settled::Broken(Fault::down(cause))),
        };
        if self.is_open() {
            // The session has opened and the server answers. Opening alone is not enough: otherwise
            // a session that dies at once each time would be redialled forever at the shortest
            // pause.
            self.failures = 0;
        }
        Some(match purpose {
            Purpose::Vote(round) => Settled::Vote(round, reply),
            Purpose::Remaining(request, attempt) => Settled::Remaining(request, attempt, reply),
            Purpose::Settle(debt, way) => self.debt_answered(now, settings, debt, way, &reply),
            // A master that denies PUBLISH notifies no waiter.
            Purpose::Tell(key) => match reply {
                Reply::Int(told) => Settled::Told { key, listeners: told.unsigned_abs() },
                _ => Settled::Nothing,
            },
            // For the next round, as with a vote.
            Purpose::Uncounted if reply.is_noscript() => {
                self.load(wire::ACQUIRE);
                Settled::Nothing
            }
            // A denied right to load costs only the command that needs the script: it gets
            // NOSCRIPT.
            Purpose::Uncounted | Purpose::Load | Purpose::Unsubscribe => Settled::Nothing,
            // A denied right leaves it unconfirmed: waiters go on polling.
            Purpose::Subscribe(key) => match reply {
                Reply::Push { .. } => Settled::Subscribed(key),
                _ => Settled::Nothing,
            },
            Purpose::Hello => self.hello_answered(&reply),
            Purpose::Select => match reply.error() {
                Some(error) => Settled::Broken(Fault::from_select(error, self.login.database)),
                None => {
                    self.introduce(now, settings);
                    Settled::Nothing
                }
            },
            Purpose::Info => self.info_answered(now, &reply),
            Purpose::Persistence => {
                self.identity.learn_persistence(&reply);
                Settled::Nothing
            }
            Purpose::Agree(asked) => self.agreement_answered(now, settings, asked, &reply),
            Purpose::Kill => self.kill_answered(now, &reply),
        })
    }

    /// Returns the key that a message on a channel is about.
    fn message(&self, message: &Reply) -> Settled {
        let Reply::Push(parts) = message else { return Settled::Nothing };
        let channel = parts.get(1).and_then(Reply::text);
        let key = channel.and_then(|channel| channel.strip_prefix(&*self.channels));
        key.map_or(Settled::Nothing, |key| Settled::Freed(key.into()))
    }
}
