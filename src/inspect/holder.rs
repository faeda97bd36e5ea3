//! The holder of a lock, as each master names it, and this client's own knowledge of it.

use super::{Inspection, LockState};
use crate::driver::Own;
use crate::fencing::FencingToken;
use crate::report::{Answer, Escaped, Span};
use quorumlock_core::coordinator::{Mark, Owner, SHARED, Seen, StoredValue};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The most readers that a line names.
const NAMED: usize = 8;

/// The holder of a lock.
#[derive(Clone, PartialEq, Eq)]
pub struct Holder {
    /// The token, followed by the label.
    pub(super) value: Mark,
    pub(super) remaining: Option<Duration>,
    pub(super) readers: Vec<Holder>,
    /// The client that has asked acquired it.
    pub(super) is_ours: bool,
    /// It is kept warm there, and no guard has it.
    pub(super) is_idle: bool,
}

impl Holder {
    /// Returns the label that the holder's [call](crate::Acquire::label) or its
    /// [builder](crate::RedlockBuilder::label) was given. `None` if none was given, or if the holder
    /// is another kind of client.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.owner()?.label
    }

    /// Returns the term of the holder, if it leads an [`election`](crate::Redlock::election).
    #[must_use]
    pub fn term(&self) -> Option<FencingToken> {
        self.owner()?.term.map(FencingToken::of_win)
    }

    /// Returns what the value says of the holder; of a lock that is read, what those of the readers say.
    pub(crate) fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        self.with_readers().filter_map(Self::owner)
    }

    pub(super) fn with_readers(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.readers)
    }

    fn owner(&self) -> Option<Owner<'_>> {
        Owner::of(self.value.as_text()?)
    }

    /// Returns the holder that has put this value under a key.
    pub(crate) fn of(stored: StoredValue) -> Self {
        let readers = stored.readers.into_iter().map(Self::of).collect();
        let (value, remaining) = (stored.value, stored.remaining);
        Self { value, remaining, readers, is_ours: false, is_idle: false }
    }

    /// Checks whether the value is a token as this crate draws it, with a label or without one, or
    /// the mark of readers.
    pub(crate) fn has_token(&self) -> bool {
        self.is_shared() || self.owner().is_some()
    }

    /// Returns the remaining life of the key. By quorum, this is the time until a quorum no longer
    /// has it, if it is not extended. The holder's own deadline comes before that. `None` if the
    /// key never expires: a foreign key, or an operator's. Of a lock that is read, it is the time until
    /// the last of its readers may be gone.
    #[must_use]
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }

    /// Checks whether both are the same acquisition.
    #[must_use]
    pub fn same_hold_as(&self, other: &Self) -> bool {
        self.value.is_of_the_holder_of(&other.value)
    }

    /// Checks whether the work of this holder has ended well, and only keeps the resource closed: see
    /// [`Acquire::min_hold`](crate::Acquire::min_hold). Clients no longer work under the lock.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.owner().is_some_and(|owner| owner.has_ended)
    }

    /// Checks whether the client that has inspected or listed the lock, a [`Redlock`](crate::Redlock) with its
    /// clones, has acquired it. Of a lock that is read, each of its [readers](Self::readers) says so for itself. A
    /// lock that was [adopted](crate::Redlock::adopt) counts as held by the client that acquired it. Always `false`
    /// once the client has shut down.
    #[must_use]
    pub fn is_this_client(&self) -> bool {
        self.is_ours
    }

    /// Checks whether this client [keeps the lock warm](crate::Acquire::keep_warm) and no guard has it: it was
    /// given back, and waits for this client's next acquire.
    ///
    /// Only the holder itself knows that. To the masters an idle lock is held as any other, so `false` says
    /// nothing of a lock that another client holds: [`ask`](crate::Redlock::ask) for it, and what is idle there is
    /// released at once.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
    /// # let [redlock, other] = [masters.builder().connect().await?, masters.builder().connect().await?];
    /// redlock.acquire("partition:7").keep_warm(Duration::from_secs(5)).await?.release().await?;
    /// let inspection = redlock.inspect("partition:7").await?;
    /// assert!(inspection.holder().is_some_and(|holder| holder.is_idle()));
    /// let elsewhere = other.inspect("partition:7").await?;
    /// assert!(elsewhere.holder().is_some_and(|holder| !holder.is_idle() && !holder.is_this_client()));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Adds what this client knows of the key in this place.
    pub(crate) fn learn(&mut self, own: &Own, place: usize) {
        let idle = own.idle.get(place).copied().flatten().map(|token| token.to_string());
        let is_idle = |value: &str| idle.is_some_and(|token| value.starts_with(&token));
        self.is_ours = self.owner().is_some_and(|owner| Some(owner.mailbox) == own.mailbox);
        self.is_idle = self.is_ours && self.value.as_text().is_some_and(is_idle);
        self.readers.iter_mut().for_each(|reader| reader.learn(own, place));
    }

    /// Checks whether the lock is held by readers: see [`RwLock::read`](crate::RwLock::read).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.value.as_text() == Some(SHARED)
    }

    /// Returns the readers, if the lock is held by readers, each with its label and the time that it
    /// has yet to live; the last to end come first. By quorum, these are the readers that a quorum
    /// has. Of more than 100 on one master, only the last to end. Empty for a writer, and where the
    /// masters' user has no right to see readers (`zrange`).
    #[must_use]
    pub fn readers(&self) -> &[Self] {
        &self.readers
    }

    fn fmt_readers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("read by ")?;
        for (place, reader) in self.readers.iter().take(NAMED).enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            write!(f, "{}", Escaped(reader.label().unwrap_or("unnamed")))?;
            if let Some(left) = reader.remaining {
                write!(f, " for {}", Span(left))?;
            }
        }
        match self.readers.len() {
            0 => f.write_str("others"),
            all if all > NAMED => write!(f, " and {} more", all - NAMED),
            _ => Ok(()),
        }
    }
}

impl Inspection {
    /// Adds what this client knows of the key in this place.
    pub(crate) fn learn(&mut self, own: &Own, place: usize) {
        for node in &mut self.nodes {
            if let NodeState::Held(holder) = &mut node.state {
                holder.learn(own, place);
            }
        }
        if let LockState::Held(holder) = &mut self.state {
            holder.learn(own, place);
        }
    }
}

debug_fields!(
    /// Leaves out the token, which must stay private: with it, the lock could be released.
    Holder,
    holder {
        label: holder.label(),
        remaining: holder.remaining,
        readers: holder.readers,
        is_this_client: holder.is_ours,
        is_idle: holder.is_idle,
    }
);

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.label() {
            _ if self.is_shared() => self.fmt_readers(f)?,
            Some(label) if self.has_ended() => write!(f, "done by {}", Escaped(label))?,
            Some(label) => write!(f, "held by {}", Escaped(label))?,
            None if self.has_ended() => f.write_str("done")?,
            None => f.write_str("held")?,
        }
        if self.is_idle() {
            f.write_str(", idle in this client")?;
        }
        match self.remaining {
            Some(left) if self.has_ended() => {
                write!(f, ", locked for {} more (min_hold)", Span(left))
            }
            Some(left) => write!(f, ", expires in {}", Span(left)),
            None => f.write_str(", never expires"),
        }
    }
}

/// The answer of one master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInspection {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The state of the lock on that master.
    pub state: NodeState,
}

/// The state of a lock on one master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeState {
    /// The master has no key.
    Free,
    /// This holder's key, with the time it has left on that master.
    Held(Holder),
    /// A key without a holder: an older version keeps it for the next [fair](crate::Acquire::fair) waiter, for this
    /// long at most.
    Kept(Duration),
    /// The master did not say, or what it says does not count yet.
    Unknown(Answer),
}

impl NodeState {
    pub(crate) const fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Held(holder) => Some(holder),
            _ => None,
        }
    }
}

impl From<Seen> for NodeState {
    fn from(seen: Seen) -> Self {
        match seen {
            Ok(None) => Self::Free,
            Ok(Some(stored)) if stored.value.is_kept() => {
                Self::Kept(stored.remaining.unwrap_or(Duration::MAX))
            }
            Ok(Some(stored)) => Self::Held(Holder::of(stored)),
            Err(answer) => Self::Unknown(answer),
        }
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::Kept(left) => write!(f, "reserved for the next waiter, for {}", Span(*left)),
            Self::Held(holder) => holder.fmt(f),
            Self::Unknown(answer) => answer.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorumlock_core::coordinator::StoredValue;
    use std::time::Duration;

    #[test]
    fn work_that_has_ended_well_only_closes_it() {
        let token = "0123456789abcdef0123456789abcdef";
        let holder =
            |value: &str| Holder::of(StoredValue::new(value.into(), Some(Duration::from_secs(9))));
        let (at_work, ended) = (holder(token), holder(&format!("quorumlock:done:{token}")));
        assert!(ended.has_ended() && !at_work.has_ended() && ended.same_hold_as(&at_work));
        assert!(ended.has_token(), "it is recognized");
        assert_eq!(ended.to_string(), "done, locked for 9 s more (min_hold)");
        let named = holder(&format!("quorumlock:done:{token}:me"));
        assert_eq!(named.to_string(), "done by me, locked for 9 s more (min_hold)");
        assert!(!named.same_hold_as(&ended) && !holder("quorumlock:done:theirs").has_ended());
        assert!(!format!("{ended:?}").contains("0123"));
    }

    #[test]
    fn readers_are_named_by_label_with_their_time_and_never_by_token() {
        let token = "0123456789abcdef0123456789abcdef";
        let life = |seconds| Some(Duration::from_secs(seconds));
        let mut shared = StoredValue::new(SHARED.into(), life(9));
        let text = |stored: &StoredValue| Holder::of(stored.clone()).to_string();
        assert_eq!(text(&shared), "read by others, expires in 9 s");
        let named = StoredValue::new(format!("{token}:worker-7").into(), life(9));
        shared.readers = vec![named, StoredValue::new(token.into(), life(3))];
        let line = "read by worker-7 for 9 s, unnamed for 3 s, expires in 9 s";
        assert_eq!(text(&shared), line);
        shared.readers = vec![StoredValue::new(token.into(), life(3)); 10];
        assert!(text(&shared).contains(", unnamed for 3 s and 2 more, expires"));
        assert!(!format!("{:?}", Holder::of(shared)).contains("0123"));
    }
}
