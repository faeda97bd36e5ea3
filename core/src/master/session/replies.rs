//! The replies of one master: which command each answers, and what follows for the session itself.

use crate::master::{Fault, Incoming, PendingReply, Session};
use crate::quorum::Instant;
use crate::wire::Reply;

/// A reply, and the command that it answers; none if it is a message on a channel that we listen to.
type Next = (Option<PendingReply>, Reply);

impl Session {
    /// Returns the next complete reply; `None` when there is none.
    pub(crate) fn next_reply(&mut self, now: Instant) -> Option<Result<Next, Fault>> {
        if !self.has_connection() {
            return None;
        }
        let next = self.pipe.next_reply(now).transpose()?.map_err(Fault::down);
        if self.is_open() && matches!(next, Ok((Some(_), _))) {
            // The session has opened and the server answers. Opening alone is not enough: otherwise
            // a session that dies at once each time would be redialled forever at the shortest
            // pause.
            self.failures = 0;
        }
        Some(next)
    }

    /// Handles the answer to a command that the session has sent for itself, or whose answer counts for
    /// nothing.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        pending: PendingReply,
        reply: &Reply,
    ) -> Incoming {
        match pending {
            // A master that denies PUBLISH notifies no waiter.
            PendingReply::Tell => {
                self.known.denies_calls |= reply.is_denied();
                self.known.denies_messages |= reply.is_denied();
            }
            PendingReply::Ask => self.known.denies_messages |= reply.is_denied(),
            // For the next round, as with a vote.
            PendingReply::Uncounted | PendingReply::TopUp { .. } if reply.is_noscript() => {
                self.reload();
            }
            PendingReply::Hello => return self.hello_answered(reply),
            PendingReply::Auth => self.auth_answered(now, reply),
            PendingReply::Select => match reply.error() {
                Some(error) => {
                    return Incoming::Broken(Fault::from_select(error, self.login.database));
                }
                None => self.introduce(now),
            },
            PendingReply::Info => return self.info_answered(now, reply),
            PendingReply::Persistence => self.identity.facts.learn_persistence(reply),
            PendingReply::Agree { asked, is_brief } => {
                return self.agreement_answered(now, asked, is_brief, reply);
            }
            PendingReply::TakenBack => {
                return self.departure.answered().map_or(Incoming::Nothing, Incoming::Broken);
            }
            PendingReply::Kill => return self.kill_answered(now, reply),
            // A denied right to load costs only the command that needs the script: it gets
            // NOSCRIPT. One to subscribe leaves it unconfirmed: waiters go on polling.
            _ => {}
        }
        Incoming::Nothing
    }
}
