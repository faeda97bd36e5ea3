//! A look at several keys: when may each of them be free, and what is under those that have refused an acquire?

use super::remaining::{Holders, Reported};
use super::{Question, Replied, To};
use crate::obstacle::Obstacle;
use crate::pace::readiness::quorum_in;
use crate::shared::{Event, Keys, RequestId};
use crate::wire;
use std::sync::Arc;

impl Question {
    /// Asks how long each of `keys` still lives: the first node of `channel` alone, or without one
    /// all nodes whose reports count, and then the result is the time until a quorum is free.
    pub fn look(request: RequestId, keys: &[Arc<str>], channel: Option<&Arc<str>>) -> Self {
        let (count, alone) = (keys.len(), channel.is_some());
        let to = channel.map_or(To::Reliable, |channel| To::First(channel.clone()));
        let commands = keys.iter().map(|key| wire::pttl(key)).collect();
        Self::new(to, commands, move |membership, replied| {
            let free_in = |key: usize| {
                let left = replied
                    .iter()
                    .map(|(_, replies): &Replied| Reported::in_reply(replies.get(key)?)?.life);
                match alone {
                    true => left.flatten().next(),
                    false => quorum_in(membership, &left.collect::<Vec<_>>()),
                }
            };
            Event::Looked { request, free_in: (0..count).map(free_in).collect() }
        })
    }

    /// Asks all nodes whose reports count what is under each of `keys`. Those that answer first are
    /// enough if they are a quorum: a node that does not answer delays nothing.
    pub fn in_the_way(request: RequestId, keys: &Keys) -> Self {
        let count = keys.len();
        let commands = keys.iter().map(|key| wire::look(key)).collect();
        let question = Self::new(To::Reliable, commands, move |_, mut replied| {
            replied.retain(|(_, replies)| replies.len() == count);
            let found = (0..count).map(|key| in_the_way(&replied, key)).collect();
            Event::InTheWay { request, found }
        });
        Self { ends_early: true, ..question }
    }
}

/// Returns what is in the way where these nodes have answered; `None` if most of them have no key, or
/// none has said what it is.
fn in_the_way(replied: &[Replied], key: usize) -> Option<Obstacle> {
    let mut holders = Holders::default();
    for (node, (_, replies)) in replied.iter().enumerate() {
        let reported = replies.get(key).and_then(Reported::in_reply);
        reported.into_iter().for_each(|reported| holders.note(node, &reported));
    }
    let there = holders.nodes().len();
    (there > 0 && there * 2 >= replied.len()).then(|| holders.most(|_| true))
}
