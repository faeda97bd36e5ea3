//! One observer: when it looks, what it makes of what it sees, and the stream of leaders that this is.

use super::{Election, Leader};
use crate::driver::{Listening, runtime};
use crate::inspect::{InspectError, LockState};
use futures_core::Stream;
use quorumlock_core::quorum::Instant;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

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
        let forget_after = election.acquire.terms.redlock.setup.options.quarantine();
        let terms = Terms { forget_after, ..Terms::default() };
        let pause = Duration::ZERO;
        Self { election, terms, ear: Arc::default(), listening: None, pause }
    }

    /// Looks until there is news.
    pub(crate) async fn news(&mut self) -> Result<Option<Leader>, InspectError> {
        if self.election.acquire.terms.redlock.setup.own_runtime.is_none() {
            runtime::check("observe()", [])?;
        }
        loop {
            let is_notified = self.pause().await;
            if let Some(news) = self.look(is_notified).await? {
                return Ok(news);
            }
        }
    }

    /// Waits until the next look is due, or a message ends the pause. Returns whether one did. There is no pause
    /// in a fork, where the look fails.
    async fn pause(&self) -> bool {
        let redlock = &self.election.acquire.terms.redlock;
        if self.pause.is_zero() || !redlock.driver.is_here() {
            return false;
        }
        let (pause, ear) = (self.pause, self.ear.clone());
        let listening = async move { timeout(pause, ear.notified()).await.is_ok() };
        match &redlock.setup.own_runtime {
            None => listening.await,
            // The runtime that has a timer. Once it has ended, the next look fails.
            Some(runtime) => runtime.spawn(listening).await.unwrap_or(false),
        }
    }

    /// Looks after a pause, which a message has ended or not. Returns news, if there is any.
    async fn look(&mut self, is_notified: bool) -> Result<Option<Option<Leader>>, InspectError> {
        let Election { name, acquire } = &self.election;
        let (redlock, longest) = (&acquire.terms.redlock, acquire.terms.ttl / 3);
        self.pause = match self.listening {
            Some(_) if is_notified => SOON,
            Some(_) => self.pause.saturating_mul(2),
            None => longest,
        };
        self.pause = self.pause.clamp(SOON.min(longest), longest);
        let inspection = redlock.inspect(name).await?;
        if self.listening.is_none() {
            let channel = redlock.setup.options.key(name);
            self.listening = Some(redlock.driver.listen(channel, self.ear.clone()));
        }
        // Masters are down or warming up, or the key is on its way.
        if *inspection.state() == LockState::Unclear {
            return Ok(None);
        }
        let leader = inspection.holder().and_then(Leader::of);
        let term = leader.as_ref().map(|leader| leader.term.as_u64());
        let Some(news) = self.terms.see(redlock.driver.now(), term) else { return Ok(None) };
        if news.is_some() {
            self.pause = longest;
        }
        Ok(Some(news.and(leader)))
    }
}

/// The leaders of one election, as one observer sees them: terms that never go back.
///
/// An observer reads from time to time the value that a quorum has under the key. One reading follows
/// another, so elections never show a lower term after a higher one: a fence keeps the lower term out.
/// If an observer sees that, the higher term was never won. Another client has written it, or a version
/// that does not refuse such labels. Such a value must not silence the observer for ever: it forgets the
/// value after that has been gone for as long as a fence is kept.
#[derive(Clone, Debug, Default)]
struct Terms {
    /// How long a term must be gone to be forgotten: the quarantine.
    forget_after: Duration,
    /// The greatest term that was reported; zero before the first.
    greatest: u64,
    /// Since when a quorum has had something else each time that it was clear.
    gone_since: Option<Instant>,
    /// The last news, if there was any: the term of the leader, or that there is none.
    last: Option<Option<u64>>,
}

impl Terms {
    /// Takes what a quorum of masters that may vote had under the key at `now`: the value of a leader in
    /// this term, or that of no leader. Returns what there is to report, if that is news: the term of the
    /// leader, or that there is none.
    fn see(&mut self, now: Instant, seen: Option<u64>) -> Option<Option<u64>> {
        let leads = match seen {
            Some(term) if term >= self.greatest => Some(term),
            _ => {
                let since = *self.gone_since.get_or_insert(now);
                if now.since(since) >= self.forget_after {
                    self.greatest = 0;
                }
                seen.filter(|_| self.greatest == 0)
            }
        };
        if let Some(term) = leads {
            self.gone_since = None;
            self.greatest = term;
        }
        (self.last.replace(leads) != Some(leads)).then_some(leads)
    }
}

type Item = Result<Option<Leader>, InspectError>;

/// The leaders, from the first look on: a `Stream`, or call [`next`](Self::next) in a loop. See
/// [`Election::observe`](super::Election::observe). The stream sends nothing before it is polled;
/// dropped, it ends.
///
/// After an error it has ended.
#[must_use = "nothing is observed before the stream is polled"]
pub struct Leaders {
    /// `None` after an error.
    pub(super) looking: Option<Looking>,
}

pub(super) type Looking = Pin<Box<dyn Future<Output = (Watch, Item)> + Send + Sync>>;

impl Leaders {
    /// Returns what there is at first, and then the next change: a leader, or that there is none.
    ///
    /// # Errors
    ///
    /// - [`InspectError::InvalidSetting`]: an election cannot have this name.
    /// - [`InspectError::WrongContext`]: the call has no tokio runtime to run on, or one without
    ///   its timer.
    /// - [`InspectError::Closed`]: the `Redlock` was shut down, or its runtime is gone.
    ///
    /// Masters that are down are no error: the stream yields nothing until a quorum can be
    /// asked again.
    ///
    /// # Cancel safety
    ///
    /// Safe: the stream misses no change because of it.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

pub(super) fn look(mut watch: Watch) -> Looking {
    Box::pin(async move {
        let item = watch.news().await;
        (watch, item)
    })
}

impl Stream for Leaders {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let Some(looking) = &mut self.looking else { return Poll::Ready(None) };
        let (watch, item) = ready!(looking.as_mut().poll(cx));
        self.looking = item.is_ok().then(|| look(watch));
        Poll::Ready(Some(item))
    }
}

debug_fields!(Leaders, leaders { has_ended: leaders.looking.is_none() });

#[cfg(test)]
mod tests;
