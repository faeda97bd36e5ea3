//! A look at several keys: when may each of them be free? It changes nothing and decides nothing.

use super::round::RoundKind;
use super::session::PendingReply;
use super::timers::Timer;
use super::wire::{self, Reply};
use super::{Coordinator, Event, RequestId, RoundId};
use crate::quorum::{Instant, NodeSet, backoff};
use crate::report::{Answer, UnknownCause};
use std::sync::Arc;
use std::time::Duration;

/// How long each of the keys lives on a node, as far as the node has answered. `None`: it does not
/// say, or the key never expires.
pub(super) type Lives = Vec<Option<Duration>>;

impl Coordinator {
    /// Asks how long each of `keys` still lives: the first node of `channel` alone, or without one
    /// all nodes whose reports count, and then the result is the time until a quorum is free.
    pub fn handle_look(
        &mut self,
        now: Instant,
        request: RequestId,
        keys: &[Arc<str>],
        channel: Option<&str>,
    ) {
        let nodes: NodeSet = match channel {
            Some(channel) => self.first_node(now, channel).into_iter().collect(),
            None => {
                let nodes = self.sessions.iter().enumerate();
                nodes
                    .filter_map(|(node, session)| session.is_reliable(now).then_some(node))
                    .collect()
            }
        };
        let lives = vec![Lives::new(); self.sessions.len()];
        let kind = RoundKind::Look { request, keys: keys.len(), lives, alone: channel.is_some() };
        let mut round = self.new_round(kind, now, self.settings.operation_timeout);
        let id: RoundId = self.rounds.reserve();
        let questions: Vec<Vec<u8>> = keys.iter().map(|key| wire::pttl(key)).collect();
        let len = questions.iter().map(Vec::len).sum();
        for (node, session) in self.sessions.iter_mut().enumerate() {
            if nodes.contains(node) && session.admits(len).is_ok() && !keys.is_empty() {
                questions.iter().for_each(|one| session.push(PendingReply::Vote(id), one));
            } else {
                round.record(node, Answer::Outstanding, now);
            }
        }
        self.timers.set(round.timeout_at, Timer::Round(id));
        self.rounds.insert(id, round);
        self.judge_look(id);
    }

    /// Handles a node's answer about its next key.
    pub(super) fn looked(&mut self, now: Instant, id: RoundId, node: usize, reply: &Reply) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::Look { keys, lives, .. } = &mut round.kind else { return };
        let Some(lives) = lives.get_mut(node) else { return };
        lives.push(match reply {
            // -2: there is no key.
            Reply::Int(-2) => Some(Duration::ZERO),
            // 0: it lives for less than a millisecond.
            Reply::Int(millis) => {
                u64::try_from(*millis).ok().map(|left| Duration::from_millis(left.max(1)))
            }
            _ => None,
        });
        if lives.len() == *keys {
            let answer = match reply {
                Reply::Int(_) => Answer::Taken,
                other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
            };
            round.record(node, answer, now);
            self.judge_look(id);
        }
    }

    /// Reports what was seen once all nodes are done.
    pub(super) fn judge_look(&mut self, id: RoundId) {
        if !self.rounds.get(id).is_some_and(|round| round.is_complete()) {
            return;
        }
        let Some(round) = self.take_round(id) else { return };
        let RoundKind::Look { request, keys, lives, alone } = round.kind else { return };
        let membership = self.settings.membership;
        let free_in = |key: usize| {
            let told = lives.iter().enumerate();
            let told = told.filter_map(|(node, lives)| Some((node, (*lives.get(key)?)?)));
            let mut told: Vec<(usize, Duration)> = told.collect();
            match alone {
                true => told.first().map(|(_, left)| *left),
                false => backoff::earliest_quorum(membership, &mut told),
            }
        };
        let free_in = (0..keys).map(free_in).collect();
        self.events.push(Event::Looked { request, free_in });
    }
}
