//! Questions that decide nothing: what is under a key, how long it lives, and what is in the way of an acquire, and messages
//! that a caller sends by hand. Votes and deadlines do not rest on the answers.

mod by_hand;
mod inspect;
mod look;
pub(crate) mod remaining;

pub use inspect::{Beside, Mark, Seen, StoredValue};

pub(crate) use inspect::holders_in;

use crate::lock::{Locks, Round, RoundKind};
use crate::master::PendingReply;
use crate::quorum::{Membership, NodeSet};
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::{Cx, Event, RoundId};
use crate::wire::Reply;
use std::sync::Arc;

/// The masters that are asked.
pub(crate) enum To {
    All,
    /// Those whose reports count.
    Reliable,
    /// The one that all clients ask first for this name.
    First(Arc<str>),
}

/// Whether a master was asked, and its replies, as far as they count.
pub(crate) type Replied = (NodeReport, Vec<Reply>);

/// A question to masters, and what they have replied so far.
pub struct Question {
    to: To,
    commands: Vec<Vec<u8>>,
    /// How many replies each master owes.
    owed: usize,
    replies: Vec<Vec<Reply>>,
    /// The result is known once a quorum has replied to all commands.
    pub(crate) ends_early: bool,
    /// The replies of a master count that may have forgotten the holder.
    pub(crate) believes_forgetful: bool,
    result: Box<dyn FnOnce(Membership, Vec<Replied>) -> Event + Send>,
}

impl Question {
    pub(crate) fn new(
        to: To,
        commands: Vec<Vec<u8>>,
        result: impl FnOnce(Membership, Vec<Replied>) -> Event + Send + 'static,
    ) -> Self {
        Self {
            to,
            owed: commands.len(),
            commands,
            replies: Vec::new(),
            ends_early: false,
            believes_forgetful: false,
            result: Box::new(result),
        }
    }

    /// Notes the next reply of a master. Returns whether it was the last.
    fn hear(&mut self, node: usize, reply: Reply) -> bool {
        let Some(replies) = self.replies.get_mut(node) else { return false };
        replies.push(reply);
        replies.len() == self.owed
    }
}

impl Locks {
    /// Sends the commands to the masters that are asked and take them; the result is an event.
    pub(crate) fn ask(&mut self, cx: &mut Cx, mut question: Question) {
        let Cx { now, masters, .. } = &*cx;
        let nodes = masters.sessions.len();
        let commands = std::mem::take(&mut question.commands);
        let asked = match &question.to {
            _ if commands.is_empty() => NodeSet::EMPTY,
            To::All => NodeSet::first(nodes),
            To::Reliable => NodeSet::places(&masters.sessions, |session| session.is_reliable(*now)),
            To::First(name) => masters.first_node(*now, name).into_iter().collect(),
        };
        question.replies.resize(nodes, Vec::new());
        let kind = RoundKind::Question(Box::new(question));
        let timeout = masters.settings.operation_timeout;
        let mut round = Round::new(cx, kind, timeout, &mut self.rooms);
        let Cx { now, masters, .. } = cx;
        let id = RoundId(self.rounds.reserve());
        let len = commands.iter().map(Vec::len).sum();
        for (node, session) in masters.sessions.iter_mut().enumerate() {
            if !asked.contains(node) {
                round.record(node, Answer::Outstanding, *now);
            } else if let Err(reason) = session.admits(len) {
                round.record(node, Answer::Refused(reason), *now);
            } else {
                commands.iter().for_each(|command| session.push(PendingReply::Vote(id), command));
            }
        }
        self.rounds.open(cx, id, round);
        self.judge_question(cx, id);
    }

    /// Handles the next reply of a node to a question.
    pub(crate) fn hear(&mut self, cx: &mut Cx, id: RoundId, node: usize, reply: Reply) {
        let Some(round) = self.rounds.get_mut(id.0) else { return };
        let RoundKind::Question(question) = &mut round.kind else { return };
        let warming = cx.masters.sessions[node].warming_up(cx.now);
        if let Some(remaining) = warming.filter(|_| !question.believes_forgetful) {
            round.record(node, Answer::Refused(Refusal::WarmingUp { remaining }), cx.now);
        } else if question.hear(node, reply) {
            round.record(node, Answer::Taken, cx.now);
        }
        self.judge_question(cx, id);
    }

    /// Reports the result once it is known.
    pub(crate) fn judge_question(&mut self, cx: &mut Cx, id: RoundId) {
        let membership = cx.masters.settings.membership;
        let Some(round) = self.rounds.get(id.0) else { return };
        let RoundKind::Question(question) = &round.kind else { return };
        let has_replied = |replies: &Vec<Reply>| replies.len() == question.owed;
        let replied = NodeSet::places(&question.replies, has_replied);
        let is_known = round.is_complete() || question.ends_early && membership.is_quorum(replied);
        if !is_known {
            return;
        }
        let Some(round) = self.rounds.take(cx, id) else { return };
        let reports = round.reports(cx.masters.names());
        if let RoundKind::Question(question) = round.kind {
            let replied = reports.into_iter().zip(question.replies).collect();
            cx.events.push((question.result)(membership, replied));
        }
    }
}
