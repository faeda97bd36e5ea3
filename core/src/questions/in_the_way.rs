//! What is under the keys that have refused an acquire, for its error.

use super::Question;
use super::remaining::{Holders, Reported};
use crate::lock::Locks;
use crate::obstacle::Obstacle;
use crate::quorum::{Membership, NodeSet};
use crate::report::{Answer, NodeReport};
use crate::shared::{Cx, Event, Keys, RequestId};
use crate::wire::{self, Reply};

/// What the nodes have said of each key, in the order in which they were asked.
struct InTheWay {
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
        let commands: Vec<Vec<u8>> = keys.iter().map(|key| wire::look(key)).collect();
        let now = cx.now;
        let question = InTheWay { request, keys: holders, answered };
        self.ask(cx, question, &commands, |_, session| session.is_reliable(now));
    }
}

impl InTheWay {
    /// Returns the nodes that have answered for all keys.
    fn answered(&self) -> NodeSet {
        NodeSet::places(&self.answered, |answered| *answered == self.keys.len())
    }
}

impl Question for InTheWay {
    fn hear(&mut self, node: usize, reply: &Reply) -> Option<Answer> {
        let answered = self.answered.get_mut(node)?;
        if let Some(holders) = self.keys.get_mut(*answered)
            && let Some(reported) = Reported::in_reply(reply).filter(|reported| reported.is_there)
        {
            holders.note(node, reported.value);
        }
        *answered += 1;
        (*answered == self.keys.len()).then_some(Answer::Taken)
    }

    fn is_answered(&self, membership: Membership) -> bool {
        membership.is_quorum(self.answered())
    }

    fn result(self: Box<Self>, _: Membership, _: Vec<NodeReport>) -> Event {
        let answered = self.answered();
        let found = self.keys.iter().map(|holders| in_the_way(holders, answered)).collect();
        Event::InTheWay { request: self.request, found }
    }
}

/// Returns what is in the way where these nodes have answered; `None` if most of them have no key, or
/// none has said what it is.
fn in_the_way(holders: &Holders, answered: NodeSet) -> Option<Obstacle> {
    let there = holders.nodes().intersection(answered);
    let is_there = there != NodeSet::EMPTY && there.len() * 2 >= answered.len();
    is_there.then(|| holders.most(|node| answered.contains(node)))
}
