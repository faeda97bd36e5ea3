//! Whether a master that has no connection may answer soon: a round waits for it then, as for one that was asked.

use super::redial::REDIAL_CAP;
use super::time::longest_jittered;
use crate::quorum::Instant;
use std::time::Duration;

/// The last that happened to the connections of a master that has none open for votes.
#[derive(Default)]
pub(super) struct Absence {
    dialed_at: Instant,
    /// `None` until the first dial has ended.
    last: Option<Last>,
}

#[derive(Clone, Copy)]
enum Last {
    /// The connection was lost then, and no redial has failed.
    Lost(Instant),
    /// A dial that began then has failed.
    Missed(Instant),
}

impl Absence {
    pub(super) const fn dials(&mut self, now: Instant) {
        self.dialed_at = now;
    }

    /// Notes that the connection is closed, which was open for votes or not.
    pub(super) const fn closes(&mut self, now: Instant, was_open: bool) {
        self.last = Some(match was_open {
            true => Last::Lost(now),
            false => Last::Missed(self.dialed_at),
        });
    }

    /// Returns since when the master has had the time to answer a round that was asked for at `since`. `None` if a
    /// dial has failed, and began not long ago. While this process is stopped, no master has time to answer.
    pub(super) fn awaited_from(
        &self,
        now: Instant,
        since: Instant,
        connect_timeout: Duration,
    ) -> Option<Instant> {
        match self.last? {
            Last::Lost(at) => Some(at.max(since)),
            Last::Missed(dialed_at) => {
                let is_stale = now.since(dialed_at) > longest_between_dials(connect_timeout);
                is_stale.then_some(since)
            }
        }
    }
}

/// Returns how long after the start of a dial that fails the next one has failed, too, unless this process was stopped:
/// a connection and a handshake take up to a connect timeout each.
fn longest_between_dials(connect_timeout: Duration) -> Duration {
    longest_jittered(REDIAL_CAP) + connect_timeout.saturating_mul(4)
}
