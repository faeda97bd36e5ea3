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

mod connection;
mod exact;
pub(super) mod formulas;
mod lock;
mod steps;
mod tests;

use super::clock::{Time, WallClock};
use super::commands::{Commands, Deed, Script, Words, split, text, token};
use super::judge::KEYS;
use super::line::Line;
use super::master::MARK;
use super::plan::Asked;
use super::setup::Setup;
use super::world::World;
use connection::{Connections, Queued};
use evaluator::{Element, Page};
use exact::Span;
use lock::{Found, Lock};
use quorumlock_core::coordinator::wire::DONE;
use quorumlock_core::coordinator::{AttemptId, DetachedLock, Epoch};
use quorumlock_core::quorum::{Instant, Membership};
use quorumlock_core::report::LossReason;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use steps::Steps;

/// What is taken off a ttl, as `SAFETY.md` says it, and not as the code computes it: 1 % and 2 ms.
fn drift(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

/// Which worlds the page covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Scope {
    Covered,
    /// A flaw is put in by the simulation itself.
    Flawed,
    /// Clients are at odds: page `agreement`.
    AtOdds,
    /// A list takes over from another: page `joint`.
    SeveralLists,
    /// Clocks of masters are set back.
    ClocksAreSet,
    /// Many clients wait, and other programs set keys.
    Jammed,
    /// What stays closed was taken away by force.
    Forced,
    /// This world was not chosen.
    NotChosen,
}

impl Scope {
    pub(super) fn of(setup: &Setup) -> Self {
        let mut kinds = (0..setup.seats()).map(|seat| setup.kind(seat).members);
        let has_several = |members: Membership| {
            let also = members.also().is_some_and(|also| also != members.list());
            also || members != setup.kind(0).members
        };
        match () {
            () if setup.flaw.is_some() => Self::Flawed,
            () if setup.story.is_some() => Self::AtOdds,
            () if setup.jam.is_some() => Self::Jammed,
            () if setup.steps_back => Self::ClocksAreSet,
            () if kinds.any(has_several) => Self::SeveralLists,
            () => Self::Covered,
        }
    }
}

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
    /// Of each page, each resource.
    locks: Vec<Lock>,
    /// The SETs that have been queued and not executed, and how far their connection is once they are written.
    sets: Vec<(String, Connection, usize)>,
    queues: BTreeMap<Connection, Queue>,
    /// The round of each resource that a client has begun in this turn to extend a token.
    begun: BTreeMap<String, (usize, Vec<Option<Element>>)>,
    turns: usize,
    /// The tokens of what was won.
    won: BTreeMap<(usize, AttemptId), String>,
    /// Of each page that speaks of connections, each client and master.
    connections: Connections,
}

/// How often each action of a page was matched, in many worlds.
#[derive(Clone, Default, Debug)]
pub(super) struct Counts {
    pub(super) actions: BTreeMap<String, u64>,
    pub(super) stutters: u64,
    pub(super) worlds: BTreeMap<Scope, u64>,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        for (action, count) in &other.actions {
            *self.actions.entry(action.clone()).or_default() += count;
        }
        for (scope, count) in &other.worlds {
            *self.worlds.entry(*scope).or_default() += count;
        }
        self.stutters += other.stutters;
    }

    /// Adds what was matched with a state of a page.
    fn add_steps(&mut self, steps: &Steps) {
        for (action, matched) in steps.page().actions.iter().zip(&steps.matched) {
            let name = format!("{} {}", steps.page().name, action.name);
            *self.actions.entry(name).or_default() += matched;
        }
        self.stutters += steps.stutters;
    }

    /// Returns whether each action was matched.
    pub(super) fn is_whole(&self) -> bool {
        !self.actions.is_empty() && self.actions.values().all(|count| *count > 0)
    }

    /// Returns the counts as a run prints them.
    pub(super) fn shown(&self) -> String {
        let worlds = self.worlds.iter().map(|(scope, count)| format!("{scope:?} {count}"));
        let actions = self.actions.iter().map(|(action, count)| format!("{action} {count}"));
        let (worlds, actions) = (worlds.collect::<Vec<_>>(), actions.collect::<Vec<_>>());
        let judged = match formulas::every() {
            1 => "each world is".to_owned(),
            every => format!("one of {every} worlds is"),
        };
        format!(
            "{judged} matched with the proof. Steps: {}; stutters {}. Worlds: {}",
            actions.join(", "),
            self.stutters,
            worlds.join(", ")
        )
    }
}

impl Matched {
    pub(super) fn new(setup: &Setup) -> Self {
        let scope = if setup.proof.is_some() { Scope::of(setup) } else { Scope::NotChosen };
        let locks = match &setup.proof {
            Some(formulas::Proof(pages, _)) if scope == Scope::Covered => {
                let day = 86_400_000_000_000;
                let boot = if setup.young { 0 } else { -day };
                let guard = Span::of(setup.quarantine).at_least(exact::SLOWEST);
                let of = |page: &Arc<Page>| Lock::new(page.clone(), setup.masters, boot, guard);
                pages.iter().flat_map(|page| KEYS.map(|_| of(page))).collect()
            }
            _ => Vec::new(),
        };
        Self {
            scope,
            locks,
            sets: Vec::new(),
            queues: BTreeMap::new(),
            begun: BTreeMap::new(),
            turns: 0,
            won: BTreeMap::new(),
            connections: Connections::new(setup),
        }
    }

    fn is_on(&self) -> bool {
        self.scope == Scope::Covered
    }

    /// Ends the matching of this world, from which on the page does not cover it.
    fn end(&mut self, scope: Scope) {
        self.scope = scope;
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        *counts.worlds.entry(self.scope).or_default() += 1;
        for lock in &self.locks {
            for (action, matched) in lock.page().actions.iter().zip(&lock.matched) {
                let name = format!("{} {}", lock.page().name, action.name);
                *counts.actions.entry(name).or_default() += matched;
            }
            counts.stutters += lock.stutters;
        }
        self.connections.count(&mut counts);
        counts
    }

    /// Does something for the page of each of these resources.
    fn each(
        &mut self,
        keys: &[&str],
        mut then: impl FnMut(&mut Lock) -> Result<(), String>,
    ) -> Result<(), String> {
        for (key, lock) in KEYS.iter().cycle().zip(&mut self.locks) {
            if keys.contains(key) {
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
            let queued = Queued { begins, end, counts: counts(end as u64) };
            self.connections.queues(now, line, &words, queued)?;
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
        match deed {
            // A token that has held it alone is a reader's from now on.
            _ if reads => self.leaves(now, &token)?,
            Deed::Acquire => {
                let life = life(words);
                let node = line.1 as Element;
                self.each(&keys, |lock| {
                    lock.begins(now, &token, life)?;
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
                            let named = keys.contains(key);
                            let begun = named.then(|| lock.extends(now, &token, (life, is_last)));
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
            Deed::Release | Deed::Shorten => self.each(&keys, |lock| lock.gives_up(now, &token))?,
            Deed::Agree | Deed::Inspect | Deed::Other => {}
        }
        if matches!(deed, Deed::Acquire | Deed::Extend) {
            self.queues.entry(line).or_default().asked.push_back((token, asked));
        }
        Ok(())
    }

    /// Lets a token leave what the page covers.
    fn leaves(&mut self, now: i64, token: &str) -> Result<(), String> {
        let mut has_left = true;
        self.each(&KEYS, |lock| {
            has_left &= lock.leaves(now, token)?;
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

/// Returns whether an answer says that all keys were set, or are held.
fn counts(answer: &[u8]) -> bool {
    answer.starts_with(b"+OK") || answer.starts_with(b":1\r")
}

impl World {
    pub(super) fn find_unmatched(&mut self, result: Result<(), String>) {
        if let Err(wrong) = result {
            self.find_any(Err(format!("not as proved: {wrong}")));
        }
    }

    /// Matches what a client has queued since it last had a turn.
    pub(super) fn match_queued(&mut self, client: usize) {
        if !self.matched.is_on() && !self.matched.connections.is_on() {
            return;
        }
        self.matched.turns += 1;
        let now = self.agenda.now as i64;
        let leaving = self.leaving(client);
        for own in 0..self.clients[client].nodes.len() {
            self.match_opened(client, own);
            let Some(machine) = &self.clients[client].machine else { return };
            let (epoch, bytes) = machine.transmit(own);
            let node = self.clients[client].nodes[own];
            let line = (client, node, epoch);
            let judged = machine.judged(own);
            let judged = self.matched.connections.judges(now, line, judged);
            let counts = |end| machine.counts(own, end);
            let result =
                judged.and_then(|()| self.matched.reads(now, line, bytes, (&leaving, counts)));
            self.find_unmatched(result);
        }
        self.match_owed(client);
    }

    /// Returns the tokens that a caller has asked to detach.
    fn leaving(&self, client: usize) -> Vec<String> {
        let client = &self.clients[client];
        let holds = client.detaching.values().filter_map(|onward| client.holds.get(&onward.hold));
        holds.map(|held| held.token.clone()).collect()
    }

    pub(super) fn match_written(&mut self, line: Connection, len: usize) {
        self.matched.written(line, len);
    }

    /// Matches what a master has executed.
    pub(super) fn match_executed(&mut self, line: Connection, words: &Words, answer: &[u8]) {
        let result = self.matched.connections.runs(self.agenda.now as i64, line, words);
        self.find_unmatched(result);
        self.match_found(line, words, answer);
        if !self.matched.is_on() {
            return;
        }
        let asked = self.matched.take_asked(line, words);
        let (node, now) = (line.1, self.agenda.now);
        let found = KEYS.map(|key| self.found(node, key, now));
        for ((room, asked), found) in asked.into_iter().enumerate().zip(found.iter().cycle()) {
            let lock = &mut self.matched.locks[room];
            let answered = (asked, counts(answer));
            let result = lock.executes(now as i64, node as Element, answered, found.as_ref());
            let result = result.map_err(|wrong| of_resource(KEYS[room % KEYS.len()], &wrong, lock));
            self.find_unmatched(result);
        }
    }

    /// Returns the key of the page at a master, if there is one.
    fn found(&self, node: usize, key: &str, now: Time) -> Option<Found> {
        let master = &self.masters[node];
        let value = master.raw(key, now)?;
        let is_token = value != MARK && !value.starts_with(DONE);
        let left = master.remaining(key, now).filter(|_| is_token)?;
        let clock: WallClock = master.clock;
        Some(Found { token: value.to_owned(), ends: exact::ends(clock, now, left) })
    }

    pub(super) fn match_restart(&mut self, node: usize) {
        if !self.matched.is_on() {
            return;
        }
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.restarts(now, node as Element));
        self.find_unmatched(result);
    }

    pub(super) fn match_won(
        &mut self,
        place: usize,
        attempt: AttemptId,
        token: &str,
        asked: &Asked,
        deadline: Instant,
    ) {
        if !self.matched.is_on() || asked.mode == super::plan::Mode::Read {
            return;
        }
        let now = self.agenda.now as i64;
        let clock = self.clients[place].clock;
        let until = exact::when(clock, deadline);
        let span = Span::of(asked.ttl - drift(asked.ttl));
        let (trust, by_any) = (span.at_most(clock.ppm), span.at_most(-exact::SLOWEST));
        let delayed = !asked.lock_delay.is_zero() || !asked.at_least.is_zero();
        self.matched.won.insert((place, attempt), token.to_owned());
        let won = (trust, by_any, delayed);
        let result = self.matched.each(asked.keys, |lock| lock.wins(now, token, until, won));
        self.find_unmatched(result);
    }

    /// A lock that is kept warm goes to another guard of its client: to the proof it was held all the while.
    pub(super) fn match_next(
        &mut self,
        place: usize,
        attempt: AttemptId,
        token: &str,
        deadline: Instant,
    ) {
        if self.matched.is_on() {
            self.matched.won.insert((place, attempt), token.to_owned());
        }
        let until = exact::when(self.clients[place].clock, deadline);
        self.match_hold(place, attempt, |lock, now, token| lock.goes_on(now, token, until));
    }

    pub(super) fn match_extended(&mut self, place: usize, attempt: AttemptId, deadline: Instant) {
        let until = exact::when(self.clients[place].clock, deadline);
        self.match_hold(place, attempt, |lock, now, token| lock.extended(now, token, until));
    }

    /// What its caller gave up in time has not lapsed, however late the machine learns of it.
    pub(super) fn match_lost(&mut self, place: usize, attempt: AttemptId, reason: &LossReason) {
        let held = self.clients[place].won(attempt).is_some_and(|held| held.in_time);
        let is_given_up = held && *reason == LossReason::Lapsed;
        self.match_hold(place, attempt, |lock, now, token| match is_given_up {
            true => lock.gives_up(now, token),
            false => lock.loses(now, token),
        });
    }

    fn match_hold(
        &mut self,
        place: usize,
        attempt: AttemptId,
        mut then: impl FnMut(&mut Lock, i64, &str) -> Result<(), String>,
    ) {
        let token = self.matched.won.get(&(place, attempt)).filter(|_| self.matched.is_on());
        let Some(token) = token.cloned() else { return };
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| then(lock, now, &token));
        self.find_unmatched(result);
    }

    /// A hold has become a value, which names the masters that do not count for the adoption.
    pub(super) fn match_detached(&mut self, place: usize, attempt: AttemptId, lock: &DetachedLock) {
        let token = self.matched.won.get(&(place, attempt)).filter(|_| self.matched.is_on());
        let Some(token) = token.cloned() else { return };
        let now = self.agenda.now as i64;
        let sets = self.matched.sets.iter().filter(|(other, ..)| *other == token);
        let late = sets.filter(|(_, line, end)| self.may_arrive(*line, *end));
        let late: BTreeSet<usize> = late.map(|(_, line, _)| line.1).collect();
        let nodes: Vec<Element> = (0..self.masters.len()).map(|node| node as Element).collect();
        let is_named = |node: &&Element| {
            let expected = format!("n{}", **node + 1);
            lock.unsettled.iter().any(|name| **name == *expected)
        };
        let named: Vec<Element> = nodes.iter().filter(is_named).copied().collect();
        let mut is_seen = true;
        let result = self.matched.each(&KEYS, |lock| {
            let others = nodes.iter().filter(|node| !late.contains(&(**node as usize)));
            others.into_iter().try_for_each(|node| lock.none_late(now, &token, *node))?;
            is_seen &= lock.detached(now, &token, &named)?;
            Ok(())
        });
        self.find_unmatched(result);
        if !is_seen {
            self.matched.end(Scope::Forced);
        }
    }

    /// Returns whether a command may yet be executed: it has been written and is on its way, or may yet be
    /// written.
    fn may_arrive(&self, of: Connection, end: usize) -> bool {
        let is_written = self.matched.queues.get(&of).is_some_and(|queue| queue.written >= end);
        let is_it = |line: &&Line| (line.client, line.node, line.epoch) == of;
        self.lines.iter().find(is_it).is_none_or(|line| {
            let may_be_written = line.open && self.clients[of.0].machine.is_some();
            line.server.is_some() && (may_be_written || is_written && line.up.unread > 0)
        })
    }

    /// A hold is not detached after all.
    pub(super) fn match_returned(&mut self, place: usize, attempt: AttemptId) {
        self.match_hold(place, attempt, |lock, now, token| lock.returns(now, token));
    }

    pub(super) fn match_adopted(
        &mut self,
        place: usize,
        attempt: AttemptId,
        token: &str,
        deadline: Instant,
    ) {
        self.matched.won.insert((place, attempt), token.to_owned());
        let until = exact::when(self.clients[place].clock, deadline);
        let mut is_seen = true;
        self.match_hold(place, attempt, |lock, now, token| {
            is_seen &= lock.adopted(now, token, until)?;
            Ok(())
        });
        if !is_seen {
            self.matched.end(Scope::Forced);
        }
    }

    /// What the page does not cover becomes of a token.
    pub(super) fn match_leaving(&mut self, token: &str) {
        if self.matched.is_on() {
            let now = self.agenda.now as i64;
            let result = self.matched.leaves(now, token);
            self.find_unmatched(result);
        }
    }
}
