//! Questions that decide nothing: what is under a key, how long it lives, and what is in the way of an acquire, and messages
//! that a caller sends by hand. Votes and deadlines do not rest on the answers.

mod asked;
mod by_hand;
mod in_the_way;
mod inspect;
mod look;
pub(crate) mod remaining;

pub use inspect::{Beside, Mark, Seen, StoredValue};

pub(crate) use inspect::holders_in;

use crate::lock::{Locks, RoundKind};
use crate::master::Session;
use crate::quorum::Membership;
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::{Cx, Event, RoundId};
use crate::wire::Reply;

/// A question to masters, and what they have answered so far.
pub(crate) trait Question: Send {
    /// Notes the next reply of a node. Returns its answer once it has replied to all that it was asked.
    fn hear(&mut self, node: usize, reply: &Reply) -> Option<Answer>;

    /// Returns whether the result is known before all nodes are done.
    fn is_answered(&self, _: Membership) -> bool {
        false
    }

    /// Returns whether the reply of a node counts that may have forgotten the holder.
    fn believes_forgetful(&self) -> bool {
        false
    }

    /// Returns the result, from the answer of each node.
    fn result(self: Box<Self>, membership: Membership, reports: Vec<NodeReport>) -> Event;
}

impl Locks {
    /// Sends these commands to the nodes that are `asked` and take them; the result is an event.
    pub(crate) fn ask(
        &mut self,
        cx: &mut Cx,
        question: impl Question + 'static,
        commands: &[Vec<u8>],
        asked: impl Fn(usize, &Session) -> bool,
    ) {
        let id = self.ask_each(cx, RoundKind::Question(Box::new(question)), commands, asked);
        self.judge_question(cx, id);
    }

    /// Handles the next reply of a node to a question.
    pub(crate) fn hear(&mut self, cx: &mut Cx, id: RoundId, node: usize, reply: &Reply) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::Question(question) = &mut round.kind else { return };
        let warming = cx.masters.sessions[node].warming_up(cx.now);
        let answer = match warming.filter(|_| !question.believes_forgetful()) {
            Some(remaining) => Some(Answer::Refused(Refusal::WarmingUp { remaining })),
            None => question.hear(node, reply),
        };
        if let Some(answer) = answer {
            round.record(node, answer, cx.now);
            self.judge_question(cx, id);
        }
    }

    /// Reports the result once it is known.
    pub(crate) fn judge_question(&mut self, cx: &mut Cx, id: RoundId) {
        let membership = cx.masters.settings.membership;
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Question(question) = &round.kind else { return };
        if !round.is_complete() && !question.is_answered(membership) {
            return;
        }
        let Some(round) = self.rounds.take(cx, id) else { return };
        let reports = round.reports(cx.masters.names());
        if let RoundKind::Question(question) = round.kind {
            cx.events.push(question.result(membership, reports));
        }
    }
}
