//! What a master does with a command, a function for each script.

use super::mutants::Mutant;
use crate::masters::Extended;

pub const CLIENTS: usize = 4;

/// A key that is kept has this bit, and the waiter that it is kept for.
pub const KEPT: u8 = 128;

/// One resource on one master.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Master {
    /// Zero: vacant. Otherwise the client and one, with [`KEPT`] if it is kept for it.
    pub key: u8,
    pub left: u8,
    /// By client: its place in the queue; zero: it is not there.
    pub stamps: [u8; CLIENTS],
    /// By client: the ticks for which its entry lives.
    pub lives: [u8; CLIENTS],
}

/// The answer to a look or a try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Granted,
    /// -3: it would be granted.
    Would,
    /// 0: held, with the rest of its life, and whether others are before it.
    Held {
        left: u8,
        first: bool,
    },
    /// 1: others are first.
    Others,
    /// -1 or -2: its ballot is not accepted.
    Barred,
}

/// The client that asks, and its settings.
#[derive(Clone, Copy, Debug)]
pub struct Asks {
    pub who: usize,
    /// A look otherwise.
    pub tries: bool,
    pub ticket: u8,
    /// This master's clock.
    pub clock: u8,
    pub barred: bool,
    pub ttl: u8,
    pub entry: u8,
    pub kept: u8,
    pub mutant: Option<Mutant>,
}

const fn token(who: usize) -> u8 {
    who as u8 + 1
}

/// What a client leaves for good, beside its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    /// It rolls a try back.
    Nothing,
    /// Its place: it withdraws.
    Place,
    /// What it held, and its place.
    Hold,
}

impl Master {
    pub fn holds(&self, who: usize) -> bool {
        self.key == token(who)
    }

    /// Returns whether another client's token is there.
    pub const fn is_held(&self) -> bool {
        self.key != 0 && self.key & KEPT == 0
    }

    /// Returns the waiter with the smallest ticket, ties by name.
    pub fn head(&self) -> Option<usize> {
        let stands = (0..CLIENTS).filter(|who| self.stamps[*who] > 0);
        stands.min_by_key(|who| (self.stamps[*who], *who))
    }

    pub fn set(&mut self, who: usize, ttl: u8) -> bool {
        let free = self.key == 0;
        if free {
            (self.key, self.left) = (token(who), ttl);
        }
        free
    }

    /// Cuts the entries of all in front, which are all that this model has, and returns whose they were, as bits.
    fn shorten(&mut self, asks: &Asks) -> u8 {
        let mut cut = 0;
        for waiter in (0..CLIENTS).filter(|waiter| self.stamps[*waiter] > 0) {
            if self.lives[waiter] > asks.entry {
                self.lives[waiter] = asks.entry;
                cut |= 1 << waiter;
            }
        }
        cut
    }

    /// Keeps the key for the first waiter. Its place is cut, so that it ends before the key.
    pub fn keep_for(&mut self, head: Option<usize>, asks: &Asks) {
        if let Some(head) = head.filter(|head| self.key != KEPT | token(*head)) {
            (self.key, self.left) = (KEPT | token(head), asks.kept);
            self.lives[head] = self.lives[head].min(asks.entry);
        }
    }

    fn stands(&mut self, asks: &Asks) {
        let Asks { who, ticket, mutant, .. } = *asks;
        let last = self.stamps.iter().copied().max().unwrap_or(0);
        let behind = if last > 0 && mutant != Some(Mutant::ClockAlone) { last + 1 } else { 0 };
        let stored = self.stamps[who];
        self.stamps[who] = match (ticket, stored) {
            (0, 0) => asks.clock.max(behind),
            (0, stored) => stored,
            (ticket, stored) if mutant == Some(Mutant::RaiseOnly) => ticket.max(stored),
            (ticket, _) => ticket,
        };
        self.lives[who] = asks.entry;
    }

    /// `ask.lua`: a look or a try.
    pub fn ask(&mut self, asks: &Asks) -> Answer {
        let Asks { who, mutant, .. } = *asks;
        self.stands(asks);
        let first = self.head() == Some(who);
        let takes = first && mutant == Some(Mutant::HeadTakesHeld);
        // A look has no token: what the client itself has set refuses it, too.
        let answer = if asks.tries && self.holds(who) {
            Answer::Granted
        } else if self.is_held() && !takes {
            Answer::Held { left: self.left, first }
        } else if !first {
            let free = mutant == Some(Mutant::LookSaysFree) && !asks.tries;
            if free { Answer::Would } else { Answer::Others }
        } else if asks.barred {
            Answer::Barred
        } else if asks.tries {
            Answer::Granted
        } else {
            Answer::Would
        };
        let vacant = answer == Answer::Others && self.key == 0 && !asks.tries;
        if vacant
            && self.head().is_some_and(|head| self.lives[head] > asks.entry)
            && mutant != Some(Mutant::VacantStays)
        {
            self.shorten(asks);
        }
        let keeps = asks.tries && !self.is_held() && mutant != Some(Mutant::NothingKept);
        match answer {
            // It is not prolonged.
            Answer::Granted if self.holds(who) => {}
            Answer::Granted if mutant == Some(Mutant::KeptGrants) && self.key & KEPT != 0 => {}
            Answer::Granted => (self.key, self.left) = (token(who), asks.ttl),
            _ if keeps => self.keep_for(self.head(), asks),
            _ => {}
        }
        answer
    }

    /// `leave.lua`: a rollback, a release or a withdrawal. Returns whether it is free for the next, and which
    /// waiters a message lets look, as bits.
    pub fn leave(&mut self, asks: &Asks, leaves: Leaves, keeps: bool) -> (bool, u8) {
        let Asks { who, mutant, .. } = *asks;
        let gone = leaves != Leaves::Nothing;
        let kept = self.key == KEPT | token(who);
        let ours = self.holds(who) || (mutant == Some(Mutant::ReleaseUncompared) && self.is_held());
        if gone {
            (self.stamps[who], self.lives[who]) = (0, 0);
        }
        if ours || (gone && kept) {
            (self.key, self.left) = (0, 0);
        }
        // A waiter that only stood hands nothing on: a holder may be about to come back here.
        let any = leaves == Leaves::Hold || (gone && mutant == Some(Mutant::WithdrawalTells));
        let left = ours || (gone && kept) || (any && !self.is_held());
        let mut looks = 0;
        if let Some(head) = self.head().filter(|_| left && keeps) {
            self.lives[head] = self.lives[head].min(asks.entry);
            if gone && mutant != Some(Mutant::FrontStays) {
                looks = self.shorten(asks);
            }
        }
        if left && self.key == 0 && keeps && mutant != Some(Mutant::NothingKept) {
            self.keep_for(self.head(), asks);
        }
        (left, looks)
    }

    /// `leave.lua` of a place by the waiter's name, under which no key is: what it has won stays.
    pub fn part(&mut self, asks: &Asks) {
        let held = self.holds(asks.who).then_some((self.key, self.left));
        self.leave(asks, Leaves::Place, true);
        if let Some(held) = held {
            (self.key, self.left) = held;
        }
    }

    /// `extend.lua`: a kept key is vacant.
    pub fn extend(&mut self, asks: &Asks) -> Extended {
        if self.holds(asks.who) {
            self.left = self.left.max(asks.ttl);
            Extended::Held
        } else if self.key == 0
            || (self.key & KEPT != 0 && asks.mutant != Some(Mutant::KeptIsTaken))
        {
            Extended::Vacant
        } else {
            Extended::Taken
        }
    }

    /// A top-up, which takes a kept key over.
    pub fn top_up(&mut self, asks: &Asks) {
        let kept = self.key & KEPT != 0 && asks.mutant != Some(Mutant::TopUpIsSet);
        if self.key == 0 || kept {
            (self.key, self.left) = (token(asks.who), asks.ttl);
        }
    }
}
