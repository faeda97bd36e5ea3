//! The agreement as a model to explore.

use super::config::{Client, Config};
use super::decisions::Decisions;
use super::names::Renaming;
use super::properties;
use super::state::{Actor, Round, State, bit};
use crate::checker::Model;

/// A possible next step.
///
/// A question (`Ask`) reaches a node; its answer is read at once, unless answers are late; with `Fail` it
/// is an error. A client is about to begin its first round (`Want`). Its command reaches a node, which
/// grants it (`Grant`); with a quorum the client wins. A node hears that a client that has shut down takes
/// its note back (`TakeBack`). Of a restart, `unseen` are the clients, as bits, that do not see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Tick,
    Ask { client: usize, node: usize },
    Read { client: usize, node: usize },
    Fail { client: usize, node: usize },
    Acquire { client: usize },
    Extend { client: usize },
    GiveUp { client: usize },
    Grant { client: usize, node: usize },
    TopUp { client: usize, node: usize },
    Want { client: usize },
    Quit { client: usize },
    TakeBack { client: usize, node: usize },
    Restart { node: usize, unseen: u8 },
}

#[derive(Debug)]
pub struct Agreement {
    pub config: Config,
    pub(super) decisions: Decisions,
    pub(super) actions: Vec<Action>,
    renamings: Vec<Renaming>,
}

impl Agreement {
    pub fn new(config: Config) -> Self {
        let decisions = Decisions::new(&config);
        let (actions, renamings) = (actions(&config), Renaming::all(&config));
        Self { config, decisions, actions, renamings }
    }

    pub(super) fn count(&self) -> usize {
        self.config.clients.len()
    }

    /// Returns the clients whose settings are not those of `client`.
    pub(super) fn others(&self, client: usize) -> impl Iterator<Item = usize> {
        let differs = move |other: &usize| {
            *other != client
                && !self.config.clients[client].agrees_with(&self.config.clients[*other])
        };
        (0..self.count()).filter(differs)
    }

    /// Returns the nodes of its lists.
    pub(super) fn members(&self, client: usize) -> impl Iterator<Item = usize> {
        let members = self.config.clients[client].members();
        (0..self.config.nodes).filter(move |node| members >> node & 1 == 1)
    }

    /// Removes what can make no difference any more.
    fn forget_what_is_void(&self, state: &mut State) {
        let hopes =
            |actor: &&Actor| actor.attempts > 0 || actor.round != Round::None || actor.left > 0;
        let hopeful = state.actors[..self.count()].iter().filter(hopes).count();
        if hopeful < 2 && self.config.property != properties::Property::ReadersStopNoClient {
            *state = State { over: true, ..State::default() };
            return;
        }
        for client in 0..self.count() {
            if self.sends_again(state, client) {
                continue;
            }
            for node in &mut state.nodes[..self.config.nodes] {
                let link = &mut node.links[client];
                let before = *link;
                link.close();
                (link.sent, link.granted) = (before.sent, before.granted);
                link.conditional = before.conditional;
                (link.reported, link.hidden) = Default::default();
            }
        }
    }

    /// Returns whether anything is still to be decided for it.
    pub(super) fn sends_again(&self, state: &State, client: usize) -> bool {
        let actor = &state.actors[client];
        let extends = actor.rounds > 0 && (actor.round != Round::None || actor.left > 0);
        let reads = self.config.property == properties::Property::ReadersStopNoClient;
        actor.attempts > 0 || extends || reads
    }
}

impl Model for Agreement {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let mut state = State { restarts: self.config.restarts, ..State::default() };
        for node in &mut state.nodes[..self.config.nodes] {
            node.up = self.decisions.longest_warming();
        }
        for (actor, client) in state.actors.iter_mut().zip(&self.config.clients) {
            (actor.attempts, actor.brief) = (client.attempts, client.brief);
        }
        state
    }

    fn successors(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        if state.over {
            return;
        }
        for action in &self.actions {
            if let Some(next) = self.step(state, *action) {
                emit(*action, next);
            }
        }
    }

    /// Nothing is not a step.
    fn step(&self, state: &State, action: Action) -> Option<State> {
        let mut next = *state;
        let done = match action {
            Action::Tick => self.tick(&mut next),
            Action::Ask { client, node } => self.ask(&mut next, client, node),
            Action::Read { client, node } => self.read(&mut next, client, node),
            Action::Fail { client, node } => self.fail(&mut next, client, node),
            Action::Acquire { client } => self.acquire(&mut next, client),
            Action::Extend { client } => self.extend(&mut next, client),
            Action::GiveUp { client } => self.give_up(&mut next, client),
            Action::Grant { client, node } => self.grant(&mut next, client, node),
            Action::TopUp { client, node } => self.top_up(&mut next, client, node),
            Action::Want { client } => self.want(&mut next, client),
            Action::Quit { client } => self.quit(&mut next, client),
            Action::TakeBack { client, node } => self.take_back(&mut next, client, node),
            Action::Restart { node, unseen } => self.restart(&mut next, node, unseen),
        };
        done?;
        self.forget_what_is_void(&mut next);
        (next != *state).then_some(next)
    }

    fn canonical(&self, state: State) -> State {
        let renamed = self.renamings.iter().map(|renaming| renaming.renamed(&state));
        renamed.min().unwrap_or(state)
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.nodes, self.count())
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        properties::violated(self, state)
    }
}

fn actions(config: &Config) -> Vec<Action> {
    let mut all = vec![Action::Tick];
    for client in 0..config.clients.len() {
        all.extend([Action::Acquire { client }, Action::Extend { client }]);
        all.push(Action::GiveUp { client });
        let Client { brief, quits, .. } = config.clients[client];
        all.extend(brief.then_some(Action::Want { client }));
        all.extend(quits.then_some(Action::Quit { client }));
        let members = config.clients[client].members();
        for node in (0..config.nodes).filter(|node| members >> node & 1 == 1) {
            all.extend([Action::Ask { client, node }, Action::Grant { client, node }]);
            all.push(Action::TopUp { client, node });
            all.extend(quits.then_some(Action::TakeBack { client, node }));
            if config.clients[client].late {
                all.push(Action::Read { client, node });
            }
            if config.errors {
                all.push(Action::Fail { client, node });
            }
        }
    }
    if config.restarts > 0 {
        let subsets = if config.cuts { 1 << config.clients.len() } else { 1 };
        for node in 0..config.nodes {
            all.extend((0..subsets).map(|unseen| Action::Restart { node, unseen }));
        }
    }
    debug_assert!(config.clients.len() <= 8 && bit(0) == 1);
    all
}
