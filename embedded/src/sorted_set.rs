//! A set whose members have scores.

use super::value::Members;
use std::cmp::Ordering;

/// One end of a range of scores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bound {
    pub(super) score: f64,
    /// The score itself does not belong to the range.
    pub(super) excluded: bool,
}

/// In the order of the scores, then of the members.
impl Members<f64> {
    /// Sets a member's score, which is a number; `true` if the member is new.
    pub(super) fn set_score(&mut self, member: &[u8], score: f64) -> bool {
        let is_new = !self.remove(member);
        // A server does not tell the two zeros apart.
        let entry = (member.to_vec(), score + 0.0);
        let place = self.0.partition_point(|other| in_order(other, &entry).is_lt());
        self.0.insert(place, entry);
        is_new
    }

    /// Removes the members with a score within the bounds, and returns how many they were.
    pub(super) fn remove_between(&mut self, least: Bound, most: Bound) -> usize {
        let before = self.0.len();
        self.0.retain(|(_, score)| !is_between(*score, least, most));
        before - self.0.len()
    }

    /// Returns the members with a score within the bounds, in order.
    pub(super) fn between(&self, least: Bound, most: Bound) -> impl Iterator<Item = &[u8]> {
        let within = self.0.iter().filter(move |(_, score)| is_between(*score, least, most));
        within.map(|(name, _)| &**name)
    }

    /// Returns how many members come before this one; `None` if it is not there.
    pub(super) fn rank(&self, member: &[u8]) -> Option<usize> {
        self.0.iter().position(|(name, _)| name == member)
    }
}

fn is_between(score: f64, least: Bound, most: Bound) -> bool {
    let above = score > least.score || (score == least.score && !least.excluded);
    let below = score < most.score || (score == most.score && !most.excluded);
    above && below
}

fn in_order((a, a_score): &(Vec<u8>, f64), (b, b_score): &(Vec<u8>, f64)) -> Ordering {
    a_score.total_cmp(b_score).then_with(|| a.cmp(b))
}
