//! One resource, as a page of the proof sees it that has one list of masters.
//!
//! What is under the key at a master is a key of the page if it is a token. A mark of readers, of work that
//! has ended well, or of a waiter that comes next, is none: a SET that finds one of these where it may
//! replace it finds the key vacant, and a key that becomes one is released.

use super::exact::{SLOWEST, Span};
use super::fences::{Block, Clocks};
use super::lists::add_quorums;
use super::min_hold::End;
use super::readers::Shared;
use super::steps::Steps;
use crate::judge::KEYS;
use evaluator::{Element, Page};
use quorumlock_core::quorum::NodeSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A token, as far as the page does not say it.
pub(super) struct Token {
    /// Its acquire, and its extensions in order.
    pub(super) rounds: Vec<Element>,
    /// What the page does not cover has become of it: it was detached, or became a reader's, or another client
    /// has taken it away. The page sees it as given up.
    pub(super) has_left: bool,
    /// The turns of tasks at it, in order.
    pub(super) turns: Vec<Element>,
}

/// What only one of the pages has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Losses and lock-delays.
    Lock,
    /// Detachments and adoptions, and which SETs are on their way.
    HandOver,
    /// The turns of tasks, and fences.
    Warm,
    /// Keys that stay.
    MinHold,
    /// Several lists, and fences.
    Joint,
    /// Readers beside writers.
    Readers,
    /// All resources of a world in one state, and fences.
    Several,
}

impl Kind {
    pub(super) const fn has_fences(self) -> bool {
        matches!(self, Self::Warm | Self::Joint | Self::Several)
    }
}

/// The page's state of one resource.
pub(super) struct Lock {
    pub(super) kind: Kind,
    pub(super) steps: Steps,
    pub(super) clocks: Clocks,
    pub(super) tokens: BTreeMap<String, Element>,
    pub(super) known: Vec<Token>,
    pub(super) lists: Vec<NodeSet>,
    /// Of each list.
    pub(super) quorums: Vec<Vec<Element>>,
}

/// A command that a master has executed, as far as a client waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// The SET of an acquire.
    Acquire,
    /// An extension in this round.
    Extend(Option<Element>),
    /// Anything else: a top-up, a release.
    Nothing,
}

/// For how long a token that was won counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rests {
    /// Its client relies on a round for so long, and any other client to which it hands the lock.
    pub(super) trust: i64,
    pub(super) by_any: i64,
    /// It keeps others out after a loss.
    pub(super) delayed: bool,
    /// And for so long from its start, if its work ends well.
    pub(super) stays: i64,
    /// It was won by a reader.
    pub(super) reads: bool,
}

/// What a master has once it has executed a command of this token.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) found: Option<&'a Found>,
    pub(super) fence: i64,
    pub(super) shared: Option<&'a Shared>,
    pub(super) acting: &'a str,
}

/// A key of the page: the token, and when its life ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) token: String,
    pub(super) ends: i64,
    /// The mark of work that has ended well is before it, which is no token to pages but one.
    pub(super) is_done: bool,
}

impl Lock {
    pub(super) fn new(page: Arc<Page>, clocks: Clocks, boot: i64, guard: i64) -> Self {
        let mut steps = Steps::new(page);
        let state = &mut steps.state;
        let masters = clocks.masters();
        let nodes: Vec<Element> = (0..masters).map(|_| state.add("Node")).collect();
        for node in &nodes {
            state.set("boot", &[*node], boot);
        }
        state.set("guard", &[], guard);
        let kind = match &*state.page().name {
            "handover" => Kind::HandOver,
            "joint" => Kind::Joint,
            "readers" => Kind::Readers,
            "several" => Kind::Several,
            "warm" => Kind::Warm,
            "min_hold" => Kind::MinHold,
            _ => Kind::Lock,
        };
        if kind == Kind::Several {
            KEYS.iter().for_each(|_| _ = state.add("Key"));
        }
        let (tokens, known) = (BTreeMap::new(), Vec::new());
        let lists = match kind {
            Kind::Joint => clocks.lists.clone(),
            _ => vec![NodeSet::first(masters)],
        };
        let quorums = add_quorums(&mut steps, kind, &lists);
        let mut lock = Self { kind, steps, clocks, tokens, known, lists, quorums };
        lock.sets_clocks(boot);
        lock
    }

    /// Lets time go by.
    pub(super) fn tick(&mut self, now: i64) -> Result<(), String> {
        match self.kind.has_fences() {
            true => self.tick_of_clocks(now),
            false => self.steps.tick(now),
        }
    }

    // Clients.

    pub(super) fn token(&mut self, name: &str) -> Option<Element> {
        let token = *self.tokens.get(name)?;
        self.steps.state.set_live("Token", token, true);
        if let Some(turn) = self.known[token as usize].turns.last() {
            self.steps.state.set_live("Turn", *turn, true);
        }
        Some(token)
    }

    /// Returns a token, if this state is of that page.
    pub(super) fn token_of(&mut self, kind: Kind, name: &str) -> Option<Element> {
        self.token(name).filter(|_| self.kind == kind)
    }

    /// Returns whether a key is there, and of this token.
    pub(super) fn is_under(&self, at: &[Element], token: Element) -> bool {
        let state = &self.steps.state;
        state.is("has", at) && state.value("key", at) == token
    }

    /// Returns a token of which the page covers all that becomes of it.
    pub(super) fn covered(&mut self, name: &str) -> Option<Element> {
        self.token(name).filter(|token| !self.known[*token as usize].has_left)
    }

    fn round(&mut self, token: Element, first: bool) -> Element {
        let round = self.steps.state.add("Round");
        self.steps.state.set("of", &[round], token);
        self.steps.state.set("first", &[round], i64::from(first));
        self.known[token as usize].rounds.push(round);
        round
    }

    /// A client begins an acquire: its keys live for `life` by a master's clock.
    pub(super) fn begins(
        &mut self,
        now: i64,
        name: &str,
        (life, block, reads): (Span, Option<Block>, bool),
        (lists, keys): (&[NodeSet], &[&str]),
    ) -> Result<(), String> {
        if reads && self.kind != Kind::Readers {
            return Ok(());
        }
        if self.tokens.contains_key(name) {
            return Ok(());
        }
        self.tick(now)?;
        self.put_aside();
        let token = self.steps.state.add("Token");
        self.tokens.insert(name.to_owned(), token);
        self.known.push(Token { rounds: Vec::new(), has_left: false, turns: Vec::new() });
        self.lives(token, life);
        let round = self.round(token, true);
        if reads {
            self.steps.state.set("born", &[token], 1);
            self.steps.state.set("reads", &[round], 1);
        }
        self.takes_block(token, round, block);
        self.uses(token, lists);
        self.wants(token, keys);
        self.begin(now, round)?;
        self.steps.judge_assumptions()
    }

    /// A client begins to extend what it holds. Returns the round.
    pub(super) fn extends(
        &mut self,
        now: i64,
        name: &str,
        (life, is_last, reads): (Span, bool, bool),
    ) -> Result<Option<Element>, String> {
        let Some(token) = self.covered(name) else {
            return Ok(None);
        };
        self.tick(now)?;
        self.put_aside();
        self.steps.state.set_live("Token", token, true);
        self.lives(token, life);
        self.steps.judge_assumptions()?;
        let round = self.round(token, false);
        if reads && self.kind == Kind::Readers {
            self.steps.state.set("reads", &[round], 1);
        }
        match is_last && self.kind == Kind::HandOver {
            true => self.leaving(now, token, round)?,
            false => self.begin(now, round)?,
        }
        Ok(Some(round))
    }

    fn begin(&mut self, now: i64, round: Element) -> Result<(), String> {
        let state = &self.steps.state;
        let changes = [state.to("begun", &[round], 1), state.to("start", &[round], now)];
        self.steps.step("begin", &[("r0", round)], &changes)
    }

    /// Notes the life of the keys that a command sets. The page has one for all of a token's: the shortest.
    /// What held with a longer one holds with it.
    fn lives(&mut self, token: Element, life: Span) {
        let life = life.at_least(SLOWEST);
        let known = self.steps.state.value("life", &[token]);
        if self.kind == Kind::MinHold {
            let renewed = self.steps.state.value("renewed", &[token]);
            let renewed = if renewed == 0 { life } else { renewed.min(life) };
            self.steps.state.set("renewed", &[token], renewed);
            if known != 0 {
                return;
            }
        }
        if known == 0 || life < known {
            self.steps.state.set("life", &[token], life);
            if self.kind == Kind::Lock {
                self.steps.state.set("closed", &[token], life);
            }
            // Until it is won, nothing says how long its client relies on it.
            let trust = self.steps.state.value("trust", &[token]);
            if trust == 0 || trust == known {
                self.steps.state.set("trust", &[token], life);
            }
        }
    }

    /// A client has won, until `deadline`.
    pub(super) fn wins(
        &mut self,
        now: i64,
        name: &str,
        deadline: i64,
        Rests { trust, by_any, delayed, stays, reads }: Rests,
    ) -> Result<(), String> {
        if reads && self.kind != Kind::Readers {
            return Ok(());
        }
        let Some(token) = self.token(name) else {
            return Err(format!("{name} was never begun, and is won"));
        };
        self.tick(now)?;
        match self.kind {
            Kind::Lock => {
                self.steps.state.set("trust", &[token], trust);
                self.steps.state.set("delayed", &[token], i64::from(delayed));
            }
            Kind::HandOver => self.steps.state.set("trust", &[token], by_any),
            Kind::Warm | Kind::Joint | Kind::Readers | Kind::Several => {
                self.steps.state.set("trust", &[token], trust);
            }
            Kind::MinHold => {
                self.steps.state.set("trust", &[token], trust);
                self.stays_for(token, stays);
            }
        }
        self.steps.judge_assumptions()?;
        let round = self.known[token as usize].rounds[0];
        self.rests("win", token, &[round], deadline)
    }

    /// A hold has been extended, until `deadline`.
    pub(super) fn extended(&mut self, now: i64, name: &str, deadline: i64) -> Result<(), String> {
        let Some(token) = self.covered(name) else {
            return Ok(());
        };
        self.tick(now)?;
        if self.steps.state.value("deadline", &[token]) == deadline {
            self.steps.stutters += 1;
            return Ok(());
        }
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        self.rests("win_extension", token, &rounds, deadline)
    }

    /// A hold goes on with another guard of its client. Nothing changes that the page speaks of.
    pub(super) fn goes_on(&mut self, now: i64, name: &str, deadline: i64) -> Result<(), String> {
        let Some(token) = self.covered(name) else {
            return Ok(());
        };
        self.tick(now)?;
        self.steps.stutters += 1;
        match self.steps.state.value("deadline", &[token]) {
            known if known == deadline => Ok(()),
            known => Err(format!("{name} goes to another guard until {deadline}, not {known}")),
        }
    }

    /// A client finds its lock lost.
    pub(super) fn loses(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.covered(name) else {
            return Ok(());
        };
        if self.kind != Kind::Lock {
            self.steps.stutters += 1;
            return Ok(());
        }
        self.tick(now)?;
        let to = self.steps.state.to("lost", &[token], 1);
        self.steps.step("loses", &[("t0", token)], &[to])
    }

    /// A client gives a token up: it sends a release.
    pub(super) fn gives_up(&mut self, now: i64, name: &str, end: End) -> Result<(), String> {
        match self.token(name) {
            Some(token) if self.kind == Kind::MinHold => self.ends(now, token, end),
            Some(token) if !self.steps.state.is("over", &[token]) => {
                self.tick(now)?;
                let to = self.steps.state.to("over", &[token], 1);
                self.steps.step("give_up", &[("t0", token)], &[to])
            }
            _ => Ok(()),
        }
    }

    /// What the page does not cover becomes of a token. Returns whether the page can see it as given up.
    pub(super) fn leaves(&mut self, now: i64, name: &str, end: End) -> Result<bool, String> {
        let Some(token) = self.token(name) else { return Ok(true) };
        let is_lost = self.kind == Kind::Lock && self.steps.state.is("lost", &[token]);
        if is_lost && self.steps.state.is("delayed", &[token]) {
            return Ok(false);
        }
        self.gives_up(now, name, end)?;
        self.known[token as usize].has_left = true;
        Ok(true)
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.tokens.contains_key(name)
    }

    /// Returns whether a token was won, or is one whose acquire this page has not seen to its end.
    pub(super) fn is_held(&self, name: &str) -> bool {
        let token = self.tokens.get(name);
        token.is_some_and(|token| {
            self.steps.state.is("held", &[*token]) || self.known[*token as usize].has_left
        })
    }

    // Masters.

    /// A master has come back empty.
    pub(super) fn restarts(&mut self, now: i64, node: Element) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.steps.state;
        let places = Self::places(self.kind, node);
        let mut changes: Vec<_> = places.iter().map(|at| state.to("has", at, 0)).collect();
        changes.push(state.to("boot", &[node], now));
        if self.kind == Kind::HandOver {
            let late = self.tokens.values().filter(|token| state.is("late", &[**token, node]));
            changes.extend(late.map(|token| state.to("late", &[*token, node], 0)));
        }
        if self.kind.has_fences() {
            changes.extend(self.has_no_fence(node));
        }
        if self.kind == Kind::Readers {
            changes.extend(self.has_no_readers(node));
        }
        self.steps.step("restart", &[("n0", node), ("d0", 0)], &changes)
    }

    /// A master has executed a command, and has `found` under the key since. `answers`: it has answered what
    /// counts.
    pub(super) fn executes(
        &mut self,
        now: i64,
        node: Element,
        (asked, answers): (Asked, bool),
        seen: &Seen<'_>,
    ) -> Result<(), String> {
        let Seen { found, fence, .. } = *seen;
        if self.kind == Kind::Readers {
            return self.executes_readers(now, node, (asked, answers), seen);
        }
        let has = self.steps.state.is("has", &[node]);
        let (key, ends) =
            (self.steps.state.value("key", &[node]), self.steps.state.value("ends", &[node]));
        if has && now >= ends {
            self.tick(now)?;
            let to = self.steps.state.to("has", &[node], 0);
            self.steps.step("expire", &[("n0", node)], &[to])?;
            return self.executes(now, node, (asked, answers), seen);
        }
        self.fence_lapses(now, &[node], fence)?;
        if self.kind == Kind::MinHold && self.shortens(now, node, found)? {
            return Ok(());
        }
        let after = match found.filter(|found| !found.is_done) {
            Some(found) => {
                let token = self.token(&found.token);
                Some((
                    token.ok_or_else(|| format!("{} is set, and was never begun", found.token))?,
                    found.ends,
                ))
            }
            None => None,
        };
        if self.kind.has_fences() && !self.is_granted_fenced(node, asked, after) {
            self.raises_fence(now, &[node], fence)?;
        }
        match after {
            None if !has => {
                self.steps.stutters += 1;
                Ok(())
            }
            None => {
                self.tick(now)?;
                self.is_deleted(node, key)
            }
            Some((token, until)) if has && token == key => {
                self.prolongs(now, node, (asked, answers), (token, ends, until))
            }
            Some((token, until)) => {
                self.tick(now)?;
                self.sets(now, node, asked, (token, until), fence)
            }
        }
    }

    /// The key at a master lives longer than it was to.
    pub(super) fn lives_longer(
        &mut self,
        now: i64,
        node: Element,
        found: &Found,
    ) -> Result<(), String> {
        let state = &self.steps.state;
        let key = state.is("has", &[node]).then(|| state.value("key", &[node]));
        if key.is_none() || key != self.token(&found.token) {
            return Ok(());
        }
        self.tick(now)?;
        let to = self.steps.state.to("ends", &[node], found.ends);
        self.steps.step("extend_uncounted", &[("n0", node), ("d0", found.ends)], &[to])
    }

    pub(super) fn prolongs(
        &mut self,
        now: i64,
        node: Element,
        (asked, answers): (Asked, bool),
        (token, ends, until): (Element, i64, i64),
    ) -> Result<(), String> {
        let round = match asked {
            Asked::Extend(round) if answers => round,
            _ => None,
        };
        let round = round.filter(|round| self.steps.state.value("of", &[*round]) == token);
        if round.is_none() && ends == until {
            self.steps.stutters += 1;
            return Ok(());
        }
        self.tick(now)?;
        let to_ends = self.steps.state.to("ends", &[node], until);
        if let Some(round) = round {
            self.steps.state.set_live("Round", round, true);
            let parameters = [("r0", round), ("n0", node), ("d0", until)];
            let changes = [to_ends.clone(), self.steps.state.to("ack", &[round, node], 1)];
            let extend = if self.kind == Kind::Readers { "extend_write" } else { "extend" };
            if self.steps.takes(extend, &parameters, &changes)?.is_none() {
                return Ok(());
            }
        }
        self.steps.step("extend_uncounted", &[("n0", node), ("d0", until)], &[to_ends])
    }

    pub(super) fn sets(
        &mut self,
        now: i64,
        node: Element,
        asked: Asked,
        (token, until): (Element, i64),
        fence: i64,
    ) -> Result<(), String> {
        let round = self.known[token as usize].rounds[0];
        self.steps.state.set_live("Round", round, true);
        // Some pages speak of the round, some of the token.
        let parameters = [("r0", round), ("t0", token), ("n0", node), ("d0", until)];
        let state = &self.steps.state;
        let mut changes = vec![
            state.to("has", &[node], 1),
            state.to("key", &[node], token),
            state.to("ends", &[node], until),
        ];
        if self.kind == Kind::MinHold {
            changes.push(state.to("done", &[node], 0));
        }
        if asked == Asked::Acquire {
            let uncounted = changes.clone();
            changes.push(self.steps.state.to("ack", &[round, node], 1));
            self.sets_fence(&[node], token, fence, &mut changes);
            let grant = if self.kind == Kind::Readers { "write" } else { "grant" };
            if self.steps.takes(grant, &parameters, &changes)?.is_none() {
                return Ok(());
            }
            changes = uncounted;
            self.raises_fence(now, &[node], fence)?;
        }
        let set = if self.kind == Kind::Readers { "write_uncounted" } else { "set_uncounted" };
        self.steps.step(set, &parameters, &changes)
    }

    /// Puts aside what nothing is said of any more: rounds that keep no others out, and tokens without such a
    /// round whose key is nowhere. They come back with the next command that names them.
    fn put_aside(&mut self) {
        let now = self.steps.state.value("now", &[]);
        let has_values = self.has_values();
        for token in self.steps.state.live("Token").to_vec() {
            let at = &[token][..];
            // What follows a value is compared with it.
            if has_values && self.steps.state.is("won", at) {
                continue;
            }
            let is_over = self.steps.state.is("over", at);
            let span = if self.kind == Kind::Lock { "closed" } else { "trust" };
            let closed = self.steps.state.value(span, at);
            let rests_on =
                self.steps.state.is("held", at).then(|| self.steps.state.value("won_in", at));
            let mut is_idle = true;
            for round in self.known[token as usize].rounds.clone() {
                let start = self.steps.state.value("start", &[round]);
                let shut = !is_over && now < start + closed || self.stays_closed(token, start);
                is_idle &= !shut;
                if !shut && Some(round) != rests_on {
                    self.steps.state.set_live("Round", round, false);
                }
            }
            self.put_turns_aside(token);
            let mut nodes = self.steps.state.live("Node").iter();
            let is_there = nodes.any(|node| self.is_under_any(*node, token))
                || self.is_reader_somewhere(token);
            if is_idle && !is_there && !self.has_greatest(token) {
                self.steps.state.set_live("Token", token, false);
                self.known[token as usize].turns.iter().for_each(|turn| {
                    self.steps.state.set_live("Turn", *turn, false);
                });
                if let Some(round) = rests_on {
                    self.steps.state.set_live("Round", round, false);
                }
            }
        }
    }

    pub(super) fn shown(&self) -> String {
        let names = self.tokens.iter().map(|(name, token)| format!("token {token} is {name}\n"));
        names.collect::<String>() + &self.steps.shown()
    }
}
