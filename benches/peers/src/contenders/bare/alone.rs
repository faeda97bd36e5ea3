//! One lock at a time: a command to all five, then on with the first quorum of replies; the others
//! are read with the next round's.

use super::socket::Socket;
use super::wire::{Commands, due};
use crate::workloads::Locker;
use crate::{NODES, QUORUM};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(super) struct Alone {
    sockets: Vec<Socket>,
    /// Replies read, socket by socket.
    answered: Vec<u64>,
    /// Commands sent to each.
    step: u64,
    commands: Commands,
}

impl Alone {
    pub(super) fn new(sockets: Vec<Socket>, commands: Commands) -> Self {
        let answered = vec![0; sockets.len()];
        Self { sockets, answered, step: 0, commands }
    }

    pub(super) async fn round(&mut self) {
        self.queue_step();
        poll_fn(|cx| self.poll_answers(cx, QUORUM)).await;
    }

    /// A release and the next acquire in one write.
    pub(super) async fn pass_on(&mut self) {
        self.queue_step();
        self.round().await;
    }

    fn queue_step(&mut self) {
        self.step += 1;
        let command = self.commands.step(self.step);
        self.sockets.iter_mut().for_each(|socket| socket.queue(command));
    }

    /// Until so many have answered the latest command.
    fn poll_answers(&mut self, cx: &mut Context<'_>, enough: usize) -> Poll<()> {
        self.sockets.iter_mut().for_each(|socket| socket.flush(cx));
        let mut votes = 0;
        for (socket, answered) in self.sockets.iter_mut().zip(&mut self.answered) {
            socket.fill(cx);
            while let Some(reply) = socket.next() {
                *answered += 1;
                assert_eq!(reply, due(*answered), "a lock that was not won");
            }
            votes += usize::from(*answered == self.step);
        }
        if votes >= enough { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Locker for Alone {
    type Held = ();

    async fn acquire(&mut self, _: &Arc<str>) {
        self.round().await;
    }

    async fn release(&mut self, (): ()) {
        self.round().await;
    }

    async fn settle(&mut self) {
        poll_fn(|cx| self.poll_answers(cx, NODES)).await;
    }
}
