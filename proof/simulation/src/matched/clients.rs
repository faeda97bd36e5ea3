//! What clients queue, and what callers hear.

use super::agreement::Known;
use super::exact::{self, SLOWEST, Span};
use super::fences::nanos_of_micros;
use super::lock::{Lock, Rests};
use super::min_hold::End;
use super::{Connection, Scope, drift};
use crate::client::Client;
use crate::judge::KEYS;
use crate::line::Line;
use crate::plan::{Asked, Mode};
use crate::world::World;
use evaluator::Element;
use quorumlock_core::coordinator::{AttemptId, Coordinator, DetachedLock, Release, RequestId};
use quorumlock_core::quorum::{ForeignList, Instant, NodeSet};
use quorumlock_core::report::LossReason;
use std::collections::BTreeSet;
use std::time::Duration;

impl World {
    pub(in super::super) fn find_unmatched(&mut self, result: Result<(), String>) {
        if let Err(wrong) = result {
            self.find_any(Err(format!("not as proved: {wrong}")));
        }
    }

    /// Matches what a client has queued since it last had a turn.
    pub(in super::super) fn match_queued(&mut self, client: usize) {
        if !self.matched.is_on() && !self.matched.connections.is_on() {
            return;
        }
        self.matched.turns += 1;
        for client in &self.clients[self.matched.lists.len()..] {
            let lists = self.setup.kind(client.seat).members.lists();
            self.matched.lists.push(lists.collect());
            self.matched.agreement.iter_mut().for_each(|agreement| agreement.comes(client.seat));
        }
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
            let Client { clock, nodes, .. } = &self.clients[client];
            let local = clock.at(self.agenda.now);
            let known = |life| known(machine, nodes, local, life);
            let result = judged.and_then(|()| {
                self.matched.reads(now, line, bytes, (&leaving, counts), (*clock, known))
            });
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

    pub(in super::super) fn match_written(&mut self, line: Connection, len: usize) {
        self.matched.written(line, len);
    }

    /// A caller makes its writer a reader.
    pub(in super::super) fn match_downgrades(&mut self, token: &str) {
        let now = self.agenda.now as i64;
        let mut is_left = false;
        let result = self.matched.each(&KEYS, |lock| {
            is_left |= lock.is_left_somewhere(token);
            lock.downgrades(now, token)
        });
        if is_left {
            self.matched.end(Scope::Forced);
        }
        self.find_unmatched(result);
    }

    /// It is a writer still.
    pub(in super::super) fn match_writes_again(&mut self, token: &str) {
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.writes_again(now, token));
        self.find_unmatched(result);
    }

    pub(in super::super) fn match_won(
        &mut self,
        (place, hold): (usize, u64),
        (attempt, ballot): (AttemptId, u64),
        token: &str,
        asked: &Asked,
        deadline: Instant,
    ) {
        self.match_has(place, token, deadline);
        if !self.matched.is_on() {
            return;
        }
        let now = self.agenda.now as i64;
        let clock = self.clients[place].clock;
        let until = exact::when(clock, deadline);
        let span = Span::of(asked.ttl - drift(asked.ttl));
        let (trust, by_any) = (span.at_most(clock.ppm), span.at_most(-SLOWEST));
        let delayed = !asked.lock_delay.is_zero() || !asked.at_least.is_zero();
        let stays = match asked.at_least.is_zero() {
            true => 0,
            false => Span::of(asked.at_least).at_most(clock.ppm),
        };
        self.matched.won.insert((place, attempt), token.to_owned());
        let reads = asked.mode == Mode::Read;
        let won = Rests { trust, by_any, delayed, stays, reads };
        let result = self.matched.each(asked.keys, |lock| lock.wins(now, token, until, won));
        self.find_unmatched(result);
        self.match_taken((place, hold), attempt, ballot);
    }

    /// A lock that is kept warm goes to another guard of its client: to the proof it was held all the while.
    pub(in super::super) fn match_next(
        &mut self,
        (place, hold): (usize, u64),
        (attempt, ballot): (AttemptId, u64),
        token: &str,
        deadline: Instant,
    ) {
        if self.matched.is_on() {
            self.matched.won.insert((place, attempt), token.to_owned());
        }
        let until = exact::when(self.clients[place].clock, deadline);
        self.match_hold(place, attempt, |lock, now, token| lock.goes_on(now, token, until));
        self.match_taken((place, hold), attempt, ballot);
    }

    /// A task has a guard, with this number.
    fn match_taken(&mut self, (place, hold): (usize, u64), attempt: AttemptId, number: u64) {
        let number = nanos_of_micros(number.into());
        let mut turns = Vec::new();
        self.match_hold(place, attempt, |lock, now, token| {
            turns.push(lock.passes_on(now, token, number)?);
            Ok(())
        });
        self.matched.taken.insert((place, hold), turns);
    }

    /// A task has a guard no more.
    pub(in super::super) fn match_given_back(&mut self, place: usize, hold: u64) {
        let Some(turns) = self.matched.taken.remove(&(place, hold)) else { return };
        let mut turns = turns.into_iter();
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| match turns.next().flatten() {
            Some(turn) => lock.gives_back(now, turn),
            None => Ok(()),
        });
        self.find_unmatched(result);
    }

    pub(in super::super) fn match_extended(
        &mut self,
        place: usize,
        attempt: AttemptId,
        deadline: Instant,
    ) {
        if let Some(token) = self.clients[place].won(attempt).map(|held| held.token.clone()) {
            self.match_has(place, &token, deadline);
        }
        let until = exact::when(self.clients[place].clock, deadline);
        self.match_hold(place, attempt, |lock, now, token| lock.extended(now, token, until));
    }

    /// What its caller gave up in time has not lapsed, however late the machine learns of it.
    pub(in super::super) fn match_lost(
        &mut self,
        place: usize,
        attempt: AttemptId,
        reason: &LossReason,
    ) {
        let held = self.clients[place].won(attempt).is_some_and(|held| held.in_time);
        let is_given_up = held && *reason == LossReason::Lapsed;
        self.match_hold(place, attempt, |lock, now, token| match is_given_up {
            true => lock.gives_up(now, token, End::Well),
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
    pub(in super::super) fn match_detached(
        &mut self,
        place: usize,
        attempt: AttemptId,
        lock: &DetachedLock,
    ) {
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
    pub(in super::super) fn match_returned(&mut self, place: usize, attempt: AttemptId) {
        self.match_hold(place, attempt, |lock, now, token| lock.returns(now, token));
    }

    pub(in super::super) fn match_adopted(
        &mut self,
        place: usize,
        attempt: AttemptId,
        token: &str,
        deadline: Instant,
    ) {
        self.match_has(place, token, deadline);
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
    pub(in super::super) fn match_leaving(&mut self, token: &str) {
        if self.matched.is_on() {
            let now = self.agenda.now as i64;
            let result = self.matched.leaves(now, token, false);
            self.find_unmatched(result);
        }
    }

    /// The work of a guard has ended well, and its caller asks for the release.
    pub(in super::super) fn match_finishing(
        &mut self,
        place: usize,
        request: RequestId,
        token: &str,
    ) {
        if self.matched.is_on() {
            self.matched.finishing.insert((place, request), token.to_owned());
        }
    }

    /// The caller hears of the release.
    pub(in super::super) fn match_released(
        &mut self,
        place: usize,
        request: RequestId,
        release: &Release,
    ) {
        let token = self.matched.finishing.remove(&(place, request));
        let Some(token) = token.filter(|_| matches!(release, Release::Released)) else { return };
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.confirmed(now, &token));
        self.find_unmatched(result);
    }
}

/// Returns what a client knows of its masters, and of other clients, for keys that live for `life`.
fn known(machine: &Coordinator, nodes: &[usize], now: Instant, life: Duration) -> Known {
    let (masters, others) = machine.rests_on(now, life);
    let masters = nodes.iter().zip(masters).map(|(node, (noted, shields))| (*node, noted, shields));
    let places = |own: NodeSet| own.iter().map(|own| nodes[own]).collect();
    let lists =
        |lists: &[ForeignList]| lists.iter().map(|list| (list.len, places(list.ours))).collect();
    Known { masters: masters.collect(), others: others.into_iter().map(lists).collect() }
}
