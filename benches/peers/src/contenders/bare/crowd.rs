//! Many clients in one task over one set of sockets: everything that has arrived is read, the
//! commands that follow are queued, and each socket is written once.

use super::socket::Socket;
use super::wire::{Commands, NO_SUBSCRIBERS, Way, due};
use crate::cell::Cell;
use crate::meter::Meter;
use crate::workloads::Measured;
use crate::workloads::crowd::{measured, resource};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

pub(super) async fn run(sockets: Vec<Socket>, way: Way, cell: &Cell) -> Measured {
    let due = sockets.iter().map(|_| VecDeque::new()).collect();
    let clients = (0..cell.tasks).map(|task| Client {
        commands: Commands::new(&resource(task), way),
        step: 0,
        votes: 0,
    });
    let clients = clients.collect();
    let mut crowd = Crowd { sockets, due, clients, quorum: cell.quorum(), until: Instant::now() };
    crowd.turn(cell, cell.warm_up).await;
    crowd.turn(cell, cell.span).await
}

struct Crowd {
    sockets: Vec<Socket>,
    /// For each socket, the client and step of the next reply; `None` for the reply to a
    /// notification.
    due: Vec<VecDeque<Option<(usize, u64)>>>,
    clients: Vec<Client>,
    quorum: usize,
    /// No cycle begins after this.
    until: Instant,
}

struct Client {
    commands: Commands,
    step: u64,
    votes: usize,
}

impl Crowd {
    async fn turn(&mut self, cell: &Cell, span: Duration) -> Measured {
        let before = self.cycles();
        let meter = Meter::start(cell.processes.clone());
        self.until = Instant::now() + span;
        (0..self.clients.len()).for_each(|client| self.advance(client));
        poll_fn(|cx| self.poll_done(cx)).await;
        let cycles = self.cycles() - before;
        measured(cycles, meter.stop(cycles))
    }

    fn cycles(&self) -> u64 {
        self.clients.iter().map(|client| client.step / 2).sum()
    }

    /// Sends the next command of this client to all masters.
    fn advance(&mut self, client: usize) {
        let Client { commands, step, votes } = &mut self.clients[client];
        (*step, *votes) = (*step + 1, 0);
        let command = commands.step(*step);
        for (socket, due) in self.sockets.iter_mut().zip(&mut self.due) {
            socket.queue(command);
            due.push_back(Some((client, *step)));
        }
        if let Some((node, publish)) = commands.notification(*step, self.sockets.len()) {
            self.sockets[node].queue(publish);
            self.due[node].push_back(None);
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
                    let due_now = self.due[node].pop_front().expect("a reply that is due");
                    let Some((client, step)) = due_now else {
                        assert_eq!(reply, NO_SUBSCRIBERS);
                        continue;
                    };
                    assert_eq!(reply, due(step), "a lock that was not won");
                    let voter = &mut self.clients[client];
                    voter.votes += usize::from(voter.step == step);
                    let won = voter.step == step && voter.votes == self.quorum;
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
