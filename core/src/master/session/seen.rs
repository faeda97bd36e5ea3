//! What tests ask of a session.

use super::{PendingReply, Session};
use crate::quorum::{Instant, agreement};
use std::time::Duration;

/// What a client knows of when a master votes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// The connection is open for votes.
    pub is_open: bool,
    /// The uptime that the master has reported, and when it was read.
    pub uptime: Option<(Instant, Duration)>,
    /// The instant from which the master votes, and the span since its start that this keeps.
    pub votes_from: Instant,
    pub quarantine: Duration,
}

impl Session {
    pub(crate) fn judged(&self, quarantine: Duration) -> Judged {
        Judged {
            is_open: self.is_open(),
            uptime: self.identity.uptime,
            votes_from: self.votes_from,
            quarantine,
        }
    }

    /// Returns when the question was asked on which a round may rest that begins now.
    pub(crate) fn noted(&self, now: Instant) -> Option<Instant> {
        self.confirmation.noted().filter(|asked| agreement::is_fresh(*asked, now))
    }

    /// Returns the answer that the command waits for which ends here among all bytes of the
    /// connection.
    pub(crate) fn pending_until(&self, end: u64) -> Option<&PendingReply> {
        self.pipe.pending_until(end)
    }
}
