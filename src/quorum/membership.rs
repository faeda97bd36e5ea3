//! Who votes, and how many grants are enough.

/// A set of masters by their place in the configured list. A set cannot hold a node twice, so no
/// vote can be counted twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeSet(u64);

impl NodeSet {
    /// Places run from 0 to 63.
    pub(crate) const CAPACITY: usize = u64::BITS as usize;

    pub(crate) const EMPTY: Self = Self(0);

    /// The first `count` places.
    pub(crate) fn first(count: usize) -> Self {
        (0..count).collect()
    }

    pub(crate) fn insert(&mut self, node: usize) {
        self.0 |= Self::bit(node);
    }

    pub(crate) fn remove(&mut self, node: usize) {
        self.0 &= !Self::bit(node);
    }

    pub(crate) const fn contains(self, node: usize) -> bool {
        self.0 & Self::bit(node) != 0
    }

    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in `self` and not in `other`.
    pub(crate) const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
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

/// The masters as configured. Their number never shrinks to those that are up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Membership {
    members: NodeSet,
}

impl Membership {
    /// `count` masters, or `None` for none at all (zero masters would grant everything) and for
    /// more than [`NodeSet::CAPACITY`].
    pub(crate) fn of(count: usize) -> Option<Self> {
        (1..=NodeSet::CAPACITY).contains(&count).then(|| Self { members: NodeSet::first(count) })
    }

    /// `N/2 + 1`: any two quorums of the same membership share a master.
    pub(crate) const fn quorum(self) -> usize {
        self.members.len() / 2 + 1
    }

    /// Whether these masters are a quorum.
    pub(crate) const fn is_quorum(self, nodes: NodeSet) -> bool {
        nodes.intersection(self.members).len() >= self.quorum()
    }

    /// Whether a quorum can still come together without these masters.
    pub(crate) const fn can_spare(self, nodes: NodeSet) -> bool {
        self.is_quorum(self.members.difference(nodes))
    }
}
