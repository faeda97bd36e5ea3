//! The masters that vote, and the number of grants that is enough.

use std::fmt;

/// A set of masters by their place in the configured list. A set cannot hold a node twice, so no
/// vote can be counted twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeSet(u64);

impl NodeSet {
    /// Places run from 0 to 63.
    pub const CAPACITY: usize = u64::BITS as usize;

    pub const EMPTY: Self = Self(0);

    /// Returns the first `count` places.
    pub const fn first(count: usize) -> Self {
        if count < Self::CAPACITY { Self((1 << count) - 1) } else { Self(u64::MAX) }
    }

    /// Returns the places of those that are `wanted`.
    pub fn places<T>(all: impl IntoIterator<Item = T>, wanted: impl Fn(T) -> bool) -> Self {
        let all = all.into_iter().enumerate();
        all.filter_map(|(place, item)| wanted(item).then_some(place)).collect()
    }

    pub fn insert(&mut self, node: usize) {
        self.0 |= Self::bit(node);
    }

    pub fn remove(&mut self, node: usize) {
        self.0 &= !Self::bit(node);
    }

    pub const fn contains(self, node: usize) -> bool {
        self.0 & Self::bit(node) != 0
    }

    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the places that are in `self` and not in `other`.
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the smallest number that is more than half of this list.
    pub const fn majority(self) -> usize {
        self.len() / 2 + 1
    }

    const fn holds_majority(self, list: Self) -> bool {
        self.intersection(list).len() >= list.majority()
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let node = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (node < Self::CAPACITY).then_some(node)
        })
    }

    /// A place beyond the capacity is in no set: configuration refuses that many masters.
    const fn bit(node: usize) -> u64 {
        if node < Self::CAPACITY { 1 << node } else { 0 }
    }
}

impl FromIterator<usize> for NodeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(nodes: I) -> Self {
        let mut set = Self::EMPTY;
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }
}

/// The masters as configured: one list, or two while one takes over from the other. Their number
/// never shrinks to those that are up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    list: NodeSet,
    /// The list that has to agree as well. A master in both lists has one place.
    also: Option<NodeSet>,
}

impl Membership {
    /// Builds one list of `count` masters. `None` if there are none at all (zero masters would
    /// grant everything), or more than [`NodeSet::CAPACITY`].
    pub fn of(count: usize) -> Option<Self> {
        let some = (1..=NodeSet::CAPACITY).contains(&count);
        some.then(|| Self { list: NodeSet::first(count), also: None })
    }

    /// Joins two lists that must both agree; `None` if one of them is empty.
    ///
    /// Each list is judged by itself. A majority of all masters together can be disjoint from a
    /// majority of either list ({1,2} and {3,4,5}, with the lists {1,2,3} and {3,4,5}).
    pub fn joint(list: NodeSet, also: NodeSet) -> Option<Self> {
        let filled = list != NodeSet::EMPTY && also != NodeSet::EMPTY;
        filled.then_some(Self { list, also: Some(also) })
    }

    pub const fn list(self) -> NodeSet {
        self.list
    }

    /// Returns the second list, if there is one.
    pub const fn also(self) -> Option<NodeSet> {
        self.also
    }

    pub fn lists(self) -> impl Iterator<Item = NodeSet> {
        std::iter::once(self.list).chain(self.also)
    }

    /// Returns whether these masters are a quorum: a majority of each list. If two memberships have
    /// a list in common, any two of their quorums share a master of it.
    pub fn is_quorum(self, nodes: NodeSet) -> bool {
        self.lists().all(|list| nodes.holds_majority(list))
    }

    /// Returns whether a quorum can still come together without these masters.
    pub fn can_spare(self, nodes: NodeSet) -> bool {
        let members = self.lists().fold(NodeSet::EMPTY, NodeSet::union);
        self.is_quorum(members.difference(nodes))
    }

    /// Builds lists from a letter for each master. `b` is in both lists, `n` in the first alone,
    /// `o` in the second alone; `n` throughout is one list.
    #[cfg(test)]
    pub fn pictured(lists: &str) -> Self {
        let places = |letters: [char; 2]| lists.match_indices(letters).map(|(at, _)| at).collect();
        let joint = Self::joint(places(['b', 'n']), places(['b', 'o']));
        joint.or(Self::of(lists.len())).unwrap_or_else(|| panic!("{lists} are no lists"))
    }
}

/// Shows how many masters are enough: more than half of a list, of each list if there are two.
impl fmt::Display for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = |list: NodeSet| (list.majority(), list.len());
        let (needed, of) = most(self.list());
        match self.also().map(most) {
            None => needed.fmt(f),
            Some((also, of_old)) => {
                write!(f, "{needed} of the {of} new and {also} of the {of_old} old")
            }
        }
    }
}

/// Shows the same: the places of the masters would only be noise in an error.
impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
