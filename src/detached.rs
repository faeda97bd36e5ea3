//! A lock as a value, between two guards.

#[cfg(feature = "serde")]
mod serde;

use crate::failure::InvalidSetting;
use crate::fencing::FencingToken;
use crate::kind::{Fenced, Kind, Numbered, Unfenced};
use crate::options::Options;
use crate::report::Escaped;
use quorumlock_core::coordinator::{DetachedLock, Keys};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A lock without a guard: [`Guard::detach`](crate::Guard::detach) returns it, and
/// [`Redlock::adopt`](crate::Redlock::adopt) turns it into a guard again, here or in another process.
///
/// It contains the token of the lock, and so it is a secret: **its possessor owns the lock**. Send it
/// only over channels that you would trust with a password. `Debug` does not show the token.
///
/// The keys stay on the masters until it is adopted, or until they expire: a ttl, and the
/// [`lock_delay`](crate::Acquire::lock_delay) if there is one, after
/// [`detach`](crate::Guard::detach) was called. They are not extended in between, and not deleted
/// if it is dropped.
///
/// It carries the resource, the token and its label, the ttl and the lock-delay, the rest of the
/// keep-alive and of [`min_hold`](crate::Acquire::min_hold), and the
/// [fencing token](Self::fencing_token) if it has one. It carries no deadline,
/// since that would mean nothing on another machine's clock.
///
/// With the feature `serde` it implements `Serialize` and `Deserialize`. Deserialized values are
/// checked, and no error shows the token:
///
/// ```
/// # #[cfg(all(feature = "serde", feature = "embedded"))]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
/// # let connect = || masters.builder().operation_timeout(std::time::Duration::from_secs(1)).connect();
/// # let (redlock, worker) = (connect().await?, connect().await?);
/// let guard = redlock.acquire("orders:42").await?;
/// let message = serde_json::to_string(&guard.detach().await?)?;
/// // over a pipe, or a queue that delivers at most once
/// let detached: quorumlock::Detached = serde_json::from_str(&message)?;
/// let guard = worker.adopt(detached).await?;
/// # guard.release().await?;
/// # Ok(()) }
/// # #[cfg(not(all(feature = "serde", feature = "embedded")))]
/// # fn main() {}
/// ```
///
/// # One holder only
///
/// It is not `Clone`, and adopting it consumes it. But its serialized form can be copied, read twice,
/// or delivered twice by a queue. Then each adopter would hold the lock, with the same fencing
/// token: neither the masters nor the check of that token can tell them apart. Within one client the
/// second is refused. Between processes, hand it over only in a way that delivers it at most once.
#[must_use = "the lock stays until its ttl is over: adopt it, or send it to where that is done"]
pub struct Detached<K: Kind = Unfenced> {
    resource: Arc<str>,
    pub(crate) lock: Box<DetachedLock>,
    kind: PhantomData<K>,
}

/// A [`Detached`] with a fencing token.
pub type FencedDetached = Detached<Fenced>;

impl<K: Kind> Detached<K> {
    pub(crate) const fn new(resource: Arc<str>, lock: Box<DetachedLock>) -> Self {
        Self { resource, lock, kind: PhantomData }
    }

    /// Returns the fencing token, if it has one.
    pub(crate) fn token(&self) -> Option<FencingToken> {
        self.lock.fenced.as_ref().map(|fenced| FencingToken::of_win(fenced.number))
    }

    /// Returns the locked resource; several are separated by commas.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the ttl of the lock: its keys live for at least as long, counted from the start of
    /// [`detach`](crate::Guard::detach).
    #[must_use]
    pub fn ttl(&self) -> Duration {
        self.lock.ttl.span()
    }

    /// Checks the value against the options of the client that is to adopt it. Before that, nothing of it
    /// goes to masters: a value from outside could name any of their keys.
    pub(crate) fn check(&self, options: &Options) -> Result<(), InvalidSetting> {
        let DetachedLock { keys, fenced, ttl, life, at_least, .. } = &*self.lock;
        let prefix = &options.key_prefix;
        let other_prefix = || {
            let problem = format!(
                "{:?} is not that of {:?}, which was detached under another one: use the \
                 same for both",
                Escaped(prefix),
                Escaped(&self.resource),
            );
            InvalidSetting::new("key_prefix", problem)
        };
        let names = keys.iter().map(|key| key.strip_prefix(prefix.as_str()).map(Arc::from));
        let names: Option<Vec<Arc<str>>> = names.collect();
        let names = names.filter(|names| names.join(", ") == *self.resource);
        let names = names.ok_or_else(other_prefix)?;
        options.check_may_acquire()?;
        options.check_resources(&names)?;
        if let Some(fenced) = fenced {
            let ours = Keys::several(names.iter().map(|name| options.fence(name)));
            if ours.as_ref() != Some(&*fenced.fences) {
                return Err(other_prefix());
            }
        }
        let ttl = options.check_ttl("ttl", ttl.span())?;
        options.check_min_hold(at_least.unwrap_or_default())?;
        options.check_lock_delay(life.span().saturating_sub(ttl), ttl).map(drop)
    }
}

impl<K: Numbered> Detached<K> {
    /// Returns the fencing token, which stays the same when the lock is adopted.
    #[must_use]
    pub fn fencing_token(&self) -> FencingToken {
        // The least token would be refused.
        self.token().unwrap_or(FencingToken::MIN)
    }
}

debug_fields!(
    /// Without the token, whose possessor owns the lock.
    { K: Kind } Detached<K>, detached {
        resource: detached.resource,
        ttl: detached.ttl(),
        kind: K::NAME,
        token: detached.token(),
    }
);
