//! The lists of waiters, as the masters have them, and the acquires that pass one.

use super::callers::CHANNEL;
use super::clock::millis;
use super::commands::{Deed, Words, split, token};
use super::flaw::Flaw;
use super::invariants::Verdict;
use super::judge::KEYS;
use super::plan::{Asked, Mode};
use super::unwanted::LISTS;
use super::world::World;
use std::collections::VecDeque;
use std::time::Duration;

/// When those in the list of a resource are due.
const DUE: &str = "quorumlock:waitlist-due:";

/// So long after a fault, clients may not agree yet on the master of a list, nor have taken their places there. Nor is one
/// overdue whose question a cut has held up, in a list that has moved.
const SETTLED_AFTER: Duration = millis(6_000);

impl World {
    /// Returns what stands in a list. A waiter that has not asked when it was due is in front of none.
    fn listed(&self, node: usize, key: &str) -> Vec<(String, u64)> {
        let (master, now) = (&self.masters[node], self.agenda.now);
        let mut listed = master.listed(&format!("{LISTS}{key}"), now);
        let least = master.clock.at(now).as_millis() as u64;
        let due = master.listed(&format!("{DUE}{key}"), now);
        let is_late = |name: &String| due.iter().any(|(late, at)| late == name && *at < least);
        listed.retain(|(name, _)| !is_late(name));
        listed
    }

    /// Notes the lists that a command has named.
    pub(super) fn note_lists(&mut self, node: usize) {
        for key in KEYS.into_iter().chain([CHANNEL]) {
            let listed = self.listed(node, key);
            self.invariants.order.sees((node, key), self.agenda.now, &listed);
        }
    }

    /// Checks the calls of waiters, by the letters that a master has written: a question calls one for each slot that is
    /// free.
    pub(super) fn judge_letters(&mut self, node: usize, bytes: &[u8]) {
        if bytes.is_empty() || !self.judges_order() {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let call = |line: &'_ str| match line.split(' ').collect::<Vec<_>>()[..] {
            ["free", waiter, key] => {
                Some((*KEYS.iter().find(|known| **known == key)?, waiter.to_owned()))
            }
            ["slot", waiter, _, CHANNEL] => Some((CHANNEL, waiter.to_owned())),
            _ => None,
        };
        let mut calls: VecDeque<_> = text.split("\r\n").filter_map(call).collect();
        while let Some((key, waiter)) = calls.pop_front() {
            // Waiters that are called behind it waited at that moment.
            let behind = calls.iter().filter(|(other, _)| *other == key);
            let behind = behind.filter_map(|(_, name)| {
                Some((name.clone(), self.invariants.order.stamp((node, key), name)?))
            });
            let behind = behind.collect();
            self.judge_goes((node, key), &waiter, None, behind);
        }
    }

    /// Checks that a waiter goes, if the answer to its question says so.
    pub(super) fn judge_answer(&mut self, at: (usize, &'static str), words: &Words, answer: &[u8]) {
        let of_key = answer.strip_prefix(b"*6\r\n:1\r\n:0\r\n$").map(|goes| (goes, at));
        let of_slot = answer.strip_prefix(b"*7\r\n:1\r\n:0\r\n$");
        let goes = of_key.or(of_slot.map(|goes| (goes, (at.0, CHANNEL))));
        let Some(((goes, at), waiter)) =
            goes.filter(|_| self.judges_order()).zip(Deed::waiter(words))
        else {
            return;
        };
        let stamp =
            String::from_utf8_lossy(goes).split("\r\n").nth(1).and_then(|at| at.parse().ok());
        self.judge_goes(at, &waiter, stamp, Vec::new());
    }

    fn judge_goes(
        &mut self,
        (node, key): (usize, &'static str),
        waiter: &str,
        stamp: Option<u64>,
        mut listed: Vec<(String, u64)>,
    ) {
        listed.extend(self.listed(node, key));
        let now = self.agenda.now;
        let verdict = self.invariants.order.goes((node, key), now, (waiter, stamp), &listed);
        // Where a call is denied, any waiter goes.
        if self.denials == 0 && self.setup.denied.is_empty() {
            self.find(verdict);
        }
    }

    /// Checks a command by which a client tries a token for fair acquires alone.
    pub(super) fn judge_fair_try(&mut self, place: usize, words: &Words) -> Verdict {
        let (keys, _) = split(words);
        let Some(key) = KEYS.into_iter().find(|key| keys.iter().any(|word| word == key.as_bytes()))
        else {
            return Ok(());
        };
        let (token, client) = (token(words), &self.clients[place]);
        let is_had = client.holds.values().any(|held| held.token == token)
            || self.invariants.never_again.is_idle(&token);
        let concerns = |asked: &&Asked| asked.is_permit || asked.keys.contains(&key);
        let mut all = client.asked.values().filter(concerns);
        let oldest = client.asked.iter().find(|(_, asked)| concerns(asked));
        let Some((request, asked)) = oldest.filter(|_| !is_had) else { return Ok(()) };
        let (request, is_permit) = (*request, asked.is_permit);
        let in_order = |other: &Asked| other.mode == Mode::Fair && other.is_permit == is_permit;
        if !(all.all(in_order) && self.is_in_order(place, asked.ttl)) {
            return Ok(());
        }
        (0..self.masters.len()).for_each(|node| self.note_lists(node));
        self.invariants.order.tries(place, request, if is_permit { CHANNEL } else { key })
    }

    /// Checks the win of a fair acquire, and notes it.
    pub(super) fn judge_fair_win(
        &mut self,
        place: usize,
        request: u64,
        key: &'static str,
        ttl: Duration,
    ) -> Verdict {
        let is_judged = self.is_in_order(place, ttl);
        self.fair += u64::from(is_judged);
        (0..self.masters.len()).for_each(|node| self.note_lists(node));
        let order = &mut self.invariants.order;
        let verdict = if is_judged { order.wins(place, request, key) } else { Ok(()) };
        order.won((place, key), self.agenda.now);
        verdict
    }

    /// Returns whether anything is judged of the order.
    pub(super) fn judges_order(&self) -> bool {
        self.setup.has_waitlists && self.setup.flaw.is_none_or(Flaw::is_about_order)
    }

    /// Returns whether a client serves its fair acquires in order: nothing has been wrong of late, it is linked to all
    /// masters, which are those of all clients, and an answer comes before half of a round for such a ttl is over: then a
    /// waiter takes its master to be silent.
    fn is_in_order(&self, place: usize, ttl: Duration) -> bool {
        let members = |seat: usize| self.setup.kind(seat).members;
        self.judges_order()
            && self.setup.denied.is_empty()
            && self.is_untroubled(SETTLED_AFTER)
            && (0..self.setup.seats()).all(|seat| members(seat) == members(0))
            && (0..self.masters.len()).all(|node| self.is_linked_to(place, node))
            && self.setup.answers_in_time(ttl, 2 * self.slowest())
    }
}
