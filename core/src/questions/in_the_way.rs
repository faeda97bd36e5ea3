//! What is under the keys that have refused an acquire, for its error.

use super::remaining::{Holders, Reported};
use super::{Question, Replied, To};
use crate::obstacle::Obstacle;
use crate::shared::{Event, Keys, RequestId};
use crate::wire;

impl Question {
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
