//! Clients among masters that execute, and a network that delivers when it likes.

use super::super::super::{Event, Standing};
use super::Rng;
use super::client::{Client, Held};
use super::invariants::History;
use super::master::Master;
use super::setup::Setup;
use crate::quorum::{Instant, NodeSet};
use std::time::Duration;

pub(super) struct World {
    pub(super) setup: Setup,
    pub(super) clients: Vec<Client>,
    pub(super) masters: Vec<Master>,
    pub(super) history: History,
    pub(super) log: Vec<String>,
    /// What must not be, and was.
    pub(super) violation: Option<String>,
}

impl World {
    pub(super) fn new(setup: Setup, rng: &mut Rng) -> Self {
        let clients = setup.clients(rng);
        let masters = (0..setup.masters).map(|node| setup.master(node, rng)).collect();
        let (history, log) = (History::default(), vec![format!("{setup:?}")]);
        let mut world = Self { setup, clients, masters, history, log, violation: None };
        world.carry();
        world
    }

    pub(super) fn now(&self) -> Instant {
        self.clients[0].stage.now
    }

    /// Time passes: also for a client that is held up, but that one is told later.
    pub(super) fn pass(&mut self, span: Duration, held_up: Option<usize>) {
        for (place, client) in self.clients.iter_mut().enumerate() {
            match held_up {
                Some(one) if one == place => client.stage.now = client.stage.now.after(span),
                _ => client.stage.pass(span),
            }
        }
    }

    /// Takes what the machines have written to the masters, and notes what they have decided.
    pub(super) fn carry(&mut self) {
        for place in 0..self.clients.len() {
            let events = self.clients[place].carry(&mut self.masters);
            let told = self.clients[place].stage.unseen.drain(..);
            self.log.extend(told.map(|told| format!("{}: {told}", name(place))));
            for event in events {
                self.note(place, event);
            }
        }
    }

    fn note(&mut self, place: usize, event: Event) {
        let now = self.now();
        let client = &mut self.clients[place];
        match event {
            Event::Acquired { request, attempt, deadline, ballot } => {
                let token = client.stage.token(attempt);
                let asked = client.asked[&request.0].clone();
                let held = Held { asked, token, deadline, over: false };
                let told = self.history.won(now, &held, ballot);
                client.held.insert(request.0, held);
                self.violation = self.violation.take().or(told.err());
            }
            Event::Extended { attempt, result: Ok(deadline), .. } => {
                let won = client.won(attempt);
                if let Some(held) = won.and_then(|won| client.held.get_mut(&won)) {
                    assert!(deadline >= held.deadline, "a deadline moved back");
                    held.deadline = deadline;
                }
            }
            Event::Lost { attempt, .. } => {
                let won = client.won(attempt);
                if let Some(held) = won.and_then(|won| client.held.get_mut(&won)) {
                    // A guard that was given up in time is not lost by being heard late.
                    if !held.over {
                        self.history.lost(held);
                    }
                    held.over = true;
                }
            }
            Event::Inspected { request, nodes, membership } => {
                let Some(key) = client.inspected.remove(&request.0) else { return };
                let standing: Vec<Option<&Standing>> =
                    nodes.iter().map(|(_, seen)| seen.as_ref().ok()?.as_ref()).collect();
                let holder = standing.iter().flatten().find(|one| {
                    let same =
                        |other: &Option<&Standing>| other.is_some_and(|two| two.value == one.value);
                    let on = standing.iter().enumerate().filter(|(_, other)| same(other));
                    membership.is_quorum(on.map(|(node, _)| node).collect::<NodeSet>())
                });
                client.seen = holder.map(|one| (key, one.value.to_string()));
            }
            _ => {}
        }
    }

    // What must be true.

    pub(super) fn check(&mut self) {
        let told = self.judge();
        self.violation = self.violation.take().or(told.err());
    }

    /// A lock that is held has one holder until its deadline, and stands on a quorum: of masters
    /// that have it, or that have lost it and may not vote.
    fn judge(&self) -> Result<(), String> {
        let now = self.now();
        let held = self.clients.iter().enumerate().flat_map(|(place, client)| {
            client.held.values().map(move |held| (place, client.membership, held))
        });
        let valid: Vec<_> = held
            .filter(|(_, _, held)| held.is_valid(now) && !self.history.was_forced(&held.token))
            .collect();
        for (index, (_, _, held)) in valid.iter().enumerate() {
            let common =
                |other: &Held| other.asked.keys.iter().any(|key| held.asked.keys.contains(key));
            if let Some((_, _, other)) =
                valid[index + 1..].iter().find(|(_, _, other)| common(other))
            {
                let (token, keys) = (&held.token, &held.asked.keys);
                return Err(format!("{token} and {} both hold one of {keys:?}", other.token));
            }
        }
        for (place, membership, held) in valid {
            let counts = |node: &usize| self.keeps_others_out(now, *node, held);
            let on: NodeSet = (0..self.masters.len()).filter(counts).collect();
            if !membership.is_quorum(on) {
                let (token, client) = (&held.token, name(place));
                return Err(format!(
                    "{token} of {client} does not stand on a quorum, but on {on:?}"
                ));
            }
        }
        Ok(())
    }

    fn keeps_others_out(&self, now: Instant, node: usize, held: &Held) -> bool {
        let master = &self.masters[node];
        let may_not_vote = master.forgot_at.is_some_and(|at| now < at.after(self.setup.quarantine));
        let stands = |key: &String| master.get(now, key) == Some(held.token.as_str());
        may_not_vote || held.asked.keys.iter().all(stands)
    }
}

pub(super) fn name(place: usize) -> char {
    (b'A' + place as u8) as char
}
