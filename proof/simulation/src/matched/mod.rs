//! Each step of the shipped coordinator and of the masters is one that the proof has.
//!
//! The world is mapped to the states of pages of `proof/induction`, for each resource, or each client and master. What
//! happens at the boundary of the machines is matched with an action of the page: what a client queues, what
//! a master executes, what a caller hears. The relation of the action has to hold between the states before
//! and after it, as `evaluator` reads it from the formulas that the solvers have proved; so do all
//! conjuncts of the invariant, the assumptions and the goals. Nothing of these is written here again.
//!
//! What is not a step of the page is a stutter: a command that changes nothing that it speaks of. What the
//! page does not cover is said in `Scope`, and counted.

mod agreement;
mod clients;
mod connection;
mod counts;
mod exact;
pub(super) mod fences;
pub(super) mod formulas;
mod hand_over;
mod lists;
mod lock;
mod masters;
mod min_hold;
mod readers;
mod scope;
mod several;
mod steps;
mod tests;
mod warm;

use super::clock::{Clock, Time};
use super::commands::{Commands, Deed, Script, Words, split, text, token};
use super::judge::KEYS;
use super::setup::Setup;
pub(super) use agreement::Noting;
use agreement::{Agreement, Known, Vote};
use connection::{Connections, Queued};
pub(super) use counts::Counts;
use evaluator::{Element, Page};
use exact::Span;
use fences::{Block, Clocks, nanos_of_micros};
use lock::{Kind, Lock};
use min_hold::End;
use quorumlock_core::coordinator::{AttemptId, Epoch, RequestId};
use quorumlock_core::quorum::NodeSet;
use scope::Scope;
use several::SEVERAL;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What is taken off a ttl, as `SAFETY.md` says it, and not as the code computes it: 1 % and 2 ms.
fn drift(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

/// The places of the last and the first number of a block among the arguments of `acquire.lua`.
const BALLOT: usize = 3;
const FIRST_OF_BLOCK: usize = 7;

/// What a client has queued for a master on a connection.
#[derive(Default)]
struct Queue {
    /// The number of bytes that were read before and have not been written.
    seen: usize,
    /// The number of bytes that were ever read, and that were written.
    read: usize,
    written: usize,
    commands: Commands,
    /// What was asked about resources, and has not been executed: which token, and of each resource what.
    asked: VecDeque<(String, Vec<lock::Asked>)>,
}

/// A client, a master, and which of the connections between them.
type Connection = (usize, usize, Epoch);

/// What is matched in one world.
pub(super) struct Matched {
    pub(super) scope: Scope,
    is_over: bool,
    /// Of each page, each resource.
    locks: Vec<Lock>,
    /// The SETs that have been queued and not executed, and how far their connection is once they are written.
    sets: Vec<(String, Connection, usize)>,
    queues: BTreeMap<Connection, Queue>,
    /// The round of each resource that a client has begun in this turn to extend a token.
    begun: BTreeMap<String, (usize, Vec<Option<Element>>)>,
    turns: usize,
    /// The lists of each client.
    lists: Vec<Vec<NodeSet>>,
    /// The tokens of what was won.
    won: BTreeMap<(usize, AttemptId), String>,
    /// The turns of guards: those of a client, by their holds.
    taken: BTreeMap<(usize, u64), Vec<Option<Element>>>,
    /// The tokens of what callers release.
    finishing: BTreeMap<(usize, RequestId), String>,
    /// Of each page that speaks of connections, each client and master.
    connections: Connections,
    /// Of a world whose clients are at odds.
    agreement: Option<Agreement>,
}

impl Matched {
    pub(super) fn new(setup: &Setup, clocks: &Clocks) -> Self {
        let scope = if setup.proof.is_some() { Scope::of(setup) } else { Scope::NotChosen };
        let locks = match &setup.proof {
            Some(formulas::Proof(pages, ..)) => {
                let day = 86_400_000_000_000;
                let boot = if setup.young { 0 } else { -day };
                let guard = Span::of(setup.quarantine).at_least(exact::SLOWEST);
                let of = |page: &Arc<Page>| Lock::new(page.clone(), clocks.clone(), boot, guard);
                let covers = |page: &&Arc<Page>| scope.is_of(&page.name);
                let rooms = |page: &Arc<Page>| if page.name == SEVERAL { 1 } else { KEYS.len() };
                let all = |page| (0..rooms(page)).map(move |_| of(page));
                pages.iter().filter(covers).flat_map(all).collect()
            }
            None => Vec::new(),
        };
        Self {
            scope,
            is_over: false,
            locks,
            sets: Vec::new(),
            queues: BTreeMap::new(),
            begun: BTreeMap::new(),
            turns: 0,
            lists: Vec::new(),
            won: BTreeMap::new(),
            taken: BTreeMap::new(),
            finishing: BTreeMap::new(),
            connections: Connections::new(setup),
            agreement: Agreement::begin(setup),
        }
    }

    fn is_on(&self) -> bool {
        !(self.locks.is_empty() || self.is_over)
    }

    /// Ends the matching of this world, from which on the page does not cover it.
    fn end(&mut self, scope: Scope) {
        (self.scope, self.is_over) = (scope, true);
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        *counts.worlds.entry(self.scope).or_default() += 1;
        for lock in &self.locks {
            counts.add_steps(&lock.steps);
        }
        self.connections.count(&mut counts);
        self.agreement.iter().for_each(|agreement| agreement.count(&mut counts));
        counts
    }

    /// Does something for the page of each of these resources, if this world is matched still.
    fn each(
        &mut self,
        keys: &[&str],
        mut then: impl FnMut(&mut Lock) -> Result<(), String>,
    ) -> Result<(), String> {
        if !self.is_on() {
            return Ok(());
        }
        for (key, lock) in KEYS.iter().cycle().zip(&mut self.locks) {
            if lock.is_of(key, keys) {
                then(lock).map_err(|wrong| of_resource(key, &wrong, lock))?;
            }
        }
        Ok(())
    }

    // What clients queue.

    /// Reads what a client has newly queued for a master.
    fn reads(
        &mut self,
        now: i64,
        line: Connection,
        bytes: &[u8],
        (leaving, counts): (&[String], impl Fn(u64) -> Option<bool>),
        (clock, known): (Clock, impl Fn(Duration) -> Known),
    ) -> Result<(), String> {
        let queue = self.queues.entry(line).or_default();
        // What was queued on a connection that has ended is gone.
        let new = bytes.get(queue.seen..).unwrap_or_default();
        queue.commands.receive(new);
        queue.read += new.len();
        queue.seen = bytes.len();
        while let Some(queue) = self.queues.get_mut(&line) {
            let begins = queue.read - queue.commands.rest();
            let Some(words) = queue.commands.next() else { break };
            let end = queue.read - queue.commands.rest();
            let counts = counts(end as u64);
            let queued = Queued { begins, end, counts };
            self.connections.queues(now, line, &words, queued)?;
            if let Some(agreement) = &mut self.agreement {
                let vote = Vote { line, words: &words, counts, clock, turn: self.turns };
                match Noting::of(&words) {
                    Some(noting) => {
                        agreement.queues(now, (line, clock.at(now as Time)), &noting)?
                    }
                    None => agreement.asks(now, &vote, &known)?,
                }
            }
            if self.is_on() {
                self.queued(now, line, &words, leaving)?;
            }
        }
        Ok(())
    }

    fn written(&mut self, line: Connection, len: usize) {
        if let Some(queue) = self.queues.get_mut(&line) {
            queue.seen = queue.seen.saturating_sub(len);
            queue.written += len;
        }
    }

    fn queued(
        &mut self,
        now: i64,
        line: Connection,
        words: &Words,
        leaving: &[String],
    ) -> Result<(), String> {
        let (deed, token) = (Deed::of(words), token(words));
        let keys = resources(words);
        if keys.is_empty() || token.is_empty() {
            return Ok(());
        }
        let reads =
            matches!(Script::of(words), Some(Script::Acquire | Script::Extend | Script::Release));
        let mut asked = vec![lock::Asked::Nothing; self.locks.len()];
        if reads {
            // A token that has held it alone is a reader's from now on.
            self.leaves(now, &token, true)?;
        }
        match deed {
            Deed::Acquire => {
                let (life, block) = (life(words), block(words));
                let lists = self.lists[line.0].clone();
                let node = line.1 as Element;
                self.each(&keys, |lock| {
                    lock.begins(now, &token, (life, block, reads), (&lists, &keys))?;
                    lock.sends_set(now, &token, node)
                })?;
                let queue = self.queues.entry(line).or_default();
                self.sets.push((token.clone(), line, queue.read - queue.commands.rest()));
                for (asked, lock) in asked.iter_mut().zip(&self.locks) {
                    if lock.is_known(&token) && !lock.is_held(&token) {
                        *asked = lock::Asked::Acquire;
                    }
                }
            }
            Deed::Extend => {
                let (turns, life) = (self.turns, life(words));
                let begun = self.begun.get(&token).filter(|(turn, _)| *turn == turns);
                let rounds = match begun {
                    Some((_, rounds)) => rounds.clone(),
                    None => {
                        let mut rounds = Vec::new();
                        let is_last = leaving.contains(&token);
                        for (key, lock) in KEYS.iter().cycle().zip(&mut self.locks) {
                            let named = lock.is_of(key, &keys);
                            let asked = (life, is_last, reads);
                            let begun = named.then(|| lock.extends(now, &token, asked));
                            let begun =
                                begun.transpose().map_err(|wrong| of_resource(key, &wrong, lock));
                            rounds.push(begun?.flatten());
                        }
                        self.begun.insert(token.clone(), (turns, rounds.clone()));
                        rounds
                    }
                };
                asked = rounds.into_iter().map(lock::Asked::Extend).collect();
            }
            Deed::Release => self.each(&keys, |lock| lock.gives_up(now, &token, End::Open))?,
            Deed::Shorten => self.each(&keys, |lock| lock.gives_up(now, &token, End::Well))?,
            Deed::Agree | Deed::Inspect | Deed::Other => {}
        }
        if matches!(deed, Deed::Acquire | Deed::Extend) {
            self.queues.entry(line).or_default().asked.push_back((token, asked));
        }
        Ok(())
    }

    /// Lets a token leave what the pages cover. That of readers covers one that `reads`.
    fn leaves(&mut self, now: i64, token: &str, reads: bool) -> Result<(), String> {
        let mut has_left = true;
        self.each(&KEYS, |lock| {
            let stays = reads && lock.kind == Kind::Readers;
            has_left &= stays || lock.leaves(now, token, End::Open)?;
            Ok(())
        })?;
        if !has_left {
            self.end(Scope::Forced);
        }
        Ok(())
    }

    /// Takes what was asked by a command that a master has executed.
    fn take_asked(&mut self, line: Connection, words: &Words) -> Vec<lock::Asked> {
        let nothing = vec![lock::Asked::Nothing; self.locks.len()];
        let deed = Deed::of(words);
        if !matches!(deed, Deed::Acquire | Deed::Extend) {
            return nothing;
        }
        let token = token(words);
        if deed == Deed::Acquire {
            let sent = self.sets.iter().position(|(other, on, _)| *other == token && *on == line);
            sent.into_iter().for_each(|at| _ = self.sets.remove(at));
        }
        let Some(queue) = self.queues.get_mut(&line) else { return nothing };
        let at = queue.asked.iter().position(|(other, _)| *other == token);
        let taken = at.and_then(|at| queue.asked.drain(..=at).next_back());
        taken.map_or(nothing, |(_, asked)| asked)
    }
}

fn of_resource(key: &str, wrong: &str, lock: &Lock) -> String {
    format!("resource {key}, {wrong}\n{}", lock.shown())
}

/// Returns the resources that a command names as keys.
fn resources(words: &Words) -> Vec<&'static str> {
    let named = split(words).0;
    KEYS.into_iter().filter(|key| named.iter().any(|word| word == key.as_bytes())).collect()
}

/// Returns the life that a command gives to keys: the word behind its token, or behind `PX`.
fn life(words: &Words) -> Span {
    let arguments = split(words).1;
    let px = arguments.iter().position(|word| word.eq_ignore_ascii_case(b"PX"));
    let word = arguments.get(px.unwrap_or(0) + 1);
    let millis = word.and_then(|word| text(word).parse().ok()).unwrap_or(0);
    Span::of(Duration::from_millis(millis))
}

/// Returns the numbers that a fenced acquire asks for.
fn block(words: &Words) -> Option<Block> {
    if words[0] == b"SET" {
        return None;
    }
    let arguments = split(words).1;
    let number = |place: usize| text(arguments.get(place)?).parse().ok().map(nanos_of_micros);
    let last = number(BALLOT)?;
    Some((number(FIRST_OF_BLOCK).unwrap_or(last), last))
}

/// Returns whether an answer says that all keys were set, or are held.
fn counts(answer: &[u8]) -> bool {
    answer.starts_with(b"+OK") || answer.starts_with(b":1\r")
}
