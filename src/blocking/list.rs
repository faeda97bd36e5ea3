//! Lists of locks without async.

use super::connect::spawn;
use super::redlock::Redlock;
use super::wait;
use crate::failure::{ListError, NodeProblem, WrongContext};
use crate::list::ListedLock;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// The locks that are found before the iterator is asked for the first one.
const AHEAD: usize = 128;

impl Redlock {
    /// Lists the locks that are held on resources whose names begin with `prefix`, on a thread that ends
    /// with the list. See [`Redlock::list`](crate::Redlock::list).
    ///
    /// ```no_run
    /// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::ListError> {
    /// let mut locks = redlock.list("orders:");
    /// for lock in &mut locks {
    ///     println!("{}", lock?); // "orders:42" is held by worker-7, expires in 8 s, on 3 of 3 …
    /// }
    /// for problem in locks.problems() {
    ///     eprintln!("{} {}", problem.node, problem.problem);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn list(&self, prefix: impl Into<String>) -> LockList {
        let list = self.inner().list(prefix);
        LockList { state: State::Idle(Box::new(list)), problems: Vec::new() }
    }
}

/// The locks under a prefix: an iterator that blocks until the next one is found. Nothing is sent before it
/// is asked for the first; dropped, it closes its connections.
///
/// After an error it has ended: those of [`quorumlock::LockList`](crate::LockList::next), and
/// [`ListError::WrongContext`] in async code.
#[must_use = "nothing is listed before the iterator is asked"]
pub struct LockList {
    state: State,
    problems: Vec<NodeProblem>,
}

enum State {
    Idle(Box<crate::LockList>),
    Walking(Receiver<Found>),
    Ended,
}

/// The next lock, and the problems that were met since the one before.
struct Found {
    next: Option<Result<ListedLock, ListError>>,
    problems: Vec<NodeProblem>,
}

impl LockList {
    /// Lists keys as well that are not held, or cannot be distinguished from an application's own. See
    /// [`LockList::include_free`](crate::LockList::include_free).
    pub fn include_free(mut self) -> Self {
        self.state = match self.state {
            State::Idle(list) => State::Idle(Box::new(list.include_free())),
            state => state,
        };
        self
    }

    /// Returns the masters that could not be used so far, and what to do about each.
    #[must_use]
    pub fn problems(&self) -> &[NodeProblem] {
        &self.problems
    }

    fn begin(list: crate::LockList) -> Result<Receiver<Found>, WrongContext> {
        let (sender, found) = mpsc::channel(AHEAD);
        spawn(move |runtime| runtime.block_on(walk(list, &sender)))?;
        Ok(found)
    }
}

/// Sends what is found, until the list or its reader has ended.
async fn walk(mut list: crate::LockList, sender: &Sender<Found>) {
    let mut known = 0;
    loop {
        let Some(next) = unless(sender.closed(), list.next()).await else { return };
        let problems = list.problems().get(known..).unwrap_or_default().to_vec();
        known += problems.len();
        let is_last = next.is_none();
        if sender.send(Found { next, problems }).await.is_err() || is_last {
            return;
        }
    }
}

/// Returns what `future` yields, or `None` once `end` is ready.
async fn unless<T>(end: impl Future<Output = ()>, future: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut future) = (pin!(end), pin!(future));
    poll_fn(|cx| match end.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => future.as_mut().poll(cx).map(Some),
    })
    .await
}

impl Iterator for LockList {
    type Item = Result<ListedLock, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        let waits = wait::may_wait("list()");
        let begun = match (waits, std::mem::replace(&mut self.state, State::Ended)) {
            (_, State::Ended) => return None,
            (Err(error), _) => Err(error),
            (Ok(()), State::Idle(list)) => Self::begin(*list),
            (Ok(()), State::Walking(found)) => Ok(found),
        };
        let mut found = match begun {
            Ok(found) => found,
            Err(error) => return Some(Err(error.into())),
        };
        // The thread has ended without a last word only if it has panicked.
        let Found { next, problems } = wait::until(found.recv())?;
        self.problems.extend(problems);
        if matches!(next, Some(Ok(_))) {
            self.state = State::Walking(found);
        }
        next
    }
}

impl fmt::Debug for LockList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockList").field("problems", &self.problems).finish_non_exhaustive()
    }
}
