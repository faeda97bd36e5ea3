//! What attempts have in flight to nodes: the order in which it was sent, and what is lost with what
//! arrives.

use crate::checker::Model;
use crate::quorum::NodeSet;

/// The most rounds of one attempt.
pub const SLOTS: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    Acquire,
    Extend(usize),
    /// By the round that had begun last when it was sent.
    TopUp(usize),
    Release,
}

/// What is in flight to a node, as bits by attempt, or by attempt and round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Sent {
    pub acquire: u8,
    pub extend: u16,
    pub top_up: u16,
    pub release: u8,
}

impl Sent {
    /// Returns what an attempt has sent, in that order. Its rounds are in the order in which they began.
    pub fn of(self, who: usize, rounds: [usize; SLOTS]) -> impl Iterator<Item = Message> {
        let rounds = rounds.into_iter().flat_map(move |round| {
            let there = |bits: u16| bits & round_bit(who, round) != 0;
            let extend = there(self.extend).then_some(Message::Extend(round));
            extend.into_iter().chain(there(self.top_up).then_some(Message::TopUp(round)))
        });
        let acquire = (self.acquire & bit(who) != 0).then_some(Message::Acquire);
        let release = (self.release & bit(who) != 0).then_some(Message::Release);
        acquire.into_iter().chain(rounds).chain(release)
    }

    fn remove(&mut self, who: usize, message: Message) {
        match message {
            Message::Acquire => self.acquire &= !bit(who),
            Message::Extend(round) => self.extend &= !round_bit(who, round),
            Message::TopUp(round) => self.top_up &= !round_bit(who, round),
            Message::Release => self.release &= !bit(who),
        }
    }
}

/// What a node has answered, and how it stood when it was asked: bits by attempt, or by attempt and round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Answers {
    pub granted: u8,
    /// The node was warming up when the acquire was sent.
    pub uncounted: u8,
    pub held: u16,
    pub vacant: u16,
    /// The node was warming up when the round began.
    pub warming: u16,
}

impl Answers {
    /// Forgets the answers to an attempt that waits for nothing any more.
    pub fn forget(&mut self, who: usize) {
        self.granted &= !bit(who);
        self.uncounted &= !bit(who);
        self.forget_rounds(round_bits(who));
    }

    pub fn forget_rounds(&mut self, rounds: u16) {
        self.forget_won(rounds);
        self.vacant &= !rounds;
    }

    /// Forgets what has won rounds. Where the key was missing, it may be set yet.
    pub fn forget_won(&mut self, rounds: u16) {
        self.held &= !rounds;
        self.warming &= !rounds;
    }
}

/// Returns the nodes that were warming up when a round began, and those that hold.
pub(crate) fn answers_to<'a>(
    answers: impl Iterator<Item = &'a Answers>,
    round: u16,
) -> (NodeSet, NodeSet) {
    let (mut warming, mut held) = (NodeSet::EMPTY, NodeSet::EMPTY);
    for (node, answer) in answers.enumerate() {
        if answer.warming & round != 0 {
            warming.insert(node);
        }
        if answer.held & round != 0 {
            held.insert(node);
        }
    }
    (warming, held)
}

/// A model whose attempts send messages.
pub(crate) trait Net: Model {
    /// Returns the client of each attempt. Its attempts come one after the other.
    fn clients(&self) -> impl Iterator<Item = u8>;

    fn is_in_order(&self) -> bool;

    fn sent<'a>(&self, state: &'a mut Self::State, node: usize) -> &'a mut Sent;

    /// Returns the rounds in the order in which they began.
    fn rounds(&self, state: &Self::State, who: usize) -> [usize; SLOTS];

    /// Executes a message at a node, and stores the answer if a client still waits for it. Returns
    /// whether anything has changed.
    fn execute(&self, state: &mut Self::State, node: usize, who: usize, message: Message) -> bool;

    /// Returns whether both messages come over the same connection.
    fn is_of_one_sender(&self, _who: usize, _message: Message, _other: Message) -> bool {
        true
    }

    /// Returns the attempts of the same client that come before this one.
    fn before(&self, who: usize) -> impl Iterator<Item = usize> {
        let client = self.clients().nth(who);
        let of_client = move |(_, other): &(usize, u8)| Some(*other) == client;
        self.clients().enumerate().take(who).filter(of_client).map(|(attempt, _)| attempt)
    }

    /// Returns whether a release of the same client is owed before what this attempt has sent.
    fn is_behind_a_release(&self, sent: Sent, who: usize) -> bool {
        self.before(who).any(|earlier| sent.release & bit(earlier) != 0)
    }

    /// Takes a message that is no longer in flight; in order, neither is what was sent before it.
    fn consume(&self, state: &mut Self::State, node: usize, who: usize, message: Message) {
        let (in_order, rounds) = (self.is_in_order(), self.rounds(state, who));
        let sent = self.sent(state, node);
        for before in self.before(who).filter(|_| in_order) {
            sent.acquire &= !bit(before);
            sent.extend &= !round_bits(before);
            sent.top_up &= !round_bits(before);
        }
        for other in sent.of(who, rounds) {
            let last = other == message;
            if last || (in_order && self.is_of_one_sender(who, other, message)) {
                sent.remove(who, other);
            }
            if last {
                break;
            }
        }
    }

    /// Delivers everything that is in flight to a node, in order.
    fn deliver_all(&self, state: &mut Self::State, node: usize) {
        for who in 0..self.clients().count() {
            let rounds = self.rounds(state, who);
            for message in self.sent(state, node).of(who, rounds) {
                self.execute(state, node, who, message);
                self.sent(state, node).remove(who, message);
            }
        }
    }
}

/// Returns a bit for each attempt.
pub const fn bit(who: usize) -> u8 {
    1 << who
}

/// Returns a bit for each attempt and round.
pub const fn round_bit(who: usize, round: usize) -> u16 {
    1 << (who * SLOTS + round)
}

/// Returns the bits of all rounds of an attempt.
pub const fn round_bits(who: usize) -> u16 {
    0b111 << (who * SLOTS)
}
