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
//!
//! Laggards are masters whose answers take much longer than those of most. One that is asked first, or where waiters
//! are called, would make them all slow. Each client judges by the questions about its settings, so it may differ from
//! others for a while, or for good if its way to a master is another one. A laggard votes as ever.

use crate::master::{Masters, Session};
use crate::quorum::{Instant, NodeSet};
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::{Keys, Settings};
use crate::wire::waitlist::Says;
use crate::wire::{self, Mailbox};
use std::sync::Arc;
use std::time::Duration;

/// A master is a laggard if its answers take so many times as long as those of most, and so much longer; it is one
/// until half of that is over.
const TIMES: u32 = 2;
const LONGER: Duration = Duration::from_millis(5);

/// How long the latest two answers of a master took.
pub(crate) type Trips = [Duration; 2];

/// Returns which masters are laggards, by their answers, where there were two. The shorter of a laggard's is beyond the
/// longer of most: one may have been delayed, and if all become slower, not all are asked at the same time.
fn judge(before: NodeSet, trips: &[Option<Trips>]) -> NodeSet {
    let mut longer: Vec<_> =
        trips.iter().flatten().map(|[first, second]| *first.max(second)).collect();
    longer.sort_unstable();
    let Some(of_most) = longer.get(longer.len().saturating_sub(1) / 2) else {
        return NodeSet::EMPTY;
    };
    let beyond = of_most.saturating_mul(TIMES) + LONGER;
    let within = (*of_most + beyond) / 2;
    let lags = |(node, trips): (usize, &Option<Trips>)| {
        let most = if before.contains(node) { within } else { beyond };
        trips.is_some_and(|[first, second]| first.min(second) > most).then_some(node)
    };
    trips.iter().enumerate().filter_map(lags).collect()
}

/// What the answers of all nodes say of the key that has refused an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The nodes that have not refused as held may be a quorum.
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
        let lacks = |report: &NodeReport| {
            matches!(report.answer, Answer::Granted | Answer::Refused(Refusal::Stale))
        };
        let first = self.first_node(now, channel).and_then(|first| reports.get(first));
        let speaker = first.filter(|first| lacks(first));
        Standing::Held { speaker: speaker.and_then(|_| self.heaviest(channel, held.iter())) }
    }

    /// Judges anew which masters are laggards.
    pub(crate) fn judge_laggards(&mut self) {
        let trips: Vec<_> = self.sessions.iter().map(Session::trips).collect();
        self.laggards = judge(self.laggards, &trips);
    }

    /// Returns whether a teller for `key` is the node that is asked first.
    pub(crate) fn is_first(&self, now: Instant, key: &str, teller: usize) -> bool {
        self.laggards == NodeSet::EMPTY || self.first_node(now, key) == Some(teller)
    }

    /// Returns the nodes that notify waiters for `key`, and call them: the one that is asked first, and the one
    /// that those ask first which do not find that it lags.
    pub(crate) fn tellers(&self, now: Instant, key: &str) -> NodeSet {
        let mut tellers: NodeSet = self.first_node(now, key).into_iter().collect();
        if self.laggards != NodeSet::EMPTY {
            self.first_of_all(now, key).into_iter().for_each(|node| tellers.insert(node));
        }
        tellers
    }

    // The messages to waiters, readers and holders: the masters at which each is written.

    /// Returns the command that asks the process which reads this mailbox at `node` to give `key` back.
    pub(crate) fn asking(&mut self, node: usize, mailbox: Mailbox, key: &str) -> Vec<u8> {
        let (channel, message) = (wire::mailbox(mailbox), format!("ask {key}"));
        self.packer.publish(&self.sessions[node].channels, &channel, &message).to_vec()
    }

    /// Notifies the waiters for `key` at `node` once more that it is free, and calls the next of them by what it
    /// `says` there, if any is to be called.
    pub(crate) fn notify(&mut self, node: usize, key: Keys, says: Option<Says>) {
        let session = &mut self.sessions[node];
        match says {
            Some(says) => session.call(key, says, true, &mut self.packer),
            None => session.tell_of(&key, &mut self.packer),
        }
    }

    /// Calls the next waiter for a key, if it is free where its list is.
    pub(crate) fn call_next(&mut self, now: Instant, key: Arc<str>) {
        if let Some(node) = self.first_node(now, &key) {
            self.notify(node, Keys::one(key), Some(Says::Held));
        }
    }

    /// Notifies the waiters for these keys, wherever they listen, that the keys are free.
    pub(crate) fn tell_all_of(&mut self, now: Instant, keys: &Keys) {
        for key in keys.each() {
            let Some((channel, _)) = key.messages().next() else { continue };
            for node in self.tellers(now, channel).iter() {
                self.sessions[node].tell_of(&key, &mut self.packer);
            }
        }
    }

    /// Notifies the readers that wait for this key that they may be let in.
    pub(crate) fn tell_readers(&mut self, now: Instant, key: &Arc<str>, hint: &str) {
        for node in self.tellers(now, key).iter() {
            self.sessions[node].tell_by_hint(key, hint, false, &mut self.packer);
        }
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
const fn weight(node: u64, key: u64) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lags(before: &[usize], trips: [u64; 5]) -> Vec<usize> {
        let before = before.iter().copied().collect();
        let trips = trips.map(|ms| (ms < 9_999).then(|| [Duration::from_millis(ms); 2]));
        judge(before, &trips).iter().collect()
    }

    #[test]
    fn a_master_lags_that_is_much_slower_than_most() {
        assert_eq!(lags(&[], [1, 1, 1, 1, 20]), [4]);
        assert_eq!(lags(&[], [20, 1, 30, 1, 1]), [0, 2]);
        assert_eq!(lags(&[], [1, 1, 1, 1, 7]), [0; 0], "by a moment");
        assert_eq!(lags(&[], [80, 85, 90, 110, 160]), [0; 0], "all are far away");
        assert_eq!(lags(&[], [80, 85, 90, 110, 190]), [4]);
    }

    #[test]
    fn most_masters_do_not_lag() {
        assert_eq!(lags(&[], [1, 1, 300, 300, 300]), [0; 0]);
        assert_eq!(lags(&[], [1, 300, 9_999, 9_999, 9_999]), [1]);
        assert_eq!(lags(&[], [300, 9_999, 9_999, 9_999, 9_999]), [0; 0]);
        assert_eq!(lags(&[], [9_999; 5]), [0; 0]);
    }

    #[test]
    fn no_single_answer_makes_a_laggard() {
        let ms = Duration::from_millis;
        let all = [[1, 20], [20, 1], [20, 20], [1, 20], [1, 1]];
        let slower = all.map(|trips| Some(trips.map(ms)));
        assert_eq!(judge(NodeSet::EMPTY, &slower), NodeSet::EMPTY, "all have become slower");
        let delayed = [[1, 1], [1, 1], [90, 1], [1, 1], [1, 1]].map(|trips| Some(trips.map(ms)));
        assert_eq!(judge(NodeSet::EMPTY, &delayed), NodeSet::EMPTY);
    }

    #[test]
    fn a_laggard_is_one_until_it_is_clearly_faster() {
        assert_eq!(lags(&[4], [1, 1, 1, 1, 7]), [4]);
        assert_eq!(lags(&[4], [1, 1, 1, 1, 4]), [0; 0]);
        assert_eq!(lags(&[0, 4], [7, 1, 1, 1, 9_999]), [0]);
    }
}
