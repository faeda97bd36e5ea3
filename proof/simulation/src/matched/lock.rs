//! One resource, as page `lock` of the proof sees it.
//!
//! What is under the key at a master is a key of the page if it is a token. A mark of readers, of work that
//! has ended well, or of a waiter that comes next, is none: a SET that finds one of these where it may
//! replace it finds the key vacant, and a key that becomes one is released.

use super::exact::{SLOWEST, Span};
use evaluator::{Change, Definition, Element, Page, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A token, as far as the page does not say it.
struct Token {
    /// Its acquire, and its extensions in order.
    rounds: Vec<Element>,
    /// What the page does not cover has become of it: it was detached, or became a reader's, or another client
    /// has taken it away. The page sees it as given up.
    has_left: bool,
}

/// What only one of the two pages has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Losses and lock-delays.
    Lock,
    /// Detachments and adoptions, and which SETs are on their way.
    HandOver,
}

/// The page's state of one resource.
pub(super) struct Lock {
    kind: Kind,
    state: State,
    tokens: BTreeMap<String, Element>,
    known: Vec<Token>,
    quorums: Vec<Element>,
    /// How often each action was matched.
    pub(super) matched: Vec<u64>,
    /// How often nothing changed that the page speaks of.
    pub(super) stutters: u64,
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

/// A key of the page: the token, and when its life ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) token: String,
    pub(super) ends: i64,
}

type Parameters<'a> = &'a [(&'a str, i64)];

impl Lock {
    pub(super) fn new(page: Arc<Page>, masters: usize, boot: i64, guard: i64) -> Self {
        let matched = vec![0; page.actions.len()];
        let mut state = State::new(page);
        let nodes: Vec<Element> = (0..masters).map(|_| state.add("Node")).collect();
        for node in &nodes {
            state.set("boot", &[*node], boot);
        }
        state.set("guard", &[], guard);
        // The smallest quorums: what a greater one has answered, one of these has.
        let most = masters / 2 + 1;
        let mut quorums = Vec::new();
        for members in 0..1_u32 << masters {
            if members.count_ones() as usize == most {
                let quorum = state.add("Quorum");
                quorums.push(quorum);
                for node in nodes.iter().filter(|node| members >> **node & 1 == 1) {
                    state.set("member", &[quorum, *node], 1);
                }
            }
        }
        let kind = if state.page().name == "handover" { Kind::HandOver } else { Kind::Lock };
        let (tokens, known) = (BTreeMap::new(), Vec::new());
        Self { kind, state, tokens, known, quorums, matched, stutters: 0 }
    }

    pub(super) fn page(&self) -> &Page {
        self.state.page()
    }

    // Steps.

    fn permits(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<usize, (usize, String)> {
        let page = self.state.page().clone();
        let place = page.action(name);
        let place = place.ok_or_else(|| (0, format!("page {} has no action {name}", page.name)))?;
        self.state.permits(&page.actions[place], parameters, changes).map_err(|(held, part)| {
            let words = &page.actions[place].words;
            let name = format!("page {}, action {name} ({words})", page.name);
            (held, format!("{name}: not {part}, of {parameters:?}"))
        })?;
        Ok(place)
    }

    /// Takes a step, if it is one of this action, and judges the state after it.
    fn step(
        &mut self,
        name: &str,
        parameters: Parameters,
        changes: &[Change],
    ) -> Result<(), String> {
        let place = self.permits(name, parameters, changes).map_err(|(_, wrong)| wrong)?;
        self.matched[place] += 1;
        let page = self.state.page().clone();
        for goal in page.goals.iter().filter(|goal| goal.is_of_step) {
            let result = self.state.holds_after(goal, place, parameters, changes);
            result.map_err(|part| broken(&page, "goal", goal, &part))?;
        }
        self.state.change(changes);
        for conjunct in &page.conjuncts {
            self.holds("conjunct", conjunct)?;
        }
        for goal in page.goals.iter().filter(|goal| !goal.is_of_step) {
            self.holds("goal", goal)?;
        }
        Ok(())
    }

    fn holds(&mut self, kind: &str, definition: &Definition) -> Result<(), String> {
        let result = self.state.holds(definition);
        result.map_err(|part| broken(self.page(), kind, definition, &part))
    }

    pub(super) fn judge_assumptions(&mut self) -> Result<(), String> {
        let page = self.state.page().clone();
        let mut assumptions = page.assumptions.iter();
        assumptions.try_for_each(|assumption| self.holds("assumption", assumption))
    }

    /// Lets time go by.
    pub(super) fn tick(&mut self, now: i64) -> Result<(), String> {
        if self.state.value("now", &[]) == now {
            return Ok(());
        }
        let to = self.state.to("now", &[], now);
        self.step("tick", &[("d0", now)], &[to])
    }

    // Clients.

    fn token(&mut self, name: &str) -> Option<Element> {
        let token = *self.tokens.get(name)?;
        self.state.set_live("Token", token, true);
        Some(token)
    }

    fn round(&mut self, token: Element, first: bool) -> Element {
        let round = self.state.add("Round");
        self.state.set("of", &[round], token);
        self.state.set("first", &[round], i64::from(first));
        self.known[token as usize].rounds.push(round);
        round
    }

    /// A client begins an acquire: its keys live for `life` by a master's clock.
    pub(super) fn begins(&mut self, now: i64, name: &str, life: Span) -> Result<(), String> {
        if self.tokens.contains_key(name) {
            return Ok(());
        }
        self.tick(now)?;
        self.put_aside();
        let token = self.state.add("Token");
        self.tokens.insert(name.to_owned(), token);
        self.known.push(Token { rounds: Vec::new(), has_left: false });
        self.lives(token, life);
        let round = self.round(token, true);
        self.begin(now, round)?;
        self.judge_assumptions()
    }

    /// A client begins to extend what it holds. Returns the round.
    pub(super) fn extends(
        &mut self,
        now: i64,
        name: &str,
        (life, is_last): (Span, bool),
    ) -> Result<Option<Element>, String> {
        let Some(token) = self.token(name).filter(|token| !self.known[*token as usize].has_left)
        else {
            return Ok(None);
        };
        self.tick(now)?;
        self.put_aside();
        self.state.set_live("Token", token, true);
        self.lives(token, life);
        self.judge_assumptions()?;
        let round = self.round(token, false);
        match is_last && self.kind == Kind::HandOver {
            true => self.leaving(now, token, round)?,
            false => self.begin(now, round)?,
        }
        Ok(Some(round))
    }

    fn begin(&mut self, now: i64, round: Element) -> Result<(), String> {
        let state = &self.state;
        let changes = [state.to("begun", &[round], 1), state.to("start", &[round], now)];
        self.step("begin", &[("r0", round)], &changes)
    }

    /// Notes the life of the keys that a command sets. The page has one for all of a token's: the shortest.
    /// What held with a longer one holds with it.
    fn lives(&mut self, token: Element, life: Span) {
        let life = life.at_least(SLOWEST);
        let known = self.state.value("life", &[token]);
        if known == 0 || life < known {
            self.state.set("life", &[token], life);
            if self.kind == Kind::Lock {
                self.state.set("closed", &[token], life);
            }
            // Until it is won, nothing says how long its client relies on it.
            let trust = self.state.value("trust", &[token]);
            if trust == 0 || trust == known {
                self.state.set("trust", &[token], life);
            }
        }
    }

    /// A client has won, until `deadline`. It relies on a round for `trust`, any client to which it hands the lock
    /// for the time `by_any` clock, and it keeps others out after a loss if the lock is `delayed`.
    pub(super) fn wins(
        &mut self,
        now: i64,
        name: &str,
        deadline: i64,
        (trust, by_any, delayed): (i64, i64, bool),
    ) -> Result<(), String> {
        let Some(token) = self.token(name) else {
            return Err(format!("{name} was never begun, and is won"));
        };
        self.tick(now)?;
        match self.kind {
            Kind::Lock => {
                self.state.set("trust", &[token], trust);
                self.state.set("delayed", &[token], i64::from(delayed));
            }
            Kind::HandOver => self.state.set("trust", &[token], by_any),
        }
        self.judge_assumptions()?;
        let round = self.known[token as usize].rounds[0];
        self.rests("win", token, &[round], deadline)
    }

    /// A hold has been extended, until `deadline`.
    pub(super) fn extended(&mut self, now: i64, name: &str, deadline: i64) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|token| !self.known[*token as usize].has_left)
        else {
            return Ok(());
        };
        self.tick(now)?;
        if self.state.value("deadline", &[token]) == deadline {
            self.stutters += 1;
            return Ok(());
        }
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        self.rests("win_extension", token, &rounds, deadline)
    }

    /// A hold goes on with another guard of its client. Nothing changes that the page speaks of.
    pub(super) fn goes_on(&mut self, now: i64, name: &str, deadline: i64) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|token| !self.known[*token as usize].has_left)
        else {
            return Ok(());
        };
        self.tick(now)?;
        self.stutters += 1;
        match self.state.value("deadline", &[token]) {
            known if known == deadline => Ok(()),
            known => Err(format!("{name} goes to another guard until {deadline}, not {known}")),
        }
    }

    /// Takes the step by which a deadline rests on the answers of a quorum to one of these rounds.
    fn rests(
        &mut self,
        action: &str,
        token: Element,
        rounds: &[Element],
        deadline: i64,
    ) -> Result<(), String> {
        // Of all that do not fit, the one of which most holds.
        let mut nearest = (0, format!("{action} without a round"));
        for round in rounds {
            self.state.set_live("Round", *round, true);
            for quorum in self.quorums.clone() {
                let parameters = [("r0", *round), ("q0", quorum), ("d0", deadline)];
                let state = &self.state;
                let mut changes = vec![
                    state.to("deadline", &[token], deadline),
                    state.to("won_in", &[token], *round),
                    state.to("won_by", &[token], quorum),
                ];
                match (action, self.kind) {
                    ("win", Kind::Lock) => changes.push(state.to("held", &[token], 1)),
                    ("win", Kind::HandOver) => {
                        changes.push(state.to("held", &[token], 1));
                        changes.push(state.to("won", &[token], 1));
                        changes.push(state.to("first_won_by", &[token], quorum));
                        changes.push(state.to("first_won_in", &[token], *round));
                        let others = self.tokens.values().filter(|other| **other != token);
                        let won = others.filter(|other| state.is("won", &[**other]));
                        changes.extend(won.map(|other| state.to("followed", &[token, *other], 1)));
                    }
                    ("detach", _) => {
                        changes.push(state.to("value", &[token], 1));
                        let nodes = state.live("Node").iter();
                        let named = nodes.map(|node| (*node, state.value("more", &[*node])));
                        changes
                            .extend(named.map(|(node, is)| state.to("named", &[token, node], is)));
                    }
                    ("adopt", _) => {
                        changes.push(state.to("value", &[token], 0));
                        changes.push(state.to("leaving", &[token], 0));
                        changes.push(state.to("held", &[token], 1));
                    }
                    _ => {}
                }
                match self.permits(action, &parameters, &changes) {
                    Ok(_) => return self.step(action, &parameters, &changes),
                    Err(wrong) if wrong.0 > nearest.0 => nearest = wrong,
                    Err(_) => {}
                }
            }
        }
        Err(nearest.1)
    }

    /// A client finds its lock lost.
    pub(super) fn loses(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|token| !self.known[*token as usize].has_left)
        else {
            return Ok(());
        };
        if self.kind == Kind::HandOver {
            self.stutters += 1;
            return Ok(());
        }
        self.tick(now)?;
        let to = self.state.to("lost", &[token], 1);
        self.step("loses", &[("t0", token)], &[to])
    }

    /// A client gives a token up: it sends a release.
    pub(super) fn gives_up(&mut self, now: i64, name: &str) -> Result<(), String> {
        match self.token(name) {
            Some(token) if !self.state.is("over", &[token]) => {
                self.tick(now)?;
                let to = self.state.to("over", &[token], 1);
                self.step("give_up", &[("t0", token)], &[to])
            }
            _ => Ok(()),
        }
    }

    /// What the page does not cover becomes of a token. Returns whether the page can see it as given up.
    pub(super) fn leaves(&mut self, now: i64, name: &str) -> Result<bool, String> {
        let Some(token) = self.token(name) else { return Ok(true) };
        let is_lost = self.kind == Kind::Lock && self.state.is("lost", &[token]);
        if is_lost && self.state.is("delayed", &[token]) {
            return Ok(false);
        }
        self.gives_up(now, name)?;
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
            self.state.is("held", &[*token]) || self.known[*token as usize].has_left
        })
    }

    // Hand-over.

    /// A client sends a SET to a master.
    pub(super) fn sends_set(&mut self, now: i64, name: &str, node: Element) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|_| self.kind == Kind::HandOver) else {
            return Ok(());
        };
        self.tick(now)?;
        let to = self.state.to("late", &[token, node], 1);
        self.step("send_set", &[("t0", token), ("n0", node)], &[to])
    }

    /// Nothing of a token is on its way to a master any more.
    pub(super) fn none_late(&mut self, now: i64, name: &str, node: Element) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|_| self.kind == Kind::HandOver) else {
            return Ok(());
        };
        if !self.state.is("late", &[token, node]) {
            return Ok(());
        }
        self.tick(now)?;
        let to = self.state.to("late", &[token, node], 0);
        self.step("none_late", &[("t0", token), ("n0", node)], &[to])
    }

    /// A client begins its last extension of a token.
    fn leaving(&mut self, now: i64, token: Element, round: Element) -> Result<(), String> {
        self.stays(token)?;
        let state = &self.state;
        let changes = [
            state.to("begun", &[round], 1),
            state.to("start", &[round], now),
            state.to("leaving", &[token], 1),
            state.to("left_at", &[token], now),
        ];
        self.step("leave", &[("r0", round)], &changes)
    }

    fn stays(&mut self, token: Element) -> Result<(), String> {
        if !self.state.is("leaving", &[token]) || self.state.is("value", &[token]) {
            return Ok(());
        }
        let to = self.state.to("leaving", &[token], 0);
        self.step("return", &[("t0", token)], &[to])
    }

    /// Too few masters have confirmed the last extension of a token.
    pub(super) fn returns(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.token(name).filter(|_| self.kind == Kind::HandOver) else {
            return Ok(());
        };
        self.tick(now)?;
        self.stays(token)
    }

    /// A token has become a value that names these masters.
    pub(super) fn detached(
        &mut self,
        now: i64,
        name: &str,
        named: &[Element],
    ) -> Result<bool, String> {
        if self.kind == Kind::Lock {
            return self.leaves(now, name);
        }
        let Some(token) = self.token(name).filter(|token| !self.known[*token as usize].has_left)
        else {
            return Ok(true);
        };
        self.tick(now)?;
        for node in self.state.live("Node").to_vec() {
            self.state.set("more", &[node], i64::from(named.contains(&node)));
        }
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        let deadline = self.state.value("deadline", &[token]);
        let began = self.state.value("left_at", &[token]);
        let deadline = deadline.min(began + self.state.value("trust", &[token]));
        self.rests("detach", token, &rounds, deadline)?;
        Ok(true)
    }

    /// Another client has adopted a value. Returns whether the page can see it: one that was taken away by force
    /// meanwhile has been given up there, and its new holder sets keys.
    pub(super) fn adopted(&mut self, now: i64, name: &str, deadline: i64) -> Result<bool, String> {
        let Some(token) = self.tokens.get(name).copied() else { return Ok(true) };
        if self.known[token as usize].has_left {
            return Ok(self.kind == Kind::Lock);
        }
        if self.kind == Kind::Lock {
            return Err(format!("{name} is adopted, and was never detached"));
        }
        self.state.set_live("Token", token, true);
        self.tick(now)?;
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        self.rests("adopt", token, &rounds, deadline).map(|()| true)
    }

    // Masters.

    /// A master has come back empty.
    pub(super) fn restarts(&mut self, now: i64, node: Element) -> Result<(), String> {
        self.tick(now)?;
        let state = &self.state;
        let mut changes = vec![state.to("has", &[node], 0), state.to("boot", &[node], now)];
        if self.kind == Kind::HandOver {
            let late = self.tokens.values().filter(|token| state.is("late", &[**token, node]));
            changes.extend(late.map(|token| state.to("late", &[*token, node], 0)));
        }
        self.step("restart", &[("n0", node)], &changes)
    }

    /// A master has executed a command, and has `found` under the key since. `answers`: it has answered what
    /// counts.
    pub(super) fn executes(
        &mut self,
        now: i64,
        node: Element,
        (asked, answers): (Asked, bool),
        found: Option<&Found>,
    ) -> Result<(), String> {
        let has = self.state.is("has", &[node]);
        let (key, ends) = (self.state.value("key", &[node]), self.state.value("ends", &[node]));
        if has && now >= ends {
            self.tick(now)?;
            let to = self.state.to("has", &[node], 0);
            self.step("expire", &[("n0", node)], &[to])?;
            return self.executes(now, node, (asked, answers), found);
        }
        let after = match found {
            Some(found) => {
                let token = self.token(&found.token);
                Some((
                    token.ok_or_else(|| format!("{} is set, and was never begun", found.token))?,
                    found.ends,
                ))
            }
            None => None,
        };
        match after {
            None if !has => {
                self.stutters += 1;
                Ok(())
            }
            None => {
                self.tick(now)?;
                let to = self.state.to("has", &[node], 0);
                self.step("release", &[("n0", node), ("t0", key)], &[to])
            }
            Some((token, until)) if has && token == key => {
                self.prolongs(now, node, (asked, answers), (token, ends, until))
            }
            Some((token, until)) => {
                self.tick(now)?;
                self.sets(node, asked, (token, until))
            }
        }
    }

    fn prolongs(
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
        let round = round.filter(|round| self.state.value("of", &[*round]) == token);
        if round.is_none() && ends == until {
            self.stutters += 1;
            return Ok(());
        }
        self.tick(now)?;
        let to_ends = self.state.to("ends", &[node], until);
        if let Some(round) = round {
            self.state.set_live("Round", round, true);
            let parameters = [("r0", round), ("n0", node), ("d0", until)];
            let changes = [to_ends.clone(), self.state.to("ack", &[round, node], 1)];
            if self.permits("extend", &parameters, &changes).is_ok() {
                return self.step("extend", &parameters, &changes);
            }
        }
        self.step("extend_uncounted", &[("n0", node), ("d0", until)], &[to_ends])
    }

    fn sets(
        &mut self,
        node: Element,
        asked: Asked,
        (token, until): (Element, i64),
    ) -> Result<(), String> {
        let round = self.known[token as usize].rounds[0];
        self.state.set_live("Round", round, true);
        let parameters = [("r0", round), ("n0", node), ("d0", until)];
        let state = &self.state;
        let mut changes = vec![
            state.to("has", &[node], 1),
            state.to("key", &[node], token),
            state.to("ends", &[node], until),
        ];
        if asked == Asked::Acquire {
            let uncounted = changes.clone();
            changes.push(self.state.to("ack", &[round, node], 1));
            if self.permits("grant", &parameters, &changes).is_ok() {
                return self.step("grant", &parameters, &changes);
            }
            changes = uncounted;
        }
        let parameters = match self.kind {
            Kind::Lock => parameters,
            Kind::HandOver => [("t0", token), ("n0", node), ("d0", until)],
        };
        self.step("set_uncounted", &parameters, &changes)
    }

    /// Puts aside what nothing is said of any more: rounds that keep no others out, and tokens without such a
    /// round whose key is nowhere. They come back with the next command that names them.
    fn put_aside(&mut self) {
        let now = self.state.value("now", &[]);
        let has_values = self.has_values();
        for token in self.state.live("Token").to_vec() {
            let at = &[token][..];
            // What follows a value is compared with it.
            if has_values && self.state.is("won", at) {
                continue;
            }
            let is_over = self.state.is("over", at);
            let span = if self.kind == Kind::Lock { "closed" } else { "trust" };
            let closed = self.state.value(span, at);
            let rests_on = self.state.is("held", at).then(|| self.state.value("won_in", at));
            let mut is_idle = true;
            for round in self.known[token as usize].rounds.clone() {
                let shut = !is_over && now < self.state.value("start", &[round]) + closed;
                is_idle &= !shut;
                if !shut && Some(round) != rests_on {
                    self.state.set_live("Round", round, false);
                }
            }
            let nodes = self.state.live("Node").iter();
            let mut keys = nodes.filter(|node| self.state.is("has", &[**node]));
            let is_there = keys.any(|node| self.state.value("key", &[*node]) == token);
            if is_idle && !is_there {
                self.state.set_live("Token", token, false);
                if let Some(round) = rests_on {
                    self.state.set_live("Round", round, false);
                }
            }
        }
    }

    fn has_values(&self) -> bool {
        let is_value = |token: &&Element| {
            self.state.is("value", &[**token]) && !self.state.is("over", &[**token])
        };
        self.kind == Kind::HandOver && self.state.live("Token").iter().any(|token| is_value(&token))
    }

    pub(super) fn shown(&self) -> String {
        let names = self.tokens.iter().map(|(name, token)| format!("token {token} is {name}\n"));
        names.collect::<String>() + &self.state.shown()
    }
}

fn broken(page: &Page, kind: &str, definition: &Definition, part: &str) -> String {
    let Definition { name, words, .. } = definition;
    format!("page {}, {kind} {name} ({words}): not {part}", page.name)
}
