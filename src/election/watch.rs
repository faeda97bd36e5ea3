//! One observer: when it looks, and what it makes of what it sees.

use super::terms::{News, Sight, Terms};
use super::{Election, Leader};
use crate::driver::Listening;
use crate::inspect::InspectError;
use crate::inspect::{Inspection, LockState};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle as Runtime;
use tokio::sync::Notify;

/// The pause after the first look that follows a message. It doubles from then on: the next leader
/// is not announced, and usually leads within a round trip.
const SOON: Duration = Duration::from_millis(20);

/// An observer of an election.
pub(crate) struct Watch {
    election: Election,
    terms: Terms,
    ear: Arc<Notify>,
    /// `None` before the first look.
    listening: Option<Listening>,
    pause: Duration,
}

impl Watch {
    pub(crate) fn new(election: Election) -> Self {
        let terms = Terms::new(election.redlock.options().quarantine());
        let pause = Duration::ZERO;
        Self { election, terms, ear: Arc::default(), listening: None, pause }
    }

    /// Returns the pause before the next look, unless a message ends it. Zero in a fork, where the look fails.
    pub(crate) fn pause(&self) -> Duration {
        if self.election.redlock.driver().is_here() { self.pause } else { Duration::ZERO }
    }

    /// Returns what a message notifies.
    pub(crate) fn ear(&self) -> Arc<Notify> {
        self.ear.clone()
    }

    /// Returns the runtime that has a timer for it, if that is not the one on which it is polled.
    pub(crate) fn own_runtime(&self) -> Option<&Runtime> {
        self.election.redlock.own_runtime()
    }

    /// Looks after a pause, which a message has ended or not. Returns news, if there is any.
    pub(crate) async fn look(
        &mut self,
        is_notified: bool,
    ) -> Result<Option<Option<Leader>>, InspectError> {
        let Election { redlock, name, ttl, .. } = &self.election;
        let longest = *ttl / 3;
        self.pause = match self.listening {
            Some(_) if is_notified => SOON,
            Some(_) => self.pause.saturating_mul(2),
            None => longest,
        };
        self.pause = self.pause.clamp(SOON.min(longest), longest);
        let inspection = self.election.inspect().await?;
        if self.listening.is_none() {
            let channel = redlock.options().key(name);
            self.listening = Some(redlock.driver().listen(channel, self.ear.clone()));
        }
        let news = judge(&mut self.terms, redlock.driver().now(), &inspection);
        if matches!(news, Some(Some(_))) {
            self.pause = longest;
        }
        Ok(news)
    }
}

fn judge(
    terms: &mut Terms,
    now: quorumlock_core::quorum::Instant,
    inspection: &Inspection,
) -> Option<Option<Leader>> {
    let leader = inspection.holder().and_then(Leader::of);
    let sight = match (inspection.state(), &leader) {
        (LockState::Unclear, _) => Sight::Unclear,
        (_, Some(leader)) => Sight::Leader(leader.term.as_u64()),
        (LockState::Free | LockState::Held(_), None) => Sight::Vacant,
    };
    Some(match terms.see(now, sight)? {
        News::Leader => leader,
        News::Vacant => None,
    })
}
