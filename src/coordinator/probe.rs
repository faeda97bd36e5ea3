//! One node first: who was refused asks a single node next, and the others only if it grants.
//!
//! Those who contend for a lock then collide on one command instead of splitting the votes of all
//! nodes. Everybody asks the same one for the same key, another one for another key. All are asked
//! again after the longest pause of the backoff, and by the last attempt of a wait: a key that is
//! stuck on one node keeps nobody out.

use super::round::Purpose as RoundPurpose;
use super::session::{Part, Purpose};
use super::{Coordinator, RoundId};
use crate::quorum::{Instant, NodeSet};
use crate::report::Answer;

/// What is sent to the other nodes once the first has granted.
pub(super) struct HeldBack {
    pub(super) first: usize,
    pub(super) others: NodeSet,
    pub(super) set: Vec<u8>,
}

impl Coordinator {
    /// The node that everybody asks first for `key`, and where it is told to be free: one of those
    /// that may vote.
    pub(super) fn first_node(&self, now: Instant, key: &str) -> Option<usize> {
        let key = hash(key);
        let voting = self.sessions.iter().enumerate().filter(|(_, session)| session.may_vote(now));
        let (node, _) = voting.max_by_key(|(_, session)| weight(session.name_hash, key))?;
        Some(node)
    }

    /// The first node has answered: if it has granted, the others are asked. `false` if it has not,
    /// and the attempt is lost.
    pub(super) fn ask_the_others(&mut self, now: Instant, id: RoundId) -> bool {
        let Some(round) = self.rounds.get_mut(id) else { return false };
        let Some(held_back) = round.held_back.take() else { return true };
        if !round.has_granted(held_back.first) {
            return false;
        }
        let RoundPurpose::Acquire { attempt, .. } = round.purpose else { return false };
        let Some(attempt) = self.attempts.get_mut(attempt) else { return false };
        for node in held_back.others.iter() {
            let session = &mut self.sessions[node];
            match session.part(held_back.set.len(), now) {
                Part::Vote => session.push(Purpose::Vote(id), &held_back.set),
                Part::Uncounted(reason) => {
                    session.push(Purpose::Uncounted, &held_back.set);
                    round.vote(node, Answer::Refused(reason), now);
                }
                Part::Absent(reason) => {
                    round.vote(node, Answer::Refused(reason), now);
                    continue;
                }
            }
            attempt.touched.insert(node);
        }
        true
    }
}

/// Highest random weight (Thaler and Ravishankar, 1998): every client ranks the nodes alike for a key,
/// and a node that goes down moves only its own keys. What is alike in two names or two keys is
/// mixed by the finaliser of MurmurHash3.
const fn weight(node: u64, key: u64) -> u64 {
    let hash = node ^ key;
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// FNV-1a: the same on every client.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
