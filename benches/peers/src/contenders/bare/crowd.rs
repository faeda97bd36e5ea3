//! Many clients in one task over one set of sockets: all that has arrived is read, whatever
//! follows is queued, and each socket is written once.

use super::socket::Socket;
use super::wire::{Commands, due};
use crate::QUORUM;
use crate::workloads::Measured;
use crate::workloads::crowd::{Meter, TASKS, resource};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

pub(super) async fn run(sockets: Vec<Socket>, warm_up: Duration, span: Duration) -> Measured {
    let due = sockets.iter().map(|_| VecDeque::new()).collect();
    let clients = (0..TASKS).map(|task| Client {
        commands: Commands::new(&resource(task)),
        step: 0,
        votes: 0,
    });
    let mut crowd = Crowd { sockets, due, clients: clients.collect(), until: Instant::now() };
    crowd.turn(warm_up).await;
    crowd.turn(span).await
}

struct Crowd {
    sockets: Vec<Socket>,
    /// Socket by socket: whose reply comes next, and to which step.
    due: Vec<VecDeque<(usize, u64)>>,
    clients: Vec<Client>,
    /// No cycle begins after this.
    until: Instant,
}

struct Client {
    commands: Commands,
    step: u64,
    votes: usize,
}

impl Crowd {
    async fn turn(&mut self, span: Duration) -> Measured {
        let before = self.cycles();
        let meter = Meter::start();
        self.until = Instant::now() + span;
        (0..self.clients.len()).for_each(|client| self.advance(client));
        poll_fn(|cx| self.poll_done(cx)).await;
        meter.stop(self.cycles() - before)
    }

    fn cycles(&self) -> u64 {
        self.clients.iter().map(|client| client.step / 2).sum()
    }

    /// The next command of this client, to all five.
    fn advance(&mut self, client: usize) {
        let Client { commands, step, votes } = &mut self.clients[client];
        (*step, *votes) = (*step + 1, 0);
        let command = commands.step(*step);
        for (socket, due) in self.sockets.iter_mut().zip(&mut self.due) {
            socket.queue(command);
            due.push_back((client, *step));
        }
    }

    fn poll_done(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.sockets.iter_mut().for_each(|socket| socket.flush(cx));
            let mut moved = false;
            let over = Instant::now() >= self.until;
            for node in 0..self.sockets.len() {
                moved |= self.sockets[node].fill(cx);
                while let Some(reply) = self.sockets[node].next() {
                    let (client, step) = self.due[node].pop_front().expect("a reply that is due");
                    assert_eq!(reply, due(step), "a lock that was not won");
                    let voter = &mut self.clients[client];
                    voter.votes += usize::from(voter.step == step);
                    let won = voter.step == step && voter.votes == QUORUM;
                    if won && !(over && step % 2 == 0) {
                        self.advance(client);
                    }
                }
            }
            if self.due.iter().all(VecDeque::is_empty) {
                return Poll::Ready(());
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }
}
