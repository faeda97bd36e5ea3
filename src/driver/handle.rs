//! The way to the driver, which handles, guards and waiting callers share.

use super::callers::{Answer, Callers, Unready};
use super::clock::Clock;
use super::inbox::Requests;
use super::process::Process;
use super::{IdleLocks, LeaseState, LockRequest, Own, Request};
use crate::failure::{Closed, NotReady, ShutdownError, Why};
use crate::telemetry::{Outlet, Span};
use quorumlock_core::coordinator::{Coordinator, Event, RequestId, WATCHED};
use quorumlock_core::quorum::Instant;
use quorumlock_core::shelf::WarmTerms;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// The outcome of the driver, and why it has ended, set once it has.
pub(crate) type Ended = Arc<OnceLock<(Result<(), ShutdownError>, Why)>>;

/// A handle of the driver, which runs for as long as there is one. Clones share it.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Shared>);

/// A handle that does not keep the driver running.
#[derive(Clone)]
pub(crate) struct WeakHandle(Weak<Shared>);

struct Shared {
    process: Process,
    requests: Requests,
    last_request: AtomicU64,
    clock: Clock,
    ended: Ended,
    outlet: Outlet,
    idle_locks: Arc<IdleLocks>,
}

impl Handle {
    pub(crate) fn new(
        requests: Requests,
        clock: Clock,
        ended: Ended,
        outlet: Outlet,
        idle_locks: Arc<IdleLocks>,
    ) -> Self {
        let (process, last_request) = (Process::of_this(), AtomicU64::new(0));
        let shared = Shared { process, requests, last_request, clock, ended, outlet, idle_locks };
        Self(Arc::new(shared))
    }

    pub(crate) fn downgrade(&self) -> WeakHandle {
        WeakHandle(Arc::downgrade(&self.0))
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.clock.now()
    }

    pub(crate) fn clock(&self) -> Clock {
        self.0.clock
    }

    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.0.last_request.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns whether this is the process that has connected, and no fork of it.
    pub(crate) fn is_here(&self) -> bool {
        self.0.process.is_this()
    }

    /// Sends an acquire to the driver. Otherwise as [`send`](Self::send).
    pub(crate) fn acquire(&self, asked: LockRequest) {
        if self.is_here() {
            let _ = self.0.requests.acquires.send(asked);
        }
    }

    /// Sends `request` to the driver. Never blocks and needs no runtime. If the driver is gone, or in
    /// another process, the request is dropped, and the caller that waits for its reply sees that.
    pub(crate) fn send(&self, request: Request) {
        if self.is_here() {
            let _ = self.0.requests.others.send(request);
        }
    }

    /// Lets the driver do this, as [`send`](Self::send) does.
    pub(crate) fn run(
        &self,
        run: impl FnOnce(&mut Callers, &mut Coordinator, Instant) + Send + 'static,
    ) {
        self.send(Request::Run(Box::new(run)));
    }

    /// Returns where that comes which this client itself knows, unless it is closed.
    pub(crate) fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Coordinator, Instant) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        self.run(move |callers, machine, now| {
            if !callers.closing {
                let _ = reply.send(look(machine, now));
            }
        });
        answer
    }

    /// Asks the masters, unless the client is closed. The answer is the event that ends the request.
    pub(crate) fn ask(
        &self,
        ask: impl FnOnce(&mut Coordinator, Instant, RequestId) + Send + 'static,
    ) -> oneshot::Receiver<Event> {
        let (request, (reply, answer)) = (self.next_request(), oneshot::channel());
        self.run(move |callers, machine, now| {
            if !callers.closing {
                let answer: Answer = Box::new(|_, _, _, event| _ = reply.send(event));
                callers.waiting.asked.insert(request, answer);
                ask(machine, now, request);
            }
        });
        answer
    }

    /// Notifies `ear` of each message on the channel of this name: a key, or a name of our own. All of them say the
    /// same: look. It is also notified when one may have been missed, or when none will come any more.
    /// Messages get lost, and none come if the masters deny them or `wake_ups` is off. So a
    /// listener looks from time to time, too.
    pub(crate) fn listen(&self, channel: Arc<str>, ear: Arc<Notify>) -> Listening {
        let listener = self.next_request();
        let listening = Listening { driver: self.clone(), listener, channel: channel.clone() };
        self.run(move |callers, machine, now| {
            if callers.closing {
                ear.notify_one();
            } else {
                callers.waiting.listeners.insert(listener, ear);
                machine.handle_listen(now, listener, channel);
            }
        });
        listening
    }

    /// Waits until a quorum may vote, unless the client is closed.
    pub(crate) fn ready(&self, within: Duration) -> oneshot::Receiver<Result<(), NotReady>> {
        let (reply, answer) = oneshot::channel();
        self.run(move |callers, _, now| {
            if !callers.closing {
                callers.unready.push(Unready { since: now, until: now.after(within), reply });
            }
        });
        answer
    }

    /// Lets the driver know that a caller has the connection, before it can see that the last handle is gone.
    pub(crate) fn in_use(&self) {
        self.run(|callers, _, _| callers.in_use = true);
    }

    /// Fails in a fork.
    pub(crate) fn here(&self) -> Result<(), Closed> {
        if self.is_here() { Ok(()) } else { Err(Closed { why: Why::Forked }) }
    }

    /// Returns why a request was dropped.
    pub(crate) fn closed(&self) -> Closed {
        self.here().err().unwrap_or_else(|| Closed {
            why: self.0.ended.get().map_or(Why::Ended, |(_, why)| *why),
        })
    }

    /// Waits for the answer to a request, or says why it was dropped.
    pub(crate) async fn answer<T>(&self, answer: oneshot::Receiver<T>) -> Result<T, Closed> {
        answer.await.map_err(|_| self.closed())
    }

    /// Takes an idle lock of this process that suits these terms, if any, without the driver.
    pub(crate) fn take_idle(
        &self,
        key: &str,
        resource: &Arc<str>,
        terms: &WarmTerms,
    ) -> Option<Arc<LeaseState>> {
        if !self.is_here() {
            return None;
        }
        let now = self.now();
        let lend = |lent: &_| Arc::new(LeaseState::lent(lent, resource.clone(), now));
        let hold = self.0.idle_locks.take(key, terms, now, lend)?;
        // Unless the client is being shut down at this moment.
        if !hold.claim.take() {
            return None;
        }
        if WATCHED {
            let span = Span::acquire(resource, false, false);
            span.reused();
            self.outlet().ended(&span, resource, Duration::ZERO, Some(Ok(())));
        }
        Some(hold)
    }

    /// Lets the driver learn of the guard of `hold` before a request of it, if it has not heard of it.
    pub(crate) fn claim(&self, hold: &LeaseState) {
        if hold.lent.as_ref().is_some_and(|lent| lent.claim()) {
            self.send(Request::Claimed(hold.attempt));
        }
    }

    /// Returns the outlet to which events are reported.
    pub(crate) fn outlet(&self) -> &Outlet {
        &self.0.outlet
    }

    /// Returns how the driver ended; `Ok` while it runs.
    pub(crate) fn ended(&self) -> Result<(), ShutdownError> {
        if !self.is_here() {
            return Err(ShutdownError { owed: 0 });
        }
        self.0.ended.get().map_or(Ok(()), |(outcome, _)| outcome.clone())
    }
}

impl Drop for Shared {
    /// The last sender that is dropped wakes the driver, by what a fork shares with its parent.
    fn drop(&mut self) {
        if !self.process.is_this() {
            std::mem::forget(self.requests.clone());
        }
    }
}

impl WeakHandle {
    /// Does what [`Handle::here`] does. A client need not run for that.
    pub(crate) fn here(&self) -> Result<(), Closed> {
        self.0.upgrade().map_or(Ok(()), |shared| Handle(shared).here())
    }

    /// Returns what this client itself knows of `keys`, which is nothing once it has ended.
    pub(crate) async fn own(self, keys: Vec<Arc<str>>) -> Own {
        let Some(shared) = self.0.upgrade() else { return Own::default() };
        let known = Handle(shared).look(move |machine, now| Own {
            mailbox: machine.masters().mailbox,
            idle: keys.iter().map(|key| machine.idle_under(now, key)).collect(),
        });
        known.await.unwrap_or_default()
    }
}

/// A subscription to a channel, which ends when it is dropped. It follows the masters as they come
/// and go.
pub(crate) struct Listening {
    driver: Handle,
    listener: RequestId,
    channel: Arc<str>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let (listener, channel) = (self.listener, self.channel.clone());
        self.driver.run(move |callers, machine, _| {
            callers.waiting.listeners.remove(&listener);
            machine.handle_unlisten(listener, &channel);
        });
    }
}
