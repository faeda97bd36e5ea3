//! What is under the keys that have refused an acquire, for its error. It changes nothing and decides
//! nothing.

use super::remaining::{Holders, Reported};
use super::{Locks, RoundKind};
use crate::master::PendingReply;
use crate::obstacle::Obstacle;
use crate::quorum::NodeSet;
use crate::report::Answer;
use crate::shared::{Cx, Event, Keys, RequestId, RoundId};
use crate::wire::{self, Reply};

/// What the nodes have said of each key, in the order in which they were asked.
pub(crate) struct Question {
    request: RequestId,
    keys: Vec<Holders>,
    /// The number of keys that each node has answered for.
    answered: Vec<usize>,
}

impl Locks {
    /// Asks all nodes whose reports count what is under each of `keys`. Those that answer first are
    /// enough if they are a quorum: a node that does not answer delays nothing.
    pub(crate) fn ask_what_is_in_the_way(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        let answered = vec![0; cx.masters.sessions.len()];
        let holders = keys.iter().map(|_| Holders::default()).collect();
        let question = Question { request, keys: holders, answered };
        let timeout = cx.masters.settings.operation_timeout;
        let mut round = self.new_round(cx, RoundKind::InTheWay(question.into()), timeout);
        let id: RoundId = self.rounds.reserve();
        let commands: Vec<Vec<u8>> = keys.iter().map(|key| wire::look(key)).collect();
        let len = commands.iter().map(Vec::len).sum();
        for (node, session) in cx.masters.sessions.iter_mut().enumerate() {
            if session.is_reliable(cx.now) && session.admits(len).is_ok() {
                commands.iter().for_each(|command| session.push(PendingReply::Vote(id), command));
            } else {
                round.record(node, Answer::Outstanding, cx.now);
            }
        }
        self.open_round(cx, id, round);
        self.judge_in_the_way(cx, id);
    }

    /// Handles a node's answer about its next key.
    pub(crate) fn found_in_the_way(
        &mut self,
        cx: &mut Cx,
        id: RoundId,
        node: usize,
        reply: &Reply,
    ) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::InTheWay(question) = &mut round.kind else { return };
        let Some(answered) = question.answered.get_mut(node) else { return };
        if let Some(holders) = question.keys.get_mut(*answered)
            && let Some(reported) = Reported::in_reply(reply).filter(|reported| reported.is_there)
        {
            holders.note(node, reported.value);
        }
        *answered += 1;
        if *answered == question.keys.len() {
            round.record(node, Answer::Taken, cx.now);
            self.judge_in_the_way(cx, id);
        }
    }

    /// Reports what was found once a quorum has answered, or all nodes are done.
    pub(crate) fn judge_in_the_way(&mut self, cx: &mut Cx, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::InTheWay(question) = &round.kind else { return };
        let all = |answered: &usize| *answered == question.keys.len();
        let answered = NodeSet::places(&question.answered, all);
        if !round.is_complete() && !cx.masters.settings.membership.is_quorum(answered) {
            return;
        }
        let Some(round) = self.take_round(cx, id) else { return };
        let RoundKind::InTheWay(question) = round.kind else { return };
        let found = question.keys.iter().map(|holders| holders.in_the_way(answered)).collect();
        cx.events.push(Event::InTheWay { request: question.request, found });
    }
}

impl Holders {
    /// Returns what is in the way where these nodes have answered; `None` if most of them have no key, or
    /// none has said what it is.
    fn in_the_way(&self, answered: NodeSet) -> Option<Obstacle> {
        let there = self.nodes().intersection(answered);
        let is_there = there != NodeSet::EMPTY && there.len() * 2 >= answered.len();
        is_there.then(|| self.most(|node| answered.contains(node)))
    }
}
