//! The way of requests to the driver: acquires hold up no other request on it.

use super::{LockRequest, Request};
use std::task::{Context, Poll, Waker};
use std::vec::Drain;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::coop;

/// Number of acquires that are handled at once, at the same time on the clock.
const BATCH: usize = 256;

/// Number of other requests that are handled before them.
const MOST: usize = 1 << 14;

/// The ends that handles have.
#[derive(Clone)]
pub(crate) struct Requests {
    pub(super) acquires: UnboundedSender<LockRequest>,
    pub(super) others: UnboundedSender<Request>,
}

/// The ends that the driver has.
pub(crate) struct Inbox {
    pub(super) acquires: Queue<LockRequest>,
    pub(super) others: Queue<Request>,
    /// The task that requests wake.
    task: Option<Waker>,
    /// The next request wakes the task, which has found none.
    wakes: bool,
}

pub(super) struct Queue<T> {
    receiver: UnboundedReceiver<T>,
    /// The requests that are handled next.
    taken: Vec<T>,
}

/// Creates both ends.
pub(crate) fn requests() -> (Requests, Inbox) {
    let (acquires, from_acquires) = mpsc::unbounded_channel();
    let (others, from_others) = mpsc::unbounded_channel();
    let inbox = Inbox {
        acquires: Queue { receiver: from_acquires, taken: Vec::new() },
        others: Queue { receiver: from_others, taken: Vec::new() },
        task: None,
        wakes: false,
    };
    (Requests { acquires, others }, inbox)
}

impl Inbox {
    /// Takes some requests out, and returns how many. Ready with none once all handles are gone.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if !self.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            self.task = Some(cx.waker().clone());
        } else if self.wakes && self.acquires.is_quiet() && self.others.is_quiet() {
            // The task is polled for each answer of a master, and nearly always there is no request.
            return Poll::Pending;
        }
        self.take(cx)
    }

    fn take(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        // A task that has had its share finds nothing, and is not noted.
        let is_noted = coop::has_budget_remaining();
        // A queue that is quiet is passed over while the other is not: the next poll, which finds none, notes the
        // task in both.
        let (has_others, has_acquires) = (!self.others.is_quiet(), !self.acquires.is_quiet());
        let mut polled = (Poll::Pending, Poll::Pending);
        if has_others || !has_acquires {
            polled.0 = self.others.poll(cx, MOST);
        }
        if has_acquires || !has_others {
            polled.1 = self.acquires.poll(cx, BATCH);
        }
        self.wakes = is_noted && polled == (Poll::Pending, Poll::Pending);
        let is_over = polled == (Poll::Ready(0), Poll::Ready(0));
        let taken = self.others.taken.len() + self.acquires.taken.len();
        if taken > 0 || is_over { Poll::Ready(taken) } else { Poll::Pending }
    }

    /// Returns whether one of the acquires that are handled now proposes a ballot.
    pub(crate) fn has_fenced(&self) -> bool {
        self.acquires.taken.iter().any(|acquire| acquire.terms.fences.is_some())
    }

    /// Returns the next acquire, and the next of all other requests.
    #[cfg(test)]
    pub(crate) fn try_recv(&mut self) -> (Option<LockRequest>, Option<Request>) {
        (self.acquires.receiver.try_recv().ok(), self.others.receiver.try_recv().ok())
    }
}

impl<T> Queue<T> {
    /// Returns whether it is empty, and requests may still come.
    fn is_quiet(&self) -> bool {
        self.receiver.is_empty() && !self.receiver.is_closed()
    }

    /// Takes the requests that are handled next.
    pub(super) fn drain(&mut self) -> Drain<'_, T> {
        self.taken.drain(..)
    }

    fn poll(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<usize> {
        self.taken.shrink_to(BATCH);
        self.receiver.poll_recv_many(cx, &mut self.taken, most)
    }
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
    use quorumlock_core::coordinator::RequestId;

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
        let others = inbox.others.drain().map(|request| match request {
            Request::Cancel(RequestId(number)) => format!("not {number}"),
            _ => "another".into(),
        });
        let mut words: Vec<String> = others.collect();
        words.extend(inbox.acquires.drain().map(
            |LockRequest { request: RequestId(number), acquirer, .. }| {
                if acquirer.reply.is_closed() {
                    format!("{number} has gone")
                } else {
                    number.to_string()
                }
            },
        ));
        words
    }

    #[test]
    fn whatever_is_no_acquire_passes_by_all_acquires() {
        let (client, mut inbox) = driverless(Options::default());
        let begun: Vec<_> = (0..1_000).map(|_| begin(&client)).collect();
        let mut acquires = Vec::new();
        while acquires.len() < begun.len() {
            client.driver.in_use();
            let taken = next(&mut inbox);
            assert!(taken[0] == "another" && taken.len() <= 1 + BATCH, "{taken:?}");
            acquires.extend_from_slice(&taken[1..]);
        }
        assert!(acquires.iter().eq(&Vec::from_iter((0..1_000).map(|number| number.to_string()))));
        assert!(next(&mut inbox).is_empty());
    }

    #[test]
    fn a_cancellation_passes_by_its_acquire_which_has_no_caller_then() {
        let (client, mut inbox) = driverless(Options::default());
        let first = begin(&client);
        assert_eq!(next(&mut inbox), ["0"]);
        let second = begin(&client);
        drop(first);
        client.driver.in_use();
        drop(second);
        let _third = begin(&client);
        assert_eq!(next(&mut inbox), ["not 0", "another", "not 1", "1 has gone", "2"]);
    }

    #[test]
    fn it_is_over_once_all_that_was_sent_is_taken() {
        let (requests, mut inbox) = requests();
        assert!(next(&mut inbox).is_empty());
        requests.others.send(Request::Cancel(RequestId(7))).ok().unwrap();
        drop(requests);
        assert_eq!(next(&mut inbox), ["not 7"]);
        let polled = inbox.poll(&mut Context::from_waker(noop_waker_ref()));
        assert_eq!(polled, Poll::Ready(0));
    }
}
