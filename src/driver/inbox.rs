//! The way of requests to the driver: acquires have one of their own, on which they hold up no other request.

use super::Request;
use quorumlock_core::coordinator::RequestId;
use std::collections::BTreeSet;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Number of requests that are taken at once, at the same time on the clock.
const BATCH: usize = 256;

/// The end that handles have.
pub(crate) struct Requests {
    acquires: UnboundedSender<Request>,
    others: UnboundedSender<Request>,
}

/// The end that the driver has.
pub(crate) struct Inbox {
    acquires: UnboundedReceiver<Request>,
    others: UnboundedReceiver<Request>,
    /// What was taken out of them, in the order in which it is handled.
    taken: Vec<Request>,
    begun: Vec<Request>,
}

/// Creates both ends.
pub(crate) fn requests() -> (Requests, Inbox) {
    let ((acquires, begun), (others, taken)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let inbox = Inbox { acquires: begun, others: taken, taken: Vec::new(), begun: Vec::new() };
    (Requests { acquires, others }, inbox)
}

impl Requests {
    /// Sends a request. If the driver is gone, the request is dropped.
    pub(crate) fn send(&self, request: Request) {
        // A cancellation stays behind its acquire.
        let way = match request {
            Request::Acquire { .. } | Request::Cancel(_) => &self.acquires,
            _ => &self.others,
        };
        let _ = way.send(request);
    }
}

impl Inbox {
    /// Takes some requests out, and returns how many. Ready with none once all handles are gone.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        let taken = self.others.poll_recv_many(cx, &mut self.taken, BATCH);
        let begun = self.acquires.poll_recv_many(cx, &mut self.begun, BATCH);
        if !self.begun.is_empty() {
            // A caller that has released a lock before it acquires it has both done in this order. A poll may
            // find nothing here, once the task has had its share.
            self.taken.extend(std::iter::from_fn(|| self.others.try_recv().ok()));
        }
        match (taken, begun) {
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => Poll::Ready(self.taken.len() + self.begun.len()),
        }
    }

    /// Returns whether one of those that were taken out proposes a ballot.
    pub(crate) fn has_fenced(&self) -> bool {
        self.begun.iter().any(Request::is_fenced)
    }

    /// Returns those that were taken out: all others before acquires. A cancellation goes first, unless its acquire is
    /// among these: a caller that gives up an acquire, and then a lock, has both done in this order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Request> + '_ {
        let begin = self.begun.iter().filter_map(|request| match request {
            Request::Acquire { request, .. } => Some(*request),
            _ => None,
        });
        let has_cancels = self.begun.iter().any(|request| matches!(request, Request::Cancel(_)));
        let begin: BTreeSet<RequestId> =
            if has_cancels { begin.collect() } else { BTreeSet::new() };
        let is_early = |request: &mut Request| {
            has_cancels && matches!(request, Request::Cancel(id) if !begin.contains(id))
        };
        let cancels: Vec<Request> = self.begun.extract_if(.., is_early).collect();
        cancels.into_iter().chain(self.taken.drain(..)).chain(self.begun.drain(..))
    }

    #[cfg(test)]
    pub(crate) fn try_recv(&mut self) -> Result<Request, mpsc::error::TryRecvError> {
        self.others.try_recv().or_else(|_| self.acquires.try_recv())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::task::noop_waker_ref;

    /// Returns what the driver takes next.
    fn next(inbox: &mut Inbox) -> Vec<String> {
        let Poll::Ready(_) = inbox.poll(&mut Context::from_waker(noop_waker_ref())) else {
            return Vec::new();
        };
        let words = inbox.drain().map(|request| match request {
            Request::Cancel(RequestId(number)) => number.to_string(),
            Request::Connected => "connected".into(),
            _ => "another".into(),
        });
        words.collect()
    }

    #[test]
    fn whatever_is_no_acquire_passes_by_all_acquires() {
        let (requests, mut inbox) = requests();
        for number in 0..1_000 {
            requests.send(Request::Cancel(RequestId(number)));
        }
        requests.send(Request::Connected);
        for _ in 0..2 {
            let taken = next(&mut inbox);
            assert!(taken.iter().any(|request| request == "connected"), "{taken:?}");
            assert_eq!(taken.len(), 1 + BATCH);
            requests.send(Request::Connected);
        }
    }

    #[test]
    fn it_is_over_once_all_that_was_sent_is_taken() {
        let (requests, mut inbox) = requests();
        assert!(next(&mut inbox).is_empty());
        requests.send(Request::Cancel(RequestId(7)));
        drop(requests);
        assert_eq!(next(&mut inbox), ["7"]);
        let polled = inbox.poll(&mut Context::from_waker(noop_waker_ref()));
        assert_eq!(polled, Poll::Ready(0));
    }
}
