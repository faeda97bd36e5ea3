//! A look at several keys: when may each of them be free?

use super::Question;
use crate::lock::Locks;
use crate::pace::readiness::quorum_in;
use crate::quorum::{Membership, NodeSet};
use crate::report::{Answer, NodeReport, UnknownCause};
use crate::shared::{Cx, Event, RequestId};
use crate::wire::{self, Reply};
use std::sync::Arc;
use std::time::Duration;

/// How long each of so many keys lives on each node, as far as the node has answered. `None`: it does not say, or the key
/// never expires. If one node is asked `alone`, what it says is the answer.
struct Look {
    request: RequestId,
    keys: usize,
    lives: Vec<Vec<Option<Duration>>>,
    alone: bool,
}

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
        let lives = vec![Vec::new(); cx.masters.sessions.len()];
        let question = Look { request, keys: keys.len(), lives, alone: channel.is_some() };
        let commands: Vec<Vec<u8>> = keys.iter().map(|key| wire::pttl(key)).collect();
        self.ask(cx, question, &commands, |node, _| nodes.contains(node));
    }
}

impl Question for Look {
    fn hear(&mut self, node: usize, reply: &Reply) -> Option<Answer> {
        let lives = self.lives.get_mut(node)?;
        lives.push(match reply {
            // -2: there is no key.
            Reply::Int(-2) => Some(Duration::ZERO),
            // 0: it lives for less than a millisecond.
            Reply::Int(millis) => {
                u64::try_from(*millis).ok().map(|left| Duration::from_millis(left.max(1)))
            }
            _ => None,
        });
        (lives.len() == self.keys).then(|| match reply {
            Reply::Int(_) => Answer::Taken,
            other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
        })
    }

    fn result(self: Box<Self>, membership: Membership, _: Vec<NodeReport>) -> Event {
        let free_in = |key: usize| {
            let left = self.lives.iter().map(|lives| lives.get(key).copied().flatten());
            match self.alone {
                true => left.flatten().next(),
                false => quorum_in(membership, &left.collect::<Vec<_>>()),
            }
        };
        Event::Looked { request: self.request, free_in: (0..self.keys).map(free_in).collect() }
    }
}
