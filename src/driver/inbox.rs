//! The way of requests to the driver: acquires hold up no other request on it.

use super::Request;
use quorumlock_core::coordinator::RequestId;
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::coop;

/// Number of acquires that are handled at once, at the same time on the clock.
const BATCH: usize = 256;

/// Number of requests that are looked at at once. To put an acquire aside costs next to nothing.
const MOST: usize = 1 << 14;

/// The end that handles have.
#[derive(Clone)]
pub(crate) struct Requests(UnboundedSender<Request>);

/// The end that the driver has.
pub(crate) struct Inbox {
    receiver: UnboundedReceiver<Request>,
    /// The task that requests wake.
    task: Option<Waker>,
    /// The next request wakes the task, which has found none.
    wakes: bool,
    /// The requests that were taken out of it.
    arrived: Vec<Request>,
    /// The requests that are handled next.
    taken: Vec<Request>,
    /// The acquires that are handled behind that, and what cancels them.
    acquires: VecDeque<Request>,
}

/// Creates both ends.
pub(crate) fn requests() -> (Requests, Inbox) {
    let (requests, receiver) = mpsc::unbounded_channel();
    let (arrived, taken, acquires) = (Vec::new(), Vec::new(), VecDeque::new());
    let (task, wakes) = (None, false);
    (Requests(requests), Inbox { receiver, task, wakes, arrived, taken, acquires })
}

impl Requests {
    /// Sends a request. If the driver is gone, the request is dropped.
    pub(crate) fn send(&self, request: Request) {
        let _ = self.0.send(request);
    }
}

impl Inbox {
    /// Takes some requests out, and returns how many. Ready with none once all handles are gone.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if !self.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            self.task = Some(cx.waker().clone());
        } else if self.wakes && self.receiver.is_empty() && !self.receiver.is_closed() {
            // The task is polled for each answer of a master, and nearly always there is no request.
            return Poll::Pending;
        }
        self.take(cx)
    }

    fn take(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        // A task that has had its share finds nothing, and is not noted.
        let is_noted = coop::has_budget_remaining();
        let polled = self.receiver.poll_recv_many(cx, &mut self.arrived, MOST);
        if self.arrived.len() <= BATCH && self.acquires.is_empty() && self.taken.is_empty() {
            // All of them are handled at once, so none holds up another.
            std::mem::swap(&mut self.arrived, &mut self.taken);
            self.acquires.shrink_to(BATCH);
        } else if !self.arrived.is_empty() {
            self.put_acquires_aside();
        }
        self.arrived.shrink_to(BATCH);
        let left = !self.acquires.is_empty();
        self.wakes = is_noted && polled.is_pending() && !left;
        if left { Poll::Ready(self.taken.len() + self.acquires.len()) } else { polled }
    }

    /// Sorts what has arrived. A cancellation stays behind its acquire.
    fn put_acquires_aside(&mut self) {
        if self.acquires.is_empty() {
            self.acquires.shrink_to(BATCH);
        }
        for request in self.arrived.drain(..) {
            let is_behind = match &request {
                Request::Acquire { .. } => true,
                Request::Cancel(id) => may_have(&self.acquires, *id),
                _ => false,
            };
            match is_behind {
                true => self.acquires.push_back(request),
                false => self.taken.push(request),
            }
        }
    }

    /// Returns whether one of the requests that were taken out proposes a ballot.
    pub(crate) fn has_fenced(&self) -> bool {
        self.taken.iter().chain(self.acquires.iter().take(BATCH)).any(Request::is_fenced)
    }

    /// Returns what is handled now: as it came if that is all there is, and otherwise all others before acquires.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Request> + '_ {
        let batch = self.acquires.len().min(BATCH);
        self.taken.drain(..).chain(self.acquires.drain(..batch))
    }

    #[cfg(test)]
    pub(crate) fn try_recv(&mut self) -> Result<Request, mpsc::error::TryRecvError> {
        self.receiver.try_recv()
    }
}

/// Returns whether the acquire with this id may be among these: many are not looked through.
fn may_have(acquires: &VecDeque<Request>, id: RequestId) -> bool {
    let is_it = |one: &Request| matches!(one, Request::Acquire { request, .. } if *request == id);
    acquires.len() > BATCH || acquires.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::AcquireFuture;
    use crate::acquire::tests::driverless;
    use crate::options::Options;
    use crate::{Guard, Redlock};
    use futures::FutureExt;
    use futures::task::noop_waker_ref;

    /// Begins an acquire, which is cancelled when this is dropped.
    fn begin(client: &Redlock) -> AcquireFuture<Guard> {
        let mut acquire = client.acquire("r").into_future();
        assert!((&mut acquire).now_or_never().is_none());
        acquire
    }

    /// Returns what the driver takes next.
    fn next(inbox: &mut Inbox) -> Vec<String> {
        let Poll::Ready(_) = inbox.poll(&mut Context::from_waker(noop_waker_ref())) else {
            return Vec::new();
        };
        let words = inbox.drain().map(|request| match request {
            Request::Acquire { request: RequestId(number), .. } => number.to_string(),
            Request::Cancel(RequestId(number)) => format!("not {number}"),
            _ => "another".into(),
        });
        words.collect()
    }

    #[test]
    fn whatever_is_no_acquire_passes_by_all_acquires() {
        let (client, mut inbox) = driverless(Options::default());
        let begun: Vec<_> = (0..1_000).map(|_| begin(&client)).collect();
        let mut acquires = Vec::new();
        while acquires.len() < begun.len() {
            client.driver().send(Request::Connected);
            let taken = next(&mut inbox);
            assert!(taken[0] == "another" && taken.len() <= 1 + BATCH, "{taken:?}");
            acquires.extend_from_slice(&taken[1..]);
        }
        assert!(acquires.iter().eq(&Vec::from_iter((0..1_000).map(|number| number.to_string()))));
        assert!(next(&mut inbox).is_empty());
    }

    #[test]
    fn a_cancellation_comes_behind_its_acquire_and_before_what_was_sent_later() {
        for crowd in [0, BATCH - 3] {
            let (client, mut inbox) = driverless(Options::default());
            let first = begin(&client);
            assert_eq!(next(&mut inbox), ["0"]);
            let _crowd: Vec<_> = (0..crowd).map(|_| begin(&client)).collect();
            let second = begin(&client);
            drop(first);
            client.driver().send(Request::Connected);
            drop(second);
            let _third = begin(&client);
            let crowd = (1..=crowd + 2).map(|number| number.to_string());
            let mut sent: Vec<String> = crowd.collect();
            sent.insert(sent.len() - 1, format!("not {}", sent.len() - 1));
            // What is handled at once stays as it was sent.
            let at = if sent.len() > 3 { 0 } else { 1 };
            sent.splice(at..at, ["not 0".into(), "another".into()]);
            assert_eq!(next(&mut inbox), sent);
        }
    }

    #[test]
    fn it_is_over_once_all_that_was_sent_is_taken() {
        let (requests, mut inbox) = requests();
        assert!(next(&mut inbox).is_empty());
        requests.send(Request::Cancel(RequestId(7)));
        drop(requests);
        assert_eq!(next(&mut inbox), ["not 7"]);
        let polled = inbox.poll(&mut Context::from_waker(noop_waker_ref()));
        assert_eq!(polled, Poll::Ready(0));
    }
}
