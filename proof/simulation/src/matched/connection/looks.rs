//! What page `debts` is matched with: what masters execute and have, and what clients owe.

use super::super::super::client::{Client, owner};
use super::super::super::clock::Time;
use super::super::super::commands::{Deed, Words, text, token};
use super::super::super::judge::KEYS;
use super::super::super::master::MARK;
use super::super::super::world::World;
use super::super::{Connection, Matched, exact, life, resources};
use super::debts::{Debts, Name};
use super::token::{By, Owes};
use super::{Each, Pair};
use quorumlock_core::coordinator::wire::{DONE, Token};
use quorumlock_core::coordinator::{Coordinator, Epoch};
use std::time::Duration;

/// The token that a value begins with.
fn digits(value: &str) -> &str {
    value.get(..Token::DIGITS).unwrap_or(value)
}

/// A token of which a release is owed, and whether nothing of it can arrive any more.
type Debt = ([u8; Token::DIGITS], bool);

/// Returns which client has drawn the token of a command, and the token's name for each resource of the command.
fn drawn(words: &Words) -> (Option<usize>, Vec<Name>) {
    let token = token(words);
    let named = resources(words);
    let places = (0..KEYS.len()).filter(|place| named.contains(&KEYS[*place]));
    (owner(&token), places.map(|place| (digits(&token).to_owned(), place)).collect())
}

/// A client queues a command, which begins here.
pub(super) fn queues(
    debts: &mut Debts,
    now: i64,
    (client, _, epoch): Connection,
    (words, begins): (&Words, usize),
) -> Result<(), String> {
    if !matches!(Deed::of(words), Deed::Acquire | Deed::Extend) {
        return Ok(());
    }
    let life = Duration::from_nanos(life(words).0);
    let sets = Deed::of(words) == Deed::Acquire;
    let (drawn_by, names) = drawn(words);
    // Where no SET has left for, an extension finds nothing to prolong.
    let mut names = names.into_iter().filter(|_| drawn_by == Some(client));
    names.try_for_each(|name| match sets || debts.knows(&name) {
        true => debts.sends(now, name, (epoch, begins), life),
        false => Ok(()),
    })
}

impl World {
    /// A master has executed a command.
    pub(in super::super) fn match_found(&mut self, line: Connection, words: &Words, answer: &[u8]) {
        let (client, node, _) = line;
        if !self.matched.connections.is_on() {
            return;
        }
        let by = match Deed::of(words) {
            Deed::Acquire if words[0] == b"SET" && answer.starts_with(b"_") => By::Nil,
            Deed::Release | Deed::Shorten => By::Release { is_settled: settles(answer) },
            _ => By::Other,
        };
        if self.masters[node].clock.stepped != 0 {
            let pairs =
                self.matched.connections.pairs.iter_mut().filter(|((_, at), _)| *at == node);
            return pairs.for_each(|(_, pair)| pair.debts.iter_mut().for_each(Debts::ends));
        }
        let (drawn_by, names) = drawn(words);
        if let Some(other) = drawn_by.filter(|drawn_by| *drawn_by != client)
            && let Some(pair) = self.matched.connections.pairs.get_mut(&(other, node))
        {
            pair.debts.iter_mut().for_each(|debts| debts.hands_over(&names));
        }
        let own = if drawn_by == Some(client) { names } else { Vec::new() };
        for name in &own {
            self.match_key((client, node), name, by);
        }
        // It may have deleted the keys of others.
        let named = resources(words);
        let pairs = self.matched.connections.pairs.iter().filter(|((_, at), _)| *at == node);
        let there = pairs.flat_map(|((client, _), pair)| {
            let there = pair.debts.iter().flat_map(Debts::there);
            there.map(|name| (*client, name.clone()))
        });
        let is_other =
            |(_, name): &(usize, Name)| named.contains(&KEYS[name.1]) && !own.contains(name);
        for (client, name) in there.filter(is_other).collect::<Vec<_>>() {
            if self.ends_at(node, &name, self.agenda.now).is_none() {
                self.match_key((client, node), &name, By::Other);
            }
        }
    }

    fn match_key(&mut self, (client, node): (usize, usize), name: &Name, by: By) {
        let ends = self.ends_at(node, name, self.agenda.now);
        let now = self.agenda.now as i64;
        let line = (client, node, Default::default());
        let result = self
            .matched
            .connections
            .with(line, |Pair { debts, .. }| debts.each(|debts| debts.finds(now, name, ends, by)));
        self.find_unmatched(result);
    }

    /// Returns when the key of a token ends at a master, or its entry among readers, if it is
    /// there.
    fn ends_at(&self, node: usize, (name, resource): &Name, now: Time) -> Option<i64> {
        let (master, key) = (&self.masters[node], KEYS[*resource]);
        let value = master.raw(key, now).filter(|value| *value != MARK && !value.starts_with(DONE));
        let left = match value.filter(|value| digits(value) == name) {
            Some(_) => master.remaining(key, now),
            None => {
                let readers = master.readers(key, now).into_iter();
                let mut own = readers.filter(|(reader, _)| digits(reader) == name);
                own.next().map(|(_, left)| left)
            }
        };
        left.map(|left| exact::ends(master.clock, now, left))
    }

    /// A connection may have opened.
    pub(in super::super) fn match_opened(&mut self, client: usize, own: usize) {
        let now = self.agenda.now as i64;
        let Client { machine, nodes, .. } = &self.clients[client];
        let Some(machine) = machine.as_ref().filter(|machine| machine.judged(own).is_open) else {
            return;
        };
        let line = (client, nodes[own], Default::default());
        if self.matched.connections.is_known_open(client, nodes[own]) {
            return;
        }
        let debts = debts(machine, own);
        let result = self.matched.connections.with(line, |pair| {
            pair.debts.each(|owed| {
                let touches = |name: &str| machine.touches(own, name.as_bytes());
                owed.opens(now, |name| owes(&debts, name), touches)
            })
        });
        self.find_unmatched(result);
    }

    /// Compares what a client owes with what it owes by the page.
    pub(in super::super) fn match_owed(&mut self, client: usize) {
        let now = self.agenda.now as i64;
        let Client { machine, nodes, .. } = &self.clients[client];
        let Some(machine) = machine else { return };
        let Matched { connections, queues, .. } = &mut self.matched;
        let is_empty = |node: &usize| connections.owes_nothing(client, *node);
        if nodes.iter().all(is_empty) {
            return;
        }
        let owed: Vec<_> = (0..nodes.len()).map(|own| debts(machine, own)).collect();
        let is_over = |name: &str| owed.iter().any(|debts| owes(debts, name).is_some());
        let mut result = Ok(());
        for (own, node) in nodes.iter().enumerate() {
            let line = (client, *node, Default::default());
            let of = |name: &str| owes(&owed[own], name);
            let touches = |name: &str| machine.touches(own, name.as_bytes());
            let is_open = || machine.judged(own).is_open;
            let left = |epoch: Epoch| {
                let is_closed = machine.transmit(own).0 != epoch || !is_open();
                let queue = queues.get(&(client, *node, epoch)).filter(|_| is_closed);
                queue.map(|queue| queue.written)
            };
            result = result.and_then(|()| {
                connections.with(line, |pair| {
                    pair.debts.each(|debts| debts.compares(now, of, is_over, (touches, left)))
                })
            });
        }
        self.find_unmatched(result);
    }

    /// A connection has broken: what a client owes is known before it is the predecessor of
    /// another.
    pub(super) fn match_undone(&mut self, (client, node): (usize, usize)) {
        if self.clients[client].machine.is_some() {
            return self.match_owed(client);
        }
        // A client that is gone owes nothing.
        if let Some(pair) = self.matched.connections.pairs.get_mut(&(client, node)) {
            pair.debts.iter_mut().for_each(Debts::ends);
        }
    }
}

/// Returns whether an answer settles a debt. The messages of a release are ahead of its answer.
fn settles(answer: &[u8]) -> bool {
    let answer = text(answer);
    let line = answer.trim_end().lines().next_back().unwrap_or_default();
    line.starts_with(':') || line.starts_with("-WRONGTYPE")
}

/// Returns what is owed at a master.
fn debts(machine: &Coordinator, own: usize) -> Vec<Debt> {
    machine.debts(own).collect()
}

fn owes(debts: &[Debt], name: &str) -> Owes {
    let debt = debts.iter().find(|(token, _)| *token == name.as_bytes());
    debt.map(|(_, is_certain)| *is_certain)
}
