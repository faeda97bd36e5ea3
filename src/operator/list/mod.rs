//! The locks that are held under a prefix.

mod deadlock;
mod page;
#[cfg(test)]
mod tests;
mod walk;

use crate::driver::{WeakHandle, runtime};
use crate::failure::{Closed, ListError, NodeProblem};
use crate::inspect::{Holder, Inspection, LockState, NodeState};
use crate::own_thread;
use crate::redlock::Redlock;
use crate::run::either;
pub use deadlock::PossibleDeadlock;
use futures_core::Stream;
use quorumlock_core::coordinator::wire::Mailbox;
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::BTreeSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;
use walk::Walk;

/// The locks that are found before the reader takes the first one.
const AHEAD: usize = 128;

impl Redlock {
    /// Lists the locks that are held on resources whose names begin with `prefix`: all of them for
    /// `""`. The permits of a [`Semaphore`](crate::Semaphore) of such a name are among them, each
    /// with its [`slot`](ListedLock::slot). They come in no particular order, each as soon as it is
    /// found.
    ///
    /// A lock is listed as held if a quorum of masters has the same value under its key, at about
    /// the same moment. A lock that may be held is listed, too: masters that did not answer could
    /// make up the quorum. [`include_free`](LockList::include_free) lists the rest. Masters that
    /// are down, may not be asked or do not vote yet are [problems](LockList::problems), and no
    /// error as long as the others are enough.
    ///
    /// Locks that this client holds [say so](Holder::is_this_client), and whether they are
    /// [idle](Holder::is_idle).
    ///
    /// The list is no snapshot. A lock that is held from the beginning to the end is in it; a
    /// lock that is acquired or released meanwhile may be.
    ///
    /// It writes nothing. It has connections of its own, also after a
    /// [`shutdown`](Self::shutdown), and asks for keys in pages (`SCAN`), so no lock waits for it.
    /// The user at the masters needs the right to `scan`. With the right to `pubsub|numsub`, the
    /// list says how many clients wait.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::ListError> {
    /// let mut locks = redlock.list("orders:");
    /// while let Some(lock) = locks.next().await {
    ///     println!("{}", lock?); // "orders:42" is held by worker-7, expires in 8 s, on 3 of 3 …
    /// }
    /// for problem in locks.problems() {
    ///     eprintln!("{} {}", problem.node, problem.problem);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn list(&self, prefix: impl Into<String>) -> LockList {
        let (masters, membership) = &self.setup.masters;
        let walk = Walk {
            masters: masters.clone(),
            membership: *membership,
            options: self.setup.options.clone(),
            prefix: prefix.into(),
            leftovers: false,
            client: Some(self.driver.downgrade()),
            own_thread: self.setup.own_runtime.is_some(),
        };
        LockList { walk: Some(Box::new(walk)), items: None, problems: Vec::new() }
    }
}

/// The locks under a prefix, found one after the other: a `Stream`, or call
/// [`next`](Self::next) in a loop. The stream sends nothing before it is polled; dropped, it closes
/// its connections.
///
/// After an error it has ended.
#[must_use = "nothing is listed before the stream is polled"]
pub struct LockList {
    /// `None` once it was polled.
    walk: Option<Box<Walk>>,
    /// The locks and the problems that the walk finds, until it ends.
    items: Option<mpsc::Receiver<Item>>,
    problems: Vec<NodeProblem>,
}

/// A message of the task that looks at the masters.
enum Item {
    Lock(Box<ListedLock>),
    Problem(NodeProblem),
    /// All are listed; if `false`, as far as the masters could be scanned.
    End(bool),
}

/// A lock, and what the masters said about it a moment ago; printed, one line.
#[derive(Clone, Debug)]
pub struct ListedLock {
    inspection: Inspection,
    holder: Holder,
    waiting: Option<u64>,
    /// The processes that wait in its list, at any master: the first hundred.
    waiters: BTreeSet<Mailbox>,
}

impl LockList {
    /// Lists keys as well that are not held, or cannot be distinguished from an application's own:
    /// keys left over on a few masters, and keys just being acquired or released.
    pub fn include_free(mut self) -> Self {
        if let Some(walk) = &mut self.walk {
            walk.leftovers = true;
        }
        self
    }

    /// Returns the next lock; `None` once all are listed.
    ///
    /// # Errors
    ///
    /// - [`ListError::InvalidSetting`]: a resource cannot begin with this prefix.
    /// - [`ListError::WrongContext`]: the call has no tokio runtime to run on, or one without its
    ///   drivers, or no [thread](crate::RedlockBuilder::own_thread).
    /// - [`ListError::Incomplete`], at the end: too few masters could be scanned, so locks may be
    ///   held that were not listed.
    /// - [`ListError::Closed`]: the runtime on which it was first polled is gone.
    ///
    /// # Cancel safety
    ///
    /// Safe: it leaves out no lock.
    pub async fn next(&mut self) -> Option<Result<ListedLock, ListError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the masters that could not be used so far, and what to do about each.
    #[must_use]
    pub fn problems(&self) -> &[NodeProblem] {
        &self.problems
    }

    fn begin(walk: Walk) -> Result<mpsc::Receiver<Item>, ListError> {
        walk.client.iter().try_for_each(WeakHandle::here)?;
        walk.options.check_prefix(&walk.prefix)?;
        own_thread::begin(walk.own_thread, || {
            runtime::check("list()", walk.masters.iter().map(|master| &master.transport))?;
            let (sender, items) = mpsc::channel(AHEAD);
            let reader = sender.clone();
            let dropped = async move { reader.closed().await };
            Ok((items, tokio::spawn(either(dropped, walk.run(sender)))))
        })
    }
}

impl Stream for LockList {
    type Item = Result<ListedLock, ListError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { walk, items, problems } = &mut *self;
        if let Some(walk) = walk.take() {
            *items = Some(Self::begin(*walk)?);
        }
        while let Some(found) = items {
            let end = match ready!(found.poll_recv(cx)) {
                Some(Item::Lock(lock)) => return Poll::Ready(Some(Ok(*lock))),
                Some(Item::Problem(problem)) => {
                    if problems.iter().all(|known| known.node != problem.node) {
                        problems.push(problem);
                    }
                    continue;
                }
                Some(Item::End(true)) => None,
                Some(Item::End(false)) => Some(Err(ListError::Incomplete(problems.clone()))),
                None => Some(Err(Closed::ENDED.into())),
            };
            *items = None;
            return Poll::Ready(end);
        }
        Poll::Ready(None)
    }
}

debug_fields!(LockList, list { problems: list.problems });

impl ListedLock {
    /// Returns the locked resource, without the prefix of the keys; of a permit, the name of its
    /// semaphore.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.inspection.resource()
    }

    /// Returns the slot, if this is a permit of a [`Semaphore`](crate::Semaphore).
    #[must_use]
    pub fn slot(&self) -> Option<usize> {
        self.inspection.slot()
    }

    /// Returns the state, according to a quorum.
    #[must_use]
    pub const fn state(&self) -> &LockState {
        self.inspection.state()
    }

    /// Checks whether a quorum has the same holder's key.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self.state(), LockState::Held(_))
    }

    /// Returns the holder. If the lock is not held by quorum: the one whose key most masters have.
    /// Resources that are locked together have the same holder: see [`Holder::same_hold_as`].
    #[must_use]
    pub const fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Counts the masters that have the holder's key.
    #[must_use]
    pub fn held_on(&self) -> usize {
        self.inspection.nodes().iter().filter(|node| self.is_on(&node.state)).count()
    }

    /// Returns how many clients wait for a release; of a permit, for any of the semaphore. A client counts once,
    /// however many of its tasks wait, and not at all if it was built with `wake_ups(false)` or is of
    /// another kind. Of clients that wait in a waitlist, and by listening, only the more numerous count.
    /// `None` if a master does not say.
    #[must_use]
    pub const fn waiting(&self) -> Option<u64> {
        self.waiting
    }

    /// Checks whether the key has a token of this crate, and expires. Otherwise another Redlock
    /// client may hold it, or it may be an application's own key and no lock at all.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.holder.has_token() && self.holder.remaining().is_some()
    }

    /// Returns what each master said. A [`force_release`](Redlock::force_release) takes it.
    #[must_use]
    pub const fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Returns the lock that all masters were asked about; `None` if none of them has its key.
    fn of(inspection: Inspection) -> Option<Self> {
        let on_nodes = || inspection.nodes().iter().filter_map(|node| node.state.holder());
        let count = |holder| on_nodes().filter(|other| other.same_hold_as(holder)).count();
        // Of several with the same number, the first.
        let most = || on_nodes().rev().max_by_key(|holder| count(holder));
        let holder = inspection.holder().or_else(most)?.clone();
        Some(Self { inspection, holder, waiting: None, waiters: BTreeSet::new() })
    }

    /// Checks whether a quorum may have the holder's key: a master that did not say may have it, too.
    fn may_be_held(&self, membership: Membership) -> bool {
        membership.is_quorum(NodeSet::places(self.inspection.nodes(), |node| {
            self.is_on(&node.state) || matches!(node.state, NodeState::Unknown(_))
        }))
    }

    /// Checks whether the holder's key is on a master in this state.
    fn is_on(&self, state: &NodeState) -> bool {
        state.holder().is_some_and(|holder| holder.same_hold_as(&self.holder))
    }
}

impl fmt::Display for ListedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is ", self.inspection.named())?;
        let (held_on, masters) = (self.held_on(), self.inspection.nodes().len());
        match self.state() {
            LockState::Held(holder) => write!(f, "{holder},")?,
            LockState::Free => f.write_str("free, but for a key")?,
            LockState::Unclear => f.write_str("neither held nor free by quorum, with a key")?,
        }
        write!(f, " on {held_on} of {masters} masters")?;
        if let Some(waiting) = self.waiting.filter(|waiting| *waiting > 0) {
            write!(f, ", {waiting} waiting")?;
        }
        if !self.is_ours() {
            f.write_str(" (perhaps no lock: another client's key, or an application's own)")?;
        }
        Ok(())
    }
}
