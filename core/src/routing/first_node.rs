//! One node first: after a refusal, an acquire asks a single node next, and then the others unless
//! that node refuses, too.
//!
//! Clients that contend for a lock then collide on one command instead of splitting the votes of
//! all nodes. All clients ask the same node first for the same key, and another node for another
//! key. All nodes are asked again after the longest pause of the backoff, and by the last attempt
//! of a wait. So a key that is stuck on one node keeps no client out.
//!
//! A probe can only show that a key is held on the first node. If it shows anything else, or
//! nothing within a moment, the others are asked, and have a timeout of their own to answer. A node
//! that is slow, down or far away decides nothing alone, and delays nothing by more than that
//! moment.

use crate::master::Masters;
use crate::quorum::{Instant, NodeSet};
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::Settings;
use std::time::Duration;

/// What the answers of all nodes say of the key that has refused an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    /// The nodes that have not refused as held may be a quorum.
    #[default]
    Open,
    /// They are none. The node that all ask first may lack the key; `speaker` is then one that has it,
    /// the same for all clients.
    Held { speaker: Option<usize> },
}

impl Standing {
    pub(crate) const fn speaker(self) -> Option<usize> {
        match self {
            Self::Open => None,
            Self::Held { speaker } => speaker,
        }
    }
}

impl Masters {
    /// Returns the node that all clients ask first for `key`, and where waiters are notified that
    /// it is free. It is one of those whose reports count, whether or not this client may ask them for a
    /// vote: so a client that only looks listens where the others notify. A laggard is only if all are.
    pub fn first_node(&self, now: Instant, key: &str) -> Option<usize> {
        if self.laggards == NodeSet::EMPTY {
            return self.first_of_all(now, key);
        }
        let prompt = self.reliable(now).filter(|node| !self.laggards.contains(*node));
        self.heaviest(key, prompt).or_else(|| self.first_of_all(now, key))
    }

    /// Returns the same node, whether or not it is a laggard.
    pub(crate) fn first_of_all(&self, now: Instant, key: &str) -> Option<usize> {
        self.heaviest(key, self.reliable(now))
    }

    fn reliable(&self, now: Instant) -> impl Iterator<Item = usize> {
        let nodes = self.sessions.iter().enumerate();
        nodes.filter(move |(_, session)| session.is_reliable(now)).map(|(node, _)| node)
    }

    /// Returns the node of these that all clients prefer for `key`.
    fn heaviest(&self, key: &str, nodes: impl Iterator<Item = usize>) -> Option<usize> {
        let key = hash(key);
        nodes.max_by_key(|node| weight(self.sessions[*node].name_hash, key))
    }

    /// Returns the node that is asked first by this acquire: the one that announces that the key is free,
    /// since there it is free by then. It is a node that may vote, and not one that has owed an answer for
    /// longer than it would be waited for.
    ///
    /// While a quorum cannot be had because of a key that this node lacks, `speaker` is asked instead:
    /// one of those that have the key. A grant of a node that lacks it is of no use to a waiter, and keeps
    /// the holder from bringing the key back there.
    pub(crate) fn asked_first(
        &self,
        now: Instant,
        channel: &str,
        ttl: Duration,
        speaker: Option<usize>,
    ) -> Option<usize> {
        let patience = self.settings.patience(ttl);
        let answers = |node: &usize| {
            let session = &self.sessions[*node];
            session.may_vote(now) && session.silent_for(now) <= patience
        };
        let speaker = speaker.filter(answers);
        speaker.or_else(|| self.first_node(now, channel).filter(answers))
    }

    /// Returns what the answers of all nodes say of the key that has refused us.
    pub(crate) fn refused_by(
        &self,
        now: Instant,
        channel: &str,
        reports: &[NodeReport],
    ) -> Standing {
        let is_held =
            |report: &NodeReport| matches!(report.answer, Answer::Refused(Refusal::Held { .. }));
        let held = NodeSet::places(reports, is_held);
        if self.settings.membership.can_spare(held) {
            return Standing::Open;
        }
        let first = self.first_node(now, channel).and_then(|first| reports.get(first));
        let speaker = first.filter(|first| first.answer.finds_free());
        Standing::Held { speaker: speaker.and_then(|_| self.heaviest(channel, held.iter())) }
    }
}

impl Settings {
    /// Returns how long the first node alone is waited for. A nearby node answers within this
    /// moment, and it matters little to a whole round.
    pub(crate) fn patience(&self, ttl: Duration) -> Duration {
        self.backoff.base.min(self.round_timeout(ttl) / 4)
    }
}

/// Returns the weight of a node for a key: highest random weight (Thaler and Ravishankar, 1998).
/// Every client ranks the nodes for a key in the same order, and a node that goes down moves only
/// its own keys. The finaliser of MurmurHash3 scatters similar names and similar keys.
pub(crate) const fn weight(node: u64, key: u64) -> u64 {
    let hash = node ^ key;
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Returns the FNV-1a hash, which is the same on every client.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
