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
    pub(crate) const fn first(count: usize) -> Self {
        if count < Self::CAPACITY { Self((1 << count) - 1) } else { Self(u64::MAX) }
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

    /// How many of this list are more than half of it.
    pub(crate) const fn majority(self) -> usize {
        self.len() / 2 + 1
    }

    const fn holds_majority(self, list: Self) -> bool {
        self.intersection(list).len() >= list.majority()
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

/// The masters as configured: one list, or two while one takes over from the other. Their number
/// never shrinks to those that are up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Membership {
    list: NodeSet,
    /// The list that has to agree as well. A master that is in both has one place.
    also: Option<NodeSet>,
}

impl Membership {
    /// One list of `count` masters, or `None` for none at all (zero masters would grant everything)
    /// and for more than [`NodeSet::CAPACITY`].
    pub(crate) fn of(count: usize) -> Option<Self> {
        let some = (1..=NodeSet::CAPACITY).contains(&count);
        some.then(|| Self { list: NodeSet::first(count), also: None })
    }

    /// Two lists that must both agree, or `None` if one of them is empty.
    ///
    /// Each is judged by itself: a majority of all masters together can be apart from a majority
    /// of either list ({1,2} and {3,4,5}, of {1,2,3} beside {3,4,5}).
    pub(crate) fn joint(list: NodeSet, also: NodeSet) -> Option<Self> {
        let filled = list != NodeSet::EMPTY && also != NodeSet::EMPTY;
        filled.then_some(Self { list, also: Some(also) })
    }

    pub(crate) const fn list(self) -> NodeSet {
        self.list
    }

    /// The second list, if there is one.
    pub(crate) const fn also(self) -> Option<NodeSet> {
        self.also
    }

    pub(crate) fn lists(self) -> impl Iterator<Item = NodeSet> {
        std::iter::once(self.list).chain(self.also)
    }

    /// Whether these masters are a quorum: a majority of each list. Any two quorums of memberships
    /// that have a list in common share a master of it.
    pub(crate) const fn is_quorum(self, nodes: NodeSet) -> bool {
        nodes.holds_majority(self.list)
            && match self.also {
                Some(also) => nodes.holds_majority(also),
                None => true,
            }
    }

    /// Whether a quorum can still come together without these masters.
    pub(crate) const fn can_spare(self, nodes: NodeSet) -> bool {
        let members = match self.also {
            Some(also) => self.list.union(also),
            None => self.list,
        };
        self.is_quorum(members.difference(nodes))
    }

    /// A letter for each master: `b` is in both lists, `n` in the first alone, `o` in the second
    /// alone; `n` throughout is one list.
    #[cfg(test)]
    pub(crate) fn pictured(lists: &str) -> Self {
        let places = |letters: [char; 2]| lists.match_indices(letters).map(|(at, _)| at).collect();
        let joint = Self::joint(places(['b', 'n']), places(['b', 'o']));
        joint.or(Self::of(lists.len())).unwrap_or_else(|| panic!("{lists} are no lists"))
    }
}
