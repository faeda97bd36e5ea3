//! A set whose members have scores.

use std::cmp::Ordering;

/// Members and their scores, in the order of the scores, then of the members. There are few: they
/// are searched one by one.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct SortedSet {
    members: Vec<(Vec<u8>, f64)>,
}

/// One end of a range of scores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bound {
    pub(super) score: f64,
    /// The score itself does not belong to the range.
    pub(super) excluded: bool,
}

impl SortedSet {
    /// Sets a member's score, which is a number; `true` if the member is new.
    pub(super) fn set(&mut self, member: &[u8], score: f64) -> bool {
        let is_new = !self.remove(member);
        // A server does not tell the two zeros apart.
        let entry = (member.to_vec(), score + 0.0);
        let place = self.members.partition_point(|other| in_order(other, &entry).is_lt());
        self.members.insert(place, entry);
        is_new
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        let (_, score) = self.members.iter().find(|(name, _)| name == member)?;
        Some(*score)
    }

    /// Removes a member; `true` if it was there.
    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let before = self.members.len();
        self.members.retain(|(name, _)| name != member);
        self.members.len() < before
    }

    /// Removes the members with a score within the bounds, and returns how many they were.
    pub(super) fn remove_between(&mut self, least: Bound, most: Bound) -> usize {
        let before = self.members.len();
        self.members.retain(|(_, score)| !is_between(*score, least, most));
        before - self.members.len()
    }

    /// Returns the members with a score within the bounds, in order.
    pub(super) fn between(&self, least: Bound, most: Bound) -> impl Iterator<Item = &[u8]> {
        let members = self.members.iter();
        let within = members.filter(move |(_, score)| is_between(*score, least, most));
        within.map(|(name, _)| &**name)
    }

    /// Returns how many members come before this one; `None` if it is not there.
    pub(super) fn rank(&self, member: &[u8]) -> Option<usize> {
        self.members.iter().position(|(name, _)| name == member)
    }

    pub(super) fn members(&self) -> &[(Vec<u8>, f64)] {
        &self.members
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
