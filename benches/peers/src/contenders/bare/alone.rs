//! One lock at a time: a command to all masters, then on with the first quorum of replies. The
//! other replies are read with those of the next round.

use super::socket::Socket;
use super::wire::{Commands, NO_SUBSCRIBERS, due};
use crate::workloads::Locker;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(super) struct Alone {
    lanes: Vec<Lane>,
    /// Number of commands sent to each master, without the notifications that one of them
    /// publishes.
    step: u64,
    commands: Commands,
}

struct Lane {
    socket: Socket,
    /// The steps whose replies are outstanding; `None` for the reply to a notification.
    due: VecDeque<Option<u64>>,
    /// The last step that was answered.
    answered: u64,
}

impl Alone {
    pub(super) fn new(sockets: Vec<Socket>, commands: Commands) -> Self {
        let lane = |socket| Lane { socket, due: VecDeque::new(), answered: 0 };
        Self { lanes: sockets.into_iter().map(lane).collect(), step: 0, commands }
    }

    pub(super) async fn round(&mut self) {
        self.queue_step();
        let quorum = self.lanes.len() / 2 + 1;
        poll_fn(|cx| self.poll_answers(cx, quorum)).await;
    }

    /// Sends a release and the next acquire in one write.
    pub(super) async fn pass_on(&mut self) {
        self.queue_step();
        self.round().await;
    }

    fn queue_step(&mut self) {
        self.step += 1;
        let command = self.commands.step(self.step);
        for lane in &mut self.lanes {
            lane.socket.queue(command);
            lane.due.push_back(Some(self.step));
        }
        if let Some((node, publish)) = self.commands.notification(self.step, self.lanes.len()) {
            self.lanes[node].socket.queue(publish);
            self.lanes[node].due.push_back(None);
        }
    }

    /// Waits until this many have answered the latest command.
    fn poll_answers(&mut self, cx: &mut Context<'_>, enough: usize) -> Poll<()> {
        self.lanes.iter_mut().for_each(|lane| lane.socket.flush(cx));
        let mut votes = 0;
        for Lane { socket, due: dues, answered } in &mut self.lanes {
            socket.fill(cx);
            while let Some(reply) = socket.next() {
                match dues.pop_front().expect("a reply that is due") {
                    Some(step) => {
                        assert_eq!(reply, due(step), "a lock that was not won");
                        *answered = step;
                    }
                    None => assert_eq!(reply, NO_SUBSCRIBERS),
                }
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
        poll_fn(|cx| self.poll_answers(cx, self.lanes.len())).await;
    }
}
