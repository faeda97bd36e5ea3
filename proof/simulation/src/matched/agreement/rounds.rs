//! The rounds of clients at odds: what a client knew as each began, which masters it rests on, and who grants it.

use super::super::exact::Span;
use super::super::{Connection, counts, drift, life, resources};
use super::Agreement;
use crate::clock::Clock;
use crate::commands::{Deed, Words, token};
use evaluator::{Change, Element};
use quorumlock_core::quorum::{Instant, NodeSet};
use std::time::Duration;

/// What a client knows when a round begins.
pub(in super::super) struct Known {
    /// Of each of its masters, when the question was asked on which a round may rest, and whether the master
    /// keeps others away.
    pub(in super::super) masters: Vec<(usize, Option<Instant>, bool)>,
    /// The lists of each client of which masters have reported: how many masters, and which of them are its
    /// own, too.
    pub(in super::super) others: Vec<Vec<(usize, NodeSet)>>,
}

/// A command that is queued as a vote.
pub(in super::super) struct Vote<'a> {
    pub(in super::super) line: Connection,
    pub(in super::super) words: &'a Words,
    /// The vote counts, if it is one.
    pub(in super::super) counts: Option<bool>,
    pub(in super::super) clock: Clock,
    pub(in super::super) turn: usize,
}

/// A round of a token, and the client that has begun it in one of its turns.
#[derive(Clone, Copy)]
pub(super) struct Round {
    element: Element,
    client: usize,
    turn: usize,
    is_won: bool,
}

impl Agreement {
    /// A client queues a command about a resource.
    pub(in super::super) fn asks(
        &mut self,
        now: i64,
        vote: &Vote<'_>,
        known: impl Fn(Duration) -> Known,
    ) -> Result<(), String> {
        let Vote { line, words, counts, clock, turn } = *vote;
        let (client, node, _) = line;
        if resources(words).is_empty() {
            return Ok(());
        }
        let (deed, token) = (Deed::of(words), token(words));
        if matches!(deed, Deed::Release | Deed::Shorten) {
            return self.gives_up(now, &token);
        }
        if !matches!(deed, Deed::Acquire | Deed::Extend) || counts != Some(true) {
            return Ok(());
        }
        self.tick(now)?;
        let life = Duration::from_nanos(life(words).0);
        let known = known(life);
        let rounds = self.rounds.get(&token).into_iter().flatten();
        let mut own = rounds.filter(|round| round.client == client);
        let begun = own.find(|round| deed == Deed::Acquire || round.turn == turn).copied();
        let round = match begun {
            Some(Round { element, .. }) => element,
            None => {
                let trust = Span::of(life.saturating_sub(drift(life))).at_most(clock.ppm);
                let element = self.begins(client, trust, &known)?;
                let round = Round { element, client, turn, is_won: false };
                self.rounds.entry(token.clone()).or_default().push(round);
                element
            }
        };
        self.votes.entry(line).or_default().push((token, round));
        let at = [round, node as Element];
        if self.steps.state.is("wave", &at) {
            return Ok(());
        }
        // A question that has its answer, or the last one ahead on the connection.
        let of = |(of, asked, _): &(usize, Option<Instant>, bool)| asked.filter(|_| *of == node);
        let noted = known.masters.iter().find_map(of);
        let question = match noted {
            Some(asked) => self.question(client, node, asked),
            None => self.questions.get(&(client, node)).and_then(|all| Some(all.last()?.1)),
        };
        let question = question.ok_or_else(|| format!("n{} was never asked", node + 1))?;
        self.steps.state.set_live("Ask", question, true);
        self.steps.state.set_live("Round", round, true);
        let state = &self.steps.state;
        let changes = [
            state.to("wave", &at, 1),
            state.to("wave_by", &at, question),
            state.to("wave_at", &at, state.value("now", &[])),
        ];
        self.steps.step("send", &[("r0", round), ("n0", at[1]), ("a0", question)], &changes)
    }

    /// Returns the question that a client has asked a master then: of several, one that was answered.
    fn question(&self, client: usize, node: usize, asked: Instant) -> Option<Element> {
        let all = self.questions.get(&(client, node))?.iter();
        let state = &self.steps.state;
        let counts = |ask: Element| (state.is("agreed", &[ask]), state.value("note_life", &[ask]));
        let then = all.filter(|(at, _)| *at == asked).map(|(_, ask)| *ask);
        then.max_by_key(|ask| counts(*ask))
    }

    fn begins(&mut self, client: usize, trust: i64, known: &Known) -> Result<Element, String> {
        self.put_rounds_aside();
        let kinds = self.steps.state.live("Kind").to_vec();
        let kind = self.steps.state.value("settings", &[self.clients[client]]);
        let own: NodeSet = known.masters.iter().map(|(node, ..)| *node).collect();
        let state = &mut self.steps.state;
        let round = state.add("Round");
        state.set("by", &[round], self.clients[client]);
        state.set("trust", &[round], trust);
        let mut changes = vec![
            state.to("begun", &[round], 1),
            state.to("start", &[round], state.value("now", &[])),
        ];
        let mut knows_any = false;
        for other in kinds {
            let lists = self.lists[other as usize].iter();
            let lists: Vec<_> = lists.map(|list| (list.len(), list.intersection(own))).collect();
            let state = &mut self.steps.state;
            let is_same = |their: &Vec<(usize, NodeSet)>| {
                let within = |one: &[_], all: &[_]| one.iter().all(|list| all.contains(list));
                within(their, &lists) && within(&lists, their)
            };
            let knows = state.is("odds", &[kind, other]) && known.others.iter().any(is_same);
            knows_any |= knows;
            state.set("new_knows", &[other], i64::from(knows));
            changes.push(state.to("knows", &[round, other], i64::from(knows)));
        }
        for (node, asked, shields) in &known.masters {
            let Some(asked) = asked else { continue };
            let ask = self.question(client, *node, *asked);
            let ask = ask.ok_or_else(|| format!("n{} was asked at no {asked:?}", node + 1))?;
            self.steps.state.set_live("Ask", ask, true);
            changes.extend(self.rests_on(round, *node as Element, ("heard", "new_hears"), ask));
            if *shields && knows_any {
                changes.extend(self.rests_on(
                    round,
                    *node as Element,
                    ("shield", "new_shield"),
                    ask,
                ));
            }
        }
        self.steps.judge_assumptions()?;
        let begun = self.steps.step("begin", &[("r0", round)], &changes);
        for node in self.steps.state.live("Node").to_vec() {
            for name in ["new_hears", "new_shield", "new_heard_by", "new_shield_by"] {
                self.steps.state.set(name, &[node], 0);
            }
        }
        begun.map(|()| round)
    }

    fn rests_on(
        &mut self,
        round: Element,
        node: Element,
        (name, new): (&str, &str),
        ask: Element,
    ) -> [Change; 2] {
        let (by, new_by) = (format!("{name}_by"), format!("new_{name}_by"));
        let state = &mut self.steps.state;
        state.set(new, &[node], 1);
        state.set(&new_by, &[node], ask);
        [state.to(name, &[round, node], 1), state.to(&by, &[round, node], ask)]
    }

    /// A client gives a token up: it sends a release.
    fn gives_up(&mut self, now: i64, token: &str) -> Result<(), String> {
        let rounds = self.rounds.get(token).cloned().unwrap_or_default();
        self.are_over(now, &rounds)
    }

    /// A client begins nothing more. No release is owed of what was refused everywhere.
    pub(super) fn gives_up_what_it_has_not_won(
        &mut self,
        now: i64,
        client: usize,
    ) -> Result<(), String> {
        let tokens = self.rounds.values();
        let refused = tokens.filter(|rounds| !rounds.iter().any(|round| round.is_won));
        let refused = refused.flatten().filter(|round| round.client == client);
        let refused: Vec<Round> = refused.copied().collect();
        self.are_over(now, &refused)
    }

    fn are_over(&mut self, now: i64, rounds: &[Round]) -> Result<(), String> {
        for Round { element, .. } in rounds.iter().copied() {
            if !self.steps.state.is("over", &[element]) {
                self.tick(now)?;
                let to = self.steps.state.to("over", &[element], 1);
                self.steps.step("give_up", &[("r0", element)], &[to])?;
            }
        }
        Ok(())
    }

    /// A master has executed a command about a resource.
    pub(super) fn grants(
        &mut self,
        now: i64,
        line: Connection,
        words: &Words,
        answer: &[u8],
    ) -> Result<(), String> {
        let Some(votes) = self.votes.get_mut(&line) else { return Ok(()) };
        if !matches!(Deed::of(words), Deed::Acquire | Deed::Extend) {
            return Ok(());
        }
        let token = token(words);
        let Some(at) = votes.iter().position(|(other, _)| *other == token) else { return Ok(()) };
        let (_, round) = votes.remove(at);
        if !counts(answer) {
            return Ok(());
        }
        self.tick(now)?;
        let node = line.1 as Element;
        self.steps.state.set_live("Round", round, true);
        let question = self.steps.state.value("wave_by", &[round, node]);
        self.steps.state.set_live("Ask", question, true);
        let state = &self.steps.state;
        let changes = [
            state.to("ack", &[round, node], 1),
            state.to("ran_at", &[round, node], state.value("now", &[])),
        ];
        // What does not fit does not count.
        let misfit = self.steps.takes("grant", &[("r0", round), ("n0", node)], &changes)?;
        self.steps.stutters += u64::from(misfit.is_some());
        Ok(())
    }

    /// A caller hears that a client has a token until `deadline`.
    pub(super) fn wins(
        &mut self,
        now: i64,
        client: usize,
        token: &str,
        deadline: i64,
    ) -> Result<(), String> {
        let Some(rounds) = self.rounds.get(token).cloned() else { return Ok(()) };
        self.tick(now)?;
        let kind = self.steps.state.value("settings", &[self.clients[client]]);
        let mut nearest = (0, format!("{token} was won in no round of its client"));
        for Round { element, .. } in rounds.iter().rev().filter(|round| round.client == client) {
            for quorum in self.quorums[kind as usize].clone() {
                let parameters = [("r0", *element), ("q0", quorum), ("d0", deadline)];
                match self.steps.takes("win", &parameters, &[])? {
                    None => {
                        let all = self.rounds.get_mut(token).into_iter().flatten();
                        all.for_each(|round| round.is_won |= round.element == *element);
                        return Ok(());
                    }
                    Some(misfit) if misfit.0 >= nearest.0 => nearest = misfit,
                    Some(_) => {}
                }
            }
        }
        Err(nearest.1)
    }

    /// Puts aside the rounds that exclude no one any more.
    fn put_rounds_aside(&mut self) {
        let state = &mut self.steps.state;
        let now = state.value("now", &[]);
        for round in state.live("Round").to_vec() {
            let ends = state.value("start", &[round]) + state.value("trust", &[round]);
            if state.is("over", &[round]) || ends <= now {
                state.set_live("Round", round, false);
            }
        }
    }
}
