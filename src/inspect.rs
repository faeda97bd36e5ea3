//! Inspection of a lock: its holder, the remaining time, and how to take the lock away from the
//! holder.

mod give_back;
mod holder;
mod judge;

use crate::failure::{Closed, InvalidSetting, WrongContext, listed};
use crate::options::Options;
use crate::redlock::Redlock;
use crate::report::{Escaped, NodeReport, OneLine};
pub use holder::{Holder, NodeInspection, NodeState};
use judge::judge;
use quorumlock_core::coordinator::{Beside, Event, Question, Seen};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

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
        self.setup.options.check_resource(&resource)?;
        let key = self.setup.options.key(&resource);
        let readers = self.setup.options.beside(&resource).readers;
        let waitlist = self.setup.options.waitlist(&key);
        let beside = Some(Beside { readers, waitlist });
        let mut found = self.ask_about(resource, &key, beside).await?;
        let own = self.driver.downgrade().own(vec![key]).await;
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
        let asked = self.driver.ask(move |machine, now, request| {
            machine.handle_question(now, Question::inspect(request, &name, beside.as_ref()));
        });
        async move {
            let Event::Inspected { nodes, waiting, .. } = self.driver.answer(asked).await? else {
                return Err(Closed::ENDED);
            };
            let quorum = self.setup.masters.1;
            Ok(Inspection { waiting, ..Inspection::new(resource, key, nodes, quorum) })
        }
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

/// The reason why a lock was not inspected, or not taken away from its holder.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed in this context: make it in another.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// Too few masters confirmed in time that the holder's key is gone. Contains what every
    /// master said.
    #[error("no quorum has confirmed the forced release{}", listed(.0))]
    Unconfirmed(Vec<NodeReport>),
    /// Too few masters name the same leader, or say that there is none: masters are down or warming
    /// up, or the leader is just changing. Contains what every master said.
    #[error("{0}")]
    Unclear(Box<Inspection>),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

debug_is_display!(InspectError);

impl Inspection {
    pub(crate) fn new(
        resource: Arc<str>,
        key: Arc<str>,
        seen: Vec<(Arc<str>, Seen)>,
        membership: Membership,
    ) -> Self {
        let state = judge(&seen, membership);
        // Only the waiter that the keys are kept for can win: too few masters have no key at all.
        let without_key = NodeSet::places(&seen, |(_, seen)| matches!(seen, Ok(None)));
        let is_kept = state == LockState::Free && !membership.is_quorum(without_key);
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

    /// Returns how many clients wait for the lock in its [waitlist](crate::RedlockBuilder::wake_ups), at one master:
    /// [fair](crate::Acquire::fair) ones and others. A client counts once, however many of its tasks wait, and not
    /// at all if it is in no list. A client that has died counts until it would be called. `None` if no master says:
    /// they are down, their user has no right to see the list (`zrangebyscore`), or this is about a permit.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("printer").await?;
    /// if inspection.waiting().is_some_and(|waiting| waiting > 10) {
    ///     println!("{inspection}"); // "printer" is held by worker-7, expires in 8 s, 12 waiting: …
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn waiting(&self) -> Option<usize> {
        self.waiting.and_then(|waiting| usize::try_from(waiting).ok())
    }

    /// Checks whether the lock is free, and so many masters keep it for a [fair](crate::Acquire::fair) client of an
    /// older version that others cannot have it now. That ends after 4 s, unless it is won.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns its subject in words.
    pub(crate) fn named(&self) -> String {
        let slot = self.slot.map(|slot| format!("slot {slot} of ")).unwrap_or_default();
        format!("{slot}{:?}", Escaped(&self.resource))
    }

    /// Returns the channel on which masters announce that the lock is free.
    pub(crate) fn channel(&self, options: &Options) -> Arc<str> {
        match self.slot {
            Some(_) => options.slots_channel(&self.resource),
            None => self.key.clone(),
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ", self.named())?;
        match &self.state {
            LockState::Held(holder) => holder.fmt(f)?,
            LockState::Free if self.is_kept => f.write_str("free, reserved for the next waiter")?,
            LockState::Free => f.write_str("free")?,
            LockState::Unclear => f.write_str("neither held nor free by quorum")?,
        }
        if let Some(waiting) = self.waiting.filter(|waiting| *waiting > 0) {
            write!(f, ", {waiting} waiting")?;
        }
        for (place, NodeInspection { node, state }) in self.nodes.iter().enumerate() {
            write!(f, "{}{} {state}", if place == 0 { ": " } else { "; " }, OneLine(node))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::judge::tests::seen;
    use super::*;
    use quorumlock_core::coordinator::StoredValue;

    const KEPT: &str = "quorumlock:next:0123456789abcdef0123456789abcdef";
    const TOKEN: &str = "fedcba9876543210fedcba9876543210:me";

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

    fn inspected(lives: [Option<(&str, Option<u64>)>; 3]) -> Inspection {
        Inspection::new("r".into(), "r".into(), seen(&lives), Membership::of(3).unwrap())
    }

    #[test]
    fn a_key_that_is_kept_is_held_by_no_client() {
        let (kept, held) = (Some((KEPT, Some(1_500))), Some((TOKEN, Some(8_000))));
        for (lives, is_free, is_kept) in [
            ([kept, kept, kept], true, true),
            ([kept, kept, None], true, true),
            ([kept, None, None], true, false),
            ([kept, kept, held], true, true),
            ([kept, None, held], true, true),
            ([kept, held, held], false, false),
        ] {
            let inspection = inspected(lives);
            let found = (*inspection.state() == LockState::Free, inspection.is_kept());
            assert_eq!(found, (is_free, is_kept), "{lives:?}");
            assert_eq!(inspection.holder().is_none(), is_free);
        }
    }

    #[test]
    fn the_line_says_how_many_wait_and_keeps_their_names_to_itself() {
        let kept = Some((KEPT, Some(1_500)));
        let inspection = |lives, waiting| Inspection { waiting, ..inspected(lives) };
        let line = "\"r\" is free, reserved for the next waiter, 1 waiting: n0 reserved for the next \
                    waiter, for 1.5 s; n1 reserved for the next waiter, for 1.5 s; n2 free";
        assert_eq!(inspection([kept, kept, None], Some(1)).to_string(), line);
        let line = "\"r\" is free, 12 waiting: n0 free; n1 free; n2 free";
        assert_eq!(inspection([None; 3], Some(12)).to_string(), line);
        let none = inspection([None; 3], Some(0));
        assert_eq!(none.to_string(), "\"r\" is free: n0 free; n1 free; n2 free");
        assert_eq!((none.waiting(), inspected([None; 3]).waiting()), (Some(0), None));
        assert!(!format!("{:?}", inspection([kept; 3], None)).contains("0123"));
    }
}
