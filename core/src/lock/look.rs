//! A look at several keys: when may each of them be free? It changes nothing and decides nothing.

use super::{Locks, RoundKind};
use crate::master::PendingReply;
use crate::quorum::NodeSet;
use crate::quorum::readiness::quorum_in;
use crate::report::{Answer, UnknownCause};
use crate::shared::{Cx, Event, RequestId, RoundId};
use crate::wire::{self, Reply};
use std::sync::Arc;
use std::time::Duration;

/// How long each of the keys lives on a node, as far as the node has answered. `None`: it does not
/// say, or the key never expires.
pub(crate) type Lives = Vec<Option<Duration>>;

impl Locks {
    /// Asks how long each of `keys` still lives: the first node of `channel` alone, or without one
    /// all nodes whose reports count, and then the result is the time until a quorum is free.
    pub(crate) fn look(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &[Arc<str>],
        channel: Option<&str>,
    ) {
        let nodes: NodeSet = match channel {
            Some(channel) => cx.masters.first_node(cx.now, channel).into_iter().collect(),
            None => NodeSet::places(&cx.masters.sessions, |session| session.is_reliable(cx.now)),
        };
        let lives = vec![Lives::new(); cx.masters.sessions.len()];
        let kind = RoundKind::Look { request, keys: keys.len(), lives, alone: channel.is_some() };
        let mut round = self.new_round(cx, kind, cx.masters.settings.operation_timeout);
        let id: RoundId = self.rounds.reserve();
        let questions: Vec<Vec<u8>> = keys.iter().map(|key| wire::pttl(key)).collect();
        let len = questions.iter().map(Vec::len).sum();
        for (node, session) in cx.masters.sessions.iter_mut().enumerate() {
            if nodes.contains(node) && session.admits(len).is_ok() && !keys.is_empty() {
                questions.iter().for_each(|pttl| session.push(PendingReply::Vote(id), pttl));
            } else {
                round.record(node, Answer::Outstanding, cx.now);
            }
        }
        self.open_round(cx, id, round);
        self.judge_look(cx, id);
    }

    /// Handles a node's answer about its next key.
    pub(crate) fn looked(&mut self, cx: &mut Cx, id: RoundId, node: usize, reply: &Reply) {
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
            round.record(node, answer, cx.now);
            self.judge_look(cx, id);
        }
    }

    /// Reports what was seen once all nodes are done.
    pub(crate) fn judge_look(&mut self, cx: &mut Cx, id: RoundId) {
        let Some(round) = self.take_complete(cx, id) else { return };
        let RoundKind::Look { request, keys, lives, alone } = round.kind else { return };
        let membership = cx.masters.settings.membership;
        let free_in = |key: usize| {
            let left = lives.iter().map(|lives| lives.get(key).copied().flatten());
            match alone {
                true => left.flatten().next(),
                false => quorum_in(membership, &left.collect::<Vec<_>>()),
            }
        };
        let free_in = (0..keys).map(free_in).collect();
        cx.events.push(Event::Looked { request, free_in });
    }
}
