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

use super::acquisition::Acquisition;
use super::round::RoundKind;
use super::session::{Part, PendingReply};
use super::timers::Timer;
use super::wire;
use super::{AcquireRequest, Coordinator, RoundId, Settings};
use crate::quorum::{Instant, NodeSet};
use crate::report::{Answer, NodeReport, Refusal};
use std::time::Duration;

/// The command that is sent to the other nodes unless the first refuses.
pub(super) struct HeldBack {
    pub(super) first: usize,
    pub(super) others: NodeSet,
    pub(super) set: Vec<u8>,
}

/// What the answers of all nodes say of the key that has refused an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The nodes that have not refused as held may be a quorum.
    Open,
    /// They are none. The node that all ask first may lack the key; `speaker` is then one that has it,
    /// the same for all clients.
    Held { speaker: Option<usize> },
}

impl Standing {
    pub(super) const fn speaker(self) -> Option<usize> {
        match self {
            Self::Open => None,
            Self::Held { speaker } => speaker,
        }
    }
}

impl Coordinator {
    /// Returns the node that all clients ask first for `key`, and where waiters are notified that
    /// it is free. It is one of those whose reports count, whether or not this client may ask them for a
    /// vote: so a client that only looks listens where the others notify.
    pub fn first_node(&self, now: Instant, key: &str) -> Option<usize> {
        let nodes = self.sessions.iter().enumerate();
        let reliable = nodes.filter(|(_, session)| session.is_reliable(now));
        self.heaviest(key, reliable.map(|(node, _)| node))
    }

    /// Returns the node of these that all clients prefer for `key`.
    fn heaviest(&self, key: &str, nodes: impl Iterator<Item = usize>) -> Option<usize> {
        let key = hash(key);
        nodes.max_by_key(|node| weight(self.sessions[*node].name_hash, key))
    }

    /// Returns the node that is asked first by this acquire: where it is told that the key is free,
    /// since there it is free by then. It is a node that may vote, and not one that has owed an answer for
    /// longer than it would be waited for.
    ///
    /// While a quorum cannot be had because of a key that this node lacks, `speaker` is asked instead:
    /// one of those that have the key. A grant of a node that lacks it is of no use to a waiter, and keeps
    /// the holder from bringing the key back there.
    pub(super) fn asked_first(
        &self,
        now: Instant,
        acquire: &AcquireRequest,
        speaker: Option<usize>,
    ) -> Option<usize> {
        let patience = self.settings.patience(acquire.ttl.span());
        let (channel, _) = acquire.keys.messages().next()?;
        let answers = |node: &usize| {
            let session = &self.sessions[*node];
            session.may_vote(now) && session.silent_for(now) <= patience
        };
        let speaker = speaker.filter(answers);
        speaker.or_else(|| self.first_node(now, channel).filter(answers))
    }

    /// Returns what the answers of all nodes say of the key that has refused us.
    pub(super) fn refused_by(
        &self,
        now: Instant,
        channel: &str,
        reports: &[NodeReport],
    ) -> Standing {
        let is_held =
            |report: &NodeReport| matches!(report.answer, Answer::Refused(Refusal::Held { .. }));
        let held = reports.iter().enumerate().filter(|(_, report)| is_held(report));
        let held: NodeSet = held.map(|(node, _)| node).collect();
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

    /// Judges the answer of the node that was asked first.
    pub(super) fn judge_first(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { request, attempt, .. } = round.kind else { return };
        let ends = |one: &Acquisition| !one.may_retry(now) && !one.request.probes;
        let ends = self.acquisitions.get(request).is_none_or(ends);
        match round.first_answer() {
            None | Some(Answer::Outstanding) => {}
            // At the end of a wait, that is not a verdict: all nodes are asked.
            Some(Answer::Refused(Refusal::Held { .. } | Refusal::Wanted { .. })) if !ends => {
                self.lose(now, id, request, attempt, false);
            }
            Some(_) => self.ask_the_others(now, id),
        }
    }

    /// Asks the other nodes, after the first has not refused or has not answered in time. They have
    /// a timeout of their own.
    pub(super) fn ask_the_others(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind else { return };
        let Some(claim) = self.attempts.get(attempt_id).map(|one| &one.claim) else { return };
        let barred = self.barred(now, claim.life.span());
        let acquisition = self.acquisitions.get(request).filter(|_| claim.looks());
        let looks = acquisition.is_some_and(|one| one.asks_remaining(now, &self.settings));
        let look = looks.then(|| wire::look(claim.keys.first()));
        let Some(round) = self.rounds.get_mut(id) else { return };
        let Some(held_back) = round.held_back.take() else { return };
        let Some(attempt) = self.attempts.get_mut(attempt_id) else { return };
        self.timers.cancel(round.timeout_at, Timer::Round(id));
        round.timeout_at = now.after(self.settings.round_timeout(attempt.ttl.span()));
        self.timers.set(round.timeout_at, Timer::Round(id));
        for node in held_back.others.iter() {
            let session = &mut self.sessions[node];
            match session.part(held_back.set.len(), now, barred.as_ref()) {
                Part::Vote => {
                    session.prepare(&attempt.claim);
                    if let Some(look) = &look {
                        session.push(PendingReply::Remaining(request, attempt_id), look);
                    }
                    session.push(session.vote(now, id), &held_back.set);
                }
                Part::Uncounted(reason) | Part::Absent(reason) => {
                    round.record(node, Answer::Refused(reason), now);
                    continue;
                }
            }
            attempt.touched.insert(node);
        }
        self.judge_acquire(now, id);
    }
}

impl Settings {
    /// Returns how long the first node alone is waited for. A nearby node answers within this
    /// moment, and it matters little to a whole round.
    pub(super) fn patience(&self, ttl: Duration) -> Duration {
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
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
