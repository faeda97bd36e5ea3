//! Inspection of a lock: its holder, the remaining time, and how to take the lock away from the
//! holder.

mod ask;
mod ended;
mod error;
mod judge;
mod node;
mod own;
mod queue;
mod readers;

use crate::failure::{Closed, InvalidSetting};
use crate::fencing::FencingToken;
use crate::redlock::Redlock;
use crate::report::{Escaped, NodeReport, OneLine, Span};
pub use error::InspectError;
use judge::judge;
pub use node::{NodeInspection, NodeState};
use own::Whose;
use quorumlock_core::coordinator::wire::Mailbox;
use quorumlock_core::coordinator::{Beside, Event, Mark, Owner, Question, Seen, StoredValue};
use quorumlock_core::quorum::Membership;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

impl Redlock {
    /// Asks every master what it has for `resource`: held or free, by which holder, on which
    /// masters, and for how much longer. Of a lock that is read, also by which
    /// [readers](Holder::readers), and of one for which clients wait, [how many](Inspection::waiting).
    /// Waits for all of them, at most for the operation timeout. If this client holds it, the answer
    /// [says so](Holder::is_this_client), and whether it is [idle](Holder::is_idle).
    ///
    /// The result is what the masters said a moment ago. To do something that only one client may
    /// do, acquire the lock.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("orders:42").await?;
    /// println!("{inspection}"); // "orders:42" is held by worker-7, expires in 8 s: …
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`InspectError::InvalidSetting`] for a resource that cannot be locked,
    /// [`InspectError::Closed`] after a shutdown. A master that does not answer is not an error: see
    /// [`LockState::Unclear`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn inspect(&self, resource: impl AsRef<str>) -> Result<Inspection, InspectError> {
        let resource: Arc<str> = resource.as_ref().into();
        self.options().check_resource(&resource)?;
        let key = self.options().key(&resource);
        let readers = self.options().beside(&resource).readers;
        let waitlist = self.options().waitlist(&key);
        let beside = Some(Beside { readers, waitlist });
        let mut found = self.ask_about(resource, &key, beside).await?;
        let own = self.driver().downgrade().own(vec![key]).await;
        found.learn(&own, 0);
        Ok(found)
    }

    /// Sends the question about a key, and returns where its answer comes.
    pub(crate) fn ask_about(
        &self,
        resource: Arc<str>,
        key: &Arc<str>,
        beside: Option<Beside>,
    ) -> impl Future<Output = Result<Inspection, Closed>> {
        let (key, name) = (key.clone(), key.clone());
        let asked = self.driver().ask(move |machine, now, request| {
            machine.handle_question(now, Question::inspect(request, &name, beside.as_ref()));
        });
        async move {
            let Event::Inspected { nodes, waiting, .. } = self.driver().answer(asked).await? else {
                return Err(Closed::ENDED);
            };
            Ok(Inspection { waiting, ..Inspection::new(resource, key, nodes, self.masters().1) })
        }
    }

    /// Takes the lock away from the holder that `inspection` found, and from no other: that
    /// holder's key is deleted, compared by its token, on every master. Of a lock that is read, all
    /// readers that `inspection` found are removed, and the answer is what the masters said of the
    /// last; see [`force_release_reader`](Self::force_release_reader). The holder usually learns
    /// of it at its next extension, and at the latest at its deadline: **until then it continues to
    /// believe that it holds the lock**, and so does the next guard of a process that keeps it
    /// [warm](crate::Acquire::keep_warm): [`ask`](Self::ask) such a one first. Use this for a holder that is
    /// known to be dead, or that writes with a fencing token.
    ///
    /// `Ok` means that a quorum of masters no longer had that holder's key, and contains what every
    /// master said. A command of the holder that was still in flight to a master may bring the key
    /// back on that master. If a master was not reached, inspect again.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("orders:42").await?;
    /// redlock.force_release(&inspection).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`InspectError::InvalidSetting`]: the inspection found no holder, or none by its token.
    /// - [`InspectError::Unconfirmed`]: a quorum did not answer in time. Masters that were reached
    ///   have deleted the key; try again.
    /// - [`InspectError::Closed`]: after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Once polled, it continues even if this future is dropped.
    pub async fn force_release(
        &self,
        inspection: &Inspection,
    ) -> Result<Vec<NodeReport>, InspectError> {
        let LockState::Held(holder) = &inspection.state else {
            let problem = format!("{} was not held: inspect it again", Named(inspection));
            return Err(InvalidSetting::new("inspection", problem).into());
        };
        if holder.is_shared() {
            return self.release_readers(inspection, holder.readers()).await;
        }
        self.take_away(inspection, None, holder).await
    }
}

/// The answers of the masters about one lock, a moment ago.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspection {
    resource: Arc<str>,
    key: Arc<str>,
    slot: Option<u8>,
    state: LockState,
    nodes: Vec<NodeInspection>,
    /// Free, but too few have no key at all.
    is_kept: bool,
    /// How many wait.
    waiting: Option<u64>,
}

/// The state of a lock, according to a quorum of masters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockState {
    /// A quorum has the same holder's key.
    Held(Holder),
    /// A quorum has no key, or keeps it for a [fair](Inspection::is_kept) waiter of an older version.
    Free,
    /// Neither: masters are down or warming up, or the lock is just being acquired or released.
    Unclear,
}

/// The holder of a lock.
#[derive(Clone, PartialEq, Eq)]
pub struct Holder {
    /// The token, followed by the label.
    value: Mark,
    remaining: Option<Duration>,
    readers: Vec<Holder>,
    whose: Whose,
}

impl Inspection {
    pub(crate) fn new(
        resource: Arc<str>,
        key: Arc<str>,
        seen: Vec<(Arc<str>, Seen)>,
        membership: Membership,
    ) -> Self {
        let state = judge(&seen, membership);
        let is_kept = state == LockState::Free && judge::is_kept(&seen, membership);
        let nodes =
            seen.into_iter().map(|(node, seen)| NodeInspection { node, state: seen.into() });
        let nodes = nodes.collect();
        Self { resource, key, slot: None, state, nodes, is_kept, waiting: None }
    }

    /// Returns the same of a permit: the resource is a semaphore, and the key is of this slot.
    pub(crate) fn at_slot(self, slot: Option<u8>) -> Self {
        Self { slot, ..self }
    }

    /// Returns the inspected resource; of a permit, the name of its semaphore.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the key that the masters were asked for: the resource behind the prefix, if one is
    /// configured.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the slot, if this is about a permit of a [`Semaphore`](crate::Semaphore).
    #[must_use]
    pub fn slot(&self) -> Option<usize> {
        self.slot.map(usize::from)
    }

    /// Returns the state, according to a quorum.
    #[must_use]
    pub const fn state(&self) -> &LockState {
        &self.state
    }

    /// Returns the holder, if a quorum agrees on one.
    #[must_use]
    pub const fn holder(&self) -> Option<&Holder> {
        match &self.state {
            LockState::Held(holder) => Some(holder),
            LockState::Free | LockState::Unclear => None,
        }
    }

    /// Returns what each master said, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodeInspection] {
        &self.nodes
    }
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

    /// Returns the process that has acquired it; of a lock that is read, those of the readers.
    pub(crate) fn processes(&self) -> impl Iterator<Item = Mailbox> {
        self.owners().map(|owner| owner.mailbox)
    }

    /// Returns the label of the holder, or the reader, that is of this process.
    pub(crate) fn label_of(&self, process: Mailbox) -> Option<&str> {
        self.owners().find(|owner| owner.mailbox == process)?.label
    }

    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        self.with_readers().filter_map(Self::owner)
    }

    fn with_readers(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.readers)
    }

    fn owner(&self) -> Option<Owner<'_>> {
        Owner::of(self.value.as_text()?)
    }

    /// Returns the holder that has put this value under a key.
    pub(crate) fn of(stored: StoredValue) -> Self {
        let readers = stored.readers.into_iter().map(Self::of).collect();
        let (value, remaining) = (stored.value, stored.remaining);
        Self { value, remaining, readers, whose: Whose::default() }
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
}

/// Leaves out the token, which must stay private: with it, the lock could be released.
impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder")
            .field("label", &self.label())
            .field("remaining", &self.remaining)
            .field("readers", &self.readers)
            .field("whose", &self.whose)
            .finish_non_exhaustive()
    }
}

/// The subject of an inspection, in words.
pub(crate) struct Named<'a>(pub(crate) &'a Inspection);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(slot) = self.0.slot {
            write!(f, "slot {slot} of ")?;
        }
        write!(f, "{:?}", Escaped(&self.0.resource))
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ", Named(self))?;
        match &self.state {
            LockState::Held(holder) => holder.fmt(f)?,
            LockState::Free if self.is_kept => f.write_str(queue::KEPT)?,
            LockState::Free => f.write_str("free")?,
            LockState::Unclear => f.write_str("neither held nor free by quorum")?,
        }
        self.fmt_waiting(f)?;
        for (place, NodeInspection { node, state }) in self.nodes.iter().enumerate() {
            write!(f, "{}{} {state}", if place == 0 { ": " } else { "; " }, OneLine(node))?;
        }
        Ok(())
    }
}

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

#[cfg(test)]
mod tests {
    use super::judge::tests::seen;
    use super::*;

    #[test]
    fn only_what_looks_like_a_token_of_ours_has_a_label() {
        let label = |value: &str| {
            let holder = Holder::of(StoredValue::new(value.into(), None));
            holder.label().map(str::to_owned)
        };
        let token = "0123456789abcdef0123456789abcdef";
        assert_eq!(label(&format!("{token}:worker:7")).as_deref(), Some("worker:7"));
        assert_eq!(label(&format!("quorumlock:done:{token}:me")).as_deref(), Some("me"));
        assert_eq!((label(token), label("host:7"), label("")), (None, None, None));
    }

    #[test]
    fn it_is_one_line_and_keeps_the_token_to_itself() {
        let token = "0123456789abcdef0123456789abcdef:me";
        let seen = seen(&[Some((token, Some(8_000))), Some((token, Some(7_000))), None]);
        let inspection = Inspection::new("r".into(), "r".into(), seen, Membership::of(3).unwrap());
        let line = "\"r\" is held by me, expires in 7 s: n0 held by me, expires in 8 s; \
                    n1 held by me, expires in 7 s; n2 free";
        assert_eq!(inspection.to_string(), line);
        assert!(!format!("{inspection:?}").contains("0123"));
    }
}
