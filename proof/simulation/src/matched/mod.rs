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
pub(super) mod fences;
pub(super) mod formulas;
mod hand_over;
mod lists;
mod lock;
mod min_hold;
mod readers;
mod several;
mod steps;
mod tests;
mod warm;

use super::clock::{Time, WallClock};
use super::commands::{Commands, Deed, Script, Words, split, text, token};
use super::judge::KEYS;
use super::line::Line;
use super::master::{FENCE, MARK};
use super::plan::{Asked, Mode};
use super::setup::Setup;
use super::world::World;
use connection::{Connections, Queued};
use evaluator::{Element, Page};
use exact::Span;
use fences::{Block, Clocks, nanos_of_micros};
use lock::{Found, Kind, Lock, Rests, Seen};
use min_hold::End;
use quorumlock_core::coordinator::wire::DONE;
use quorumlock_core::coordinator::{AttemptId, DetachedLock, Epoch, Release, RequestId};
use quorumlock_core::quorum::{Instant, Membership, NodeSet};
use quorumlock_core::report::LossReason;
use readers::Shared;
use several::{Place, SEVERAL};
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
            () if kinds.any(has_several) => Self::SeveralLists,
            () if setup.steps_back => Self::ClocksAreSet,
            () => Self::Covered,
        }
    }

    /// Returns whether such a world is matched with a page, as far as that speaks of it.
    fn is_of(self, page: &str) -> bool {
        match self {
            Self::Covered => true,
            Self::ClocksAreSet => page != "readers",
            Self::SeveralLists => page == "joint",
            _ => false,
        }
    }
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
}

/// The actions that no world has: no simulated master is out of memory, and no world ends a joint phase.
const IN_NO_WORLD: [&str; 2] = ["min_hold shorten_in_part", "joint old_ends"];

/// Those that few worlds have: so many do not have to be without them.
const IN_FEW_WORLDS: [&str; 3] =
    ["min_hold release_late", "readers become_reader_uncounted", "readers downgrade_undone"];
const MANY: u64 = 50_000;

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

    /// Returns whether each action was matched that so many worlds have.
    pub(super) fn is_whole(&self, worlds: u64) -> bool {
        let is_rare = |name: &str| {
            IN_NO_WORLD.contains(&name) || worlds < MANY && IN_FEW_WORLDS.contains(&name)
        };
        let is_missing = |(name, count): (&String, &u64)| *count == 0 && !is_rare(name);
        !self.actions.is_empty() && !self.actions.iter().any(is_missing)
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
    pub(super) fn new(setup: &Setup, clocks: &Clocks) -> Self {
        let scope = if setup.proof.is_some() { Scope::of(setup) } else { Scope::NotChosen };
        let locks = match &setup.proof {
            Some(formulas::Proof(pages, _)) => {
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
        counts
    }

    /// Does something for the page of each of these resources.
    fn each(
        &mut self,
        keys: &[&str],
        mut then: impl FnMut(&mut Lock) -> Result<(), String>,
    ) -> Result<(), String> {
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
        for client in &self.clients[self.matched.lists.len()..] {
            let lists = self.setup.kind(client.seat).members.lists();
            self.matched.lists.push(lists.collect());
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
        let acting = token(words);
        // What a command does not name it does not change.
        let named = resources(words);
        let answered = |room: usize| (asked[room], counts(answer));
        if let Some(room) = self.matched.locks.iter().position(|lock| lock.kind == Kind::Several) {
            let places: Vec<Place> = named.iter().map(|key| self.place(node, key, now)).collect();
            let lock = &mut self.matched.locks[room];
            let result =
                lock.executes_all(now as i64, node as Element, answered(room), &acting, &places);
            let result = result.map_err(|wrong| of_resource(&named.join(", "), &wrong, lock));
            self.find_unmatched(result);
        }
        for key in named {
            let at = KEYS.iter().position(|known| *known == key).unwrap_or(0);
            let (found, shared) = (self.found(node, key, now), self.shared(node, key, now));
            let seen = Seen {
                found: found.as_ref(),
                fence: self.fence(node, key, now),
                shared: shared.as_ref(),
                acting: &acting,
            };
            for room in (at..asked.len()).step_by(KEYS.len()) {
                let lock = &mut self.matched.locks[room];
                if lock.kind == Kind::Several {
                    continue;
                }
                let result = lock.executes(now as i64, node as Element, answered(room), &seen);
                let result = result.map_err(|wrong| of_resource(key, &wrong, lock));
                self.find_unmatched(result);
            }
        }
    }

    /// Returns what a master has of a resource.
    fn place(&self, node: usize, key: &str, now: Time) -> Place {
        let at = KEYS.iter().position(|known| *known == key).unwrap_or(0);
        let (found, fence) = (self.found(node, key, now), self.fence(node, key, now));
        Place { key: at as Element, found, fence }
    }

    /// Returns the mark of readers at a master, and those under it.
    fn shared(&self, node: usize, key: &str, now: Time) -> Option<Shared> {
        let master = &self.masters[node];
        let left = master.remaining(key, now).filter(|_| master.raw(key, now) == Some(MARK))?;
        let ends = |left: Duration| exact::ends(master.clock, now, left);
        let readers = master.readers(key, now).into_iter();
        Some(Shared {
            ends: ends(left),
            readers: readers.map(|(reader, left)| (reader, ends(left))).collect(),
        })
    }

    /// A caller makes its writer a reader.
    pub(super) fn match_downgrades(&mut self, token: &str) {
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.downgrades(now, token));
        self.find_unmatched(result);
    }

    /// It is a writer still.
    pub(super) fn match_writes_again(&mut self, token: &str) {
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.writes_again(now, token));
        self.find_unmatched(result);
    }

    /// Returns the key of the page at a master, if there is one.
    fn found(&self, node: usize, key: &str, now: Time) -> Option<Found> {
        let master = &self.masters[node];
        let value = master.raw(key, now)?;
        let left = master.remaining(key, now).filter(|_| value != MARK)?;
        let clock: WallClock = master.clock;
        let token = value.strip_prefix(DONE);
        let (token, is_done) = (token.unwrap_or(value).to_owned(), token.is_some());
        Some(Found { token, ends: exact::ends(clock, now, left), is_done })
    }

    /// Returns the fence of a resource at a master, or nothing.
    fn fence(&self, node: usize, key: &str, now: Time) -> i64 {
        let fence = self.masters[node].raw(&format!("{FENCE}{key}"), now);
        fence.and_then(|text| text.parse().ok()).map_or(0, nanos_of_micros)
    }

    /// The clock of a master was set back: its keys live longer.
    pub(super) fn match_set_back(&mut self, node: usize) {
        if !self.matched.is_on() {
            return;
        }
        let now = self.agenda.now;
        let found = KEYS.map(|key| self.found(node, key, now));
        let mut each = found.iter().cycle();
        let result = self.matched.each(&KEYS, |lock| match each.next() {
            _ if lock.kind == Kind::Several => {
                lock.all_live_longer(now as i64, node as Element, &found)
            }
            Some(Some(found)) => lock.lives_longer(now as i64, node as Element, found),
            _ => Ok(()),
        });
        self.find_unmatched(result);
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
        (place, hold): (usize, u64),
        (attempt, ballot): (AttemptId, u64),
        token: &str,
        asked: &Asked,
        deadline: Instant,
    ) {
        if !self.matched.is_on() {
            return;
        }
        let now = self.agenda.now as i64;
        let clock = self.clients[place].clock;
        let until = exact::when(clock, deadline);
        let span = Span::of(asked.ttl - drift(asked.ttl));
        let (trust, by_any) = (span.at_most(clock.ppm), span.at_most(-exact::SLOWEST));
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
    pub(super) fn match_next(
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
    pub(super) fn match_given_back(&mut self, place: usize, hold: u64) {
        let Some(turns) = self.matched.taken.remove(&(place, hold)) else { return };
        let mut turns = turns.into_iter();
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| match turns.next().flatten() {
            Some(turn) => lock.gives_back(now, turn),
            None => Ok(()),
        });
        self.find_unmatched(result);
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
            let result = self.matched.leaves(now, token, false);
            self.find_unmatched(result);
        }
    }

    /// The work of a guard has ended well, and its caller asks for the release.
    pub(super) fn match_finishing(&mut self, place: usize, request: RequestId, token: &str) {
        if self.matched.is_on() {
            self.matched.finishing.insert((place, request), token.to_owned());
        }
    }

    /// The caller hears of the release.
    pub(super) fn match_released(&mut self, place: usize, request: RequestId, release: &Release) {
        let token = self.matched.finishing.remove(&(place, request));
        let Some(token) = token.filter(|_| matches!(release, Release::Released)) else { return };
        let now = self.agenda.now as i64;
        let result = self.matched.each(&KEYS, |lock| lock.confirmed(now, &token));
        self.find_unmatched(result);
    }
}
