//! Two lists that must both agree: which memberships may be in use at the same time.

use super::super::{Membership, NodeSet};
use super::cases;
use super::membership::{set, sets};
use proptest::prelude::*;

/// Returns an old and a new list as bits over all places: the number of old masters, of new ones,
/// and of those that they share.
fn pair(old: usize, new: usize, shared: usize) -> (NodeSet, NodeSet) {
    (set((1 << old) - 1), set(((1 << new) - 1) << (old - shared)))
}

/// Returns all pairs of lists of up to five masters: old, new, shared.
fn pairs() -> impl Iterator<Item = (usize, usize, usize)> {
    let sizes = (1..=5).flat_map(|old| (1..=5).map(move |new| (old, new)));
    sizes.flat_map(|(old, new)| (0..=old.min(new)).map(move |shared| (old, new, shared)))
}

/// Returns one list, at whatever places its masters are.
fn only(list: NodeSet) -> Membership {
    Membership::joint(list, list).unwrap_or_else(|| panic!("an empty list"))
}

fn joint(old: NodeSet, new: NodeSet) -> Membership {
    Membership::joint(new, old).unwrap_or_else(|| panic!("an empty list"))
}

/// Returns a quorum of the one that shares no master with a quorum of the other, if there is any
/// among `places` masters: both would be won.
fn apart(first: Membership, second: Membership, places: usize) -> Option<u32> {
    let beside = |bits: &u32| set(!bits & ((1 << places) - 1));
    sets(places).find(|bits| first.is_quorum(set(*bits)) && second.is_quorum(beside(bits)))
}

/// The lists, the masters that agree, and whether those are a quorum. `b` is in both lists, `n` in
/// the new one alone, `o` in the old one alone.
const QUORUMS: [(&str, &str, bool); 16] = [
    ("bbno", "11__", true),
    ("bbno", "1_11", true),
    ("bbno", "1_1_", false),
    ("bbno", "1__1", false),
    ("bbno", "__11", false),
    ("bbbbno", "111___", true),
    ("bbbbno", "11__1_", false),
    ("bbbbno", "11___1", false),
    ("bbbbno", "11__11", true),
    ("bbbbno", "1___11", false),
    // Three of all five, and one list without a majority.
    ("nnboo", "111__", false),
    ("nnboo", "_111_", true),
    ("nnnooo", "11_11_", true),
    ("nnnooo", "111_1_", false),
    ("bbbnn", "11___", false),
    ("bbbnn", "11_1_", true),
];

#[test]
fn a_quorum_of_two_lists_is_a_majority_of_each() {
    for (lists, who, expected) in QUORUMS {
        let membership = Membership::pictured(lists);
        let nodes: NodeSet = who.match_indices('1').map(|(at, _)| at).collect();
        let others: NodeSet = who.match_indices('_').map(|(at, _)| at).collect();
        assert_eq!(membership.is_quorum(nodes), expected, "{lists} {who}");
        assert_eq!(membership.can_spare(others), expected, "{lists} without all but {who}");
    }
}

/// A client that counts the masters of both lists together would win both. An old-only client needs
/// {1,2}, and the three others are a majority of the five.
#[test]
fn a_majority_of_the_union_is_no_quorum() {
    let (old, new) = pair(3, 3, 1);
    let union = [2, 3, 4].into_iter().collect();
    assert!(old.union(new).len() == 5 && only(old).is_quorum([0, 1].into_iter().collect()));
    assert!(!joint(old, new).is_quorum(union));
    assert!(!joint(old, new).can_spare([0, 1].into_iter().collect()));
}

#[test]
fn a_joint_client_shares_a_master_with_a_client_of_either_list() {
    for (old, new, shared) in pairs() {
        let (places, lists) = (old + new - shared, pair(old, new, shared));
        let both = joint(lists.0, lists.1);
        for (what, other) in [("old", only(lists.0)), ("new", only(lists.1)), ("joint", both)] {
            let apart = apart(both, other, places);
            assert_eq!(apart, None, "joint beside {what}: {old} -> {new}, {shared} shared");
        }
        assert!(both.is_quorum(set(u32::MAX)), "{old} -> {new}, {shared} shared: never won");
    }
}

/// Old masters, new ones, how many they share, and whether clients of the one list and of the other
/// can both win. Without a joint phase between them, that means two holders.
const BESIDE_EACH_OTHER: [(usize, usize, usize, bool); 18] = [
    // One replaced.
    (1, 1, 0, true),
    (2, 2, 1, false),
    (3, 3, 2, true),
    (4, 4, 3, false),
    (5, 5, 4, true),
    // One added or removed.
    (1, 2, 1, false),
    (2, 3, 2, false),
    (3, 4, 3, false),
    (4, 5, 4, false),
    (4, 3, 3, false),
    // Two added or removed.
    (1, 3, 1, true),
    (3, 5, 3, true),
    (5, 3, 3, true),
    (2, 4, 2, false),
    (4, 2, 2, false),
    // Two replaced, and all.
    (4, 4, 2, true),
    (3, 3, 1, true),
    (3, 3, 0, true),
];

#[test]
fn the_old_list_beside_the_new_one_is_safe_for_few_changes() {
    for (old, new, shared, expected) in BESIDE_EACH_OTHER {
        let lists = pair(old, new, shared);
        let apart = apart(only(lists.0), only(lists.1), old + new - shared);
        assert_eq!(apart.is_some(), expected, "{old} -> {new}, {shared} shared: {apart:?}");
    }
}

/// The formula of the model checker's evidence: majorities `q`, `a` removed, `b` added, `s` shared.
#[test]
fn lists_are_apart_exactly_if_shared_masters_fill_both_quorums() {
    const MAJORITIES: [usize; 6] = [0, 1, 2, 2, 3, 3];
    for (old, new, shared) in pairs() {
        let lists = pair(old, new, shared);
        let lacks = |count: usize| MAJORITIES[count].saturating_sub(count - shared);
        let apart = apart(only(lists.0), only(lists.1), old + new - shared);
        let expected = lacks(old) + lacks(new) <= shared;
        assert_eq!(apart.is_some(), expected, "{old} -> {new}, {shared} shared: {apart:?}");
    }
}

#[test]
fn an_empty_list_is_none() {
    assert_eq!(Membership::joint(NodeSet::EMPTY, set(1)), None);
    assert_eq!(Membership::joint(set(1), NodeSet::EMPTY), None);
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn both_lists_count_alike_and_each_by_itself(list in 1..=u32::MAX, also in 1..=u32::MAX, nodes: u32) {
        let (list, also, nodes) = (set(list), set(also), set(nodes));
        let both = joint(list, also);
        let each = only(list).is_quorum(nodes) && only(also).is_quorum(nodes);
        prop_assert_eq!(both.is_quorum(nodes), each);
        prop_assert_eq!(joint(also, list).is_quorum(nodes), each);
        let spared = only(list).can_spare(nodes) && only(also).can_spare(nodes);
        prop_assert_eq!(both.can_spare(nodes), spared);
    }

    #[test]
    fn a_list_beside_itself_changes_nothing(count in 1..=32_usize, nodes: u32) {
        let (alone, nodes) = (super::masters(count), set(nodes));
        let both = only(NodeSet::first(count));
        prop_assert_eq!(both.is_quorum(nodes), alone.is_quorum(nodes));
        prop_assert_eq!(both.can_spare(nodes), alone.can_spare(nodes));
    }

    #[test]
    fn one_more_master_never_breaks_a_quorum(
        list in 1..=u32::MAX, also in 1..=u32::MAX, nodes: u32, more: u32,
    ) {
        let both = joint(set(list), set(also));
        prop_assert!(!both.is_quorum(set(nodes)) || both.is_quorum(set(nodes | more)));
        prop_assert!(!both.can_spare(set(nodes | more)) || both.can_spare(set(nodes)));
    }

    #[test]
    fn two_quorums_with_a_list_in_common_share_a_master_of_it(
        common in 1..=u32::MAX, old in 1..=u32::MAX, new in 1..=u32::MAX, first: u32, second: u32,
    ) {
        let (common, first, second) = (set(common), set(first), set(second));
        let won = |list, nodes| joint(set(list), common).is_quorum(nodes);
        let shared = first.intersection(second).intersection(common);
        prop_assert!(!(won(old, first) && won(new, second)) || shared.len() > 0);
    }
}
