//! A look at several keys: when may each of them be free?

use super::remaining::Reported;
use super::{Question, Replied, To};
use crate::pace::readiness::quorum_in;
use crate::shared::{Event, RequestId};
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
}
