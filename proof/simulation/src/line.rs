//! One connection: ordered bytes each way, that arrive when they arrive, in pieces of any size.

use super::agenda::Direction;
use super::clock::Time;
use super::commands::Commands;
use super::seed::Rng;
use quorumlock_core::coordinator::Epoch;
use quorumlock_embedded::ClientId;
use std::collections::{BTreeSet, VecDeque};

/// An arrival at an end of a line.
pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// The other end is closed.
    End,
}

/// One direction.
#[derive(Default)]
pub(super) struct Pipe {
    pieces: VecDeque<(Time, Piece)>,
    last: Time,
    /// Bytes that have not arrived.
    pub(super) unread: usize,
    /// Its next arrival is on the agenda.
    pub(super) is_due: bool,
}

impl Pipe {
    /// Sends `piece`, to arrive at `at` or after what was sent before.
    pub(super) fn send(&mut self, at: Time, piece: Piece) -> Time {
        self.last = self.last.max(at);
        if let Piece::Bytes(bytes) = &piece {
            self.unread += bytes.len();
        }
        self.pieces.push_back((self.last, piece));
        self.last
    }

    /// Receives what has arrived by `now`: at most so many bytes, and the rest at `rest_at`.
    pub(super) fn receive(&mut self, now: Time, most: usize, rest_at: Time) -> Option<Piece> {
        let (at, _) = self.pieces.front().filter(|(at, _)| *at <= now)?;
        let at = *at;
        match self.pieces.pop_front()?.1 {
            Piece::Bytes(mut bytes) => {
                if bytes.len() > most {
                    let rest = bytes.split_off(most);
                    self.pieces.push_front((rest_at.max(at), Piece::Bytes(rest)));
                }
                self.unread -= bytes.len();
                Some(Piece::Bytes(bytes))
            }
            Piece::End => Some(Piece::End),
        }
    }

    /// Returns when the next piece arrives.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.pieces.front().map(|(at, _)| *at)
    }

    /// Delays what is in flight to `until` or later.
    pub(super) fn delay(&mut self, until: Time) {
        self.last = self.last.max(until);
        self.pieces.iter_mut().for_each(|(at, _)| *at = until.max(*at));
    }

    /// Loses what is in flight.
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.unread = 0;
    }
}

pub(super) struct Line {
    pub(super) client: usize,
    pub(super) node: usize,
    pub(super) epoch: Epoch,
    pub(super) opened: Time,
    /// The master's end, while it is there.
    pub(super) server: Option<ClientId>,
    /// The client's end is open.
    pub(super) open: bool,
    pub(super) up: Pipe,
    pub(super) down: Pipe,
    /// Bytes that the client's end takes while no process reads them.
    pub(super) room: usize,
    /// The client could not write all that it had.
    pub(super) is_full: bool,
    pub(super) rng: Rng,
    /// The commands that were written to it, to be checked.
    pub(super) written: Commands,
    /// The tokens whose release was written to it.
    pub(super) released: BTreeSet<String>,
    /// The waiters whose questions in a list were written to it.
    pub(super) waiters: BTreeSet<String>,
    /// Nothing passes, and neither end is notified.
    pub(super) is_dropped: bool,
    /// When the client first asked for a vote.
    pub(super) voted_at: Option<Time>,
    /// The master has sent something since that vote. Without that, it may have died before.
    pub(super) has_answered: bool,
    /// The client has written since it last read.
    pub(super) owes_answer: bool,
    /// The channels to which the client has subscribed.
    pub(super) channels: BTreeSet<String>,
    /// The commands that have arrived at the master.
    pub(super) arrived: Commands,
}

impl Line {
    /// Returns the client, the master, and which of the connections between them it is.
    pub(super) const fn ends(&self) -> (usize, usize, Epoch) {
        (self.client, self.node, self.epoch)
    }

    pub(super) fn pipe(&mut self, direction: Direction) -> &mut Pipe {
        match direction {
            Direction::ToMaster => &mut self.up,
            Direction::ToClient => &mut self.down,
        }
    }

    /// Returns how much of what arrives is read at once: mostly all of it.
    pub(super) fn portion(&mut self) -> usize {
        if self.rng.chance(85) { usize::MAX } else { self.rng.within(1..200) as usize }
    }
}

#[test]
fn what_was_sent_first_arrives_first_and_in_pieces() {
    let mut pipe = Pipe::default();
    pipe.send(50, Piece::Bytes(b"abc".to_vec()));
    assert_eq!(pipe.send(10, Piece::Bytes(b"d".to_vec())), 50, "it overtakes no other");
    pipe.send(60, Piece::End);
    assert!(pipe.receive(49, 9, 49).is_none());
    let mut read = Vec::new();
    while let Some(Piece::Bytes(bytes)) = pipe.receive(55, 2, 55) {
        read.push(String::from_utf8(bytes).unwrap());
    }
    assert_eq!((read.join("|").as_str(), pipe.unread), ("ab|c|d", 0));
    assert!(matches!(pipe.receive(60, 9, 60), Some(Piece::End)));
}
