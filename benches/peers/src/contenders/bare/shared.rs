//! Many callers, one task that owns the sockets, and a channel in between: the cost that the
//! runtime adds to the floor once callers have their own tasks, as those of a library do.

use super::BY_SCRIPT;
use super::socket::Socket;
use super::wire::{Commands, due};
use crate::cell::Cell;
use crate::workloads::{Locker, Measured, crowd};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

/// With this many rounds open, callers may ask once more before anything is written.
const BUSY: usize = 4;

pub(super) async fn run(sockets: Vec<Socket>, cell: &Cell) -> Measured {
    let (requests, inbox) = mpsc::unbounded_channel();
    let due = sockets.iter().map(|_| VecDeque::new()).collect();
    let rounds = VecDeque::new();
    let owner = tokio::spawn(Owner {
        sockets,
        due,
        rounds,
        closed: 0,
        quorum: cell.quorum(),
        inbox,
        asked: Vec::new(),
        yielded: false,
        deserted: false,
    });
    let caller = |task| {
        let commands = Commands::new(&crowd::resource(task), BY_SCRIPT);
        Caller { requests: requests.clone(), commands, step: 0 }
    };
    let measured = crowd::run(caller, cell).await;
    drop(requests);
    owner.await.expect("an owner that ends");
    measured
}

struct Round {
    command: Vec<u8>,
    step: u64,
    reply: Option<oneshot::Sender<()>>,
    votes: usize,
}

struct Caller {
    requests: mpsc::UnboundedSender<Round>,
    commands: Commands,
    step: u64,
}

impl Caller {
    async fn round(&mut self) {
        self.step += 1;
        let command = self.commands.step(self.step).to_vec();
        let (reply, answer) = oneshot::channel();
        let round = Round { command, step: self.step, reply: Some(reply), votes: 0 };
        assert!(self.requests.send(round).is_ok(), "an owner that lives");
        answer.await.expect("an answer");
    }
}

impl Locker for Caller {
    type Held = ();

    async fn acquire(&mut self, _: &Arc<str>) {
        self.round().await;
    }

    async fn release(&mut self, (): ()) {
        self.round().await;
    }
}

struct Owner {
    sockets: Vec<Socket>,
    /// For each socket, the round of the next reply.
    due: Vec<VecDeque<usize>>,
    rounds: VecDeque<Round>,
    /// Number of rounds before those.
    closed: usize,
    quorum: usize,
    inbox: mpsc::UnboundedReceiver<Round>,
    asked: Vec<Round>,
    yielded: bool,
    /// All callers have gone.
    deserted: bool,
}

impl Owner {
    fn take(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Poll::Ready(count) = self.inbox.poll_recv_many(cx, &mut self.asked, 256) {
            if count == 0 {
                self.deserted = true;
                return any;
            }
            any = true;
            for round in self.asked.drain(..) {
                let id = self.closed + self.rounds.len();
                for (socket, due) in self.sockets.iter_mut().zip(&mut self.due) {
                    socket.queue(&round.command);
                    due.push_back(id);
                }
                self.rounds.push_back(round);
            }
        }
        any
    }

    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        for (socket, dues) in self.sockets.iter_mut().zip(&mut self.due) {
            socket.fill(cx);
            while let Some(reply) = socket.next() {
                let id = dues.pop_front().expect("a reply that is due");
                let round = &mut self.rounds[id - self.closed];
                assert_eq!(reply, due(round.step), "a lock that was not won");
                round.votes += 1;
                if round.votes == self.quorum {
                    any = true;
                    round.reply.take().into_iter().for_each(|reply| _ = reply.send(()));
                }
            }
        }
        while self.rounds.front().is_some_and(|round| round.votes == self.sockets.len()) {
            self.rounds.pop_front();
            self.closed += 1;
        }
        any
    }
}

impl Future for Owner {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let asked = this.take(cx);
        let answered = this.read(cx);
        if (asked || answered) && !this.yielded && this.rounds.len() >= BUSY {
            this.yielded = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.yielded = false;
        this.sockets.iter_mut().for_each(|socket| socket.flush(cx));
        // The slower nodes answer after the last caller has gone.
        if this.deserted && this.rounds.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}
