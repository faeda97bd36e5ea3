//! The quorum, for every realistic number of masters.

use super::super::{Membership, NodeSet};
use super::masters;

/// Masters, their quorum, and how many of them may be out while the rest is still a quorum.
const QUORUMS: [(usize, usize, usize); 9] = [
    (1, 1, 0),
    (2, 2, 0),
    (3, 2, 1),
    (4, 3, 1),
    (5, 3, 2),
    (6, 4, 2),
    (7, 4, 3),
    (8, 5, 3),
    (9, 5, 4),
];

/// Returns the set whose members are the one-bits of `bits`.
pub(crate) fn set(bits: u32) -> NodeSet {
    (0..32).filter(|node| bits >> node & 1 == 1).collect()
}

/// Returns every set of `count` masters, as bits.
pub(super) fn sets(count: usize) -> std::ops::Range<u32> {
    0..1 << count
}

#[test]
fn a_quorum_is_more_than_half() {
    for (count, quorum, spare) in QUORUMS {
        let membership = masters(count);
        assert_eq!(membership.list().majority(), quorum, "quorum of {count}");
        for bits in sets(count) {
            let (size, nodes) = (bits.count_ones() as usize, set(bits));
            let picture = format!("{bits:0count$b}, quorum {quorum}");
            assert_eq!(membership.is_quorum(nodes), size >= quorum, "is_quorum {picture}");
            assert_eq!(membership.can_spare(nodes), size <= spare, "can_spare {picture}");
        }
    }
}

#[test]
fn any_two_quorums_share_a_master() {
    for (count, ..) in QUORUMS {
        let membership = masters(count);
        let quorums: Vec<u32> =
            sets(count).filter(|&bits| membership.is_quorum(set(bits))).collect();
        assert!(!quorums.is_empty(), "{count} masters have no quorum");
        for &first in &quorums {
            for &second in &quorums {
                assert_ne!(first & second, 0, "{first:0count$b} and {second:0count$b} are apart");
            }
        }
    }
}

#[test]
fn one_more_master_never_breaks_a_quorum() {
    for (count, ..) in QUORUMS {
        let membership = masters(count);
        for bits in sets(count).filter(|&bits| membership.is_quorum(set(bits))) {
            for node in 0..count {
                assert!(membership.is_quorum(set(bits | 1 << node)), "{bits:0count$b} + {node}");
            }
        }
    }
}

#[test]
fn no_master_and_more_than_64_are_refused() {
    assert_eq!(Membership::of(0), None);
    assert_eq!(Membership::of(65), None);
    assert_eq!(Membership::of(usize::MAX), None);
    assert_eq!(masters(64).list().majority(), 33);
    assert!(masters(64).is_quorum((31..64).collect()), "the last place counts");
    assert!(!masters(64).is_quorum((32..64).collect()));
}

#[test]
fn strangers_never_count() {
    let membership = masters(3);
    let strangers: NodeSet = (3..64).collect();
    assert!(!membership.is_quorum(strangers));
    assert!(membership.can_spare(strangers));
}

#[test]
fn the_order_of_a_set_is_irrelevant() {
    let forwards: NodeSet = [0, 2, 4].into_iter().collect();
    for order in [[0, 4, 2], [2, 0, 4], [2, 4, 0], [4, 0, 2], [4, 2, 0]] {
        assert_eq!(order.into_iter().collect::<NodeSet>(), forwards, "{order:?}");
    }
}

#[test]
fn a_set_holds_a_node_once() {
    let mut nodes = NodeSet::EMPTY;
    nodes.insert(2);
    nodes.insert(2);
    assert_eq!(nodes.len(), 1);
    nodes.remove(2);
    assert_eq!(nodes.len(), 0);
    nodes.remove(2);
    assert_eq!(nodes, NodeSet::EMPTY);
}

#[test]
fn a_place_beyond_the_capacity_is_in_no_set() {
    let mut nodes = NodeSet::first(NodeSet::CAPACITY);
    nodes.insert(64);
    nodes.insert(usize::MAX);
    assert_eq!(nodes.len(), 64);
    assert!(nodes.contains(63) && !nodes.contains(64) && !nodes.contains(usize::MAX));
    nodes.remove(64);
    assert_eq!(nodes.len(), 64);
}

#[test]
fn sets_combine_master_by_master() {
    for first in sets(4) {
        for second in sets(4) {
            let picture = format!("{first:04b} {second:04b}");
            assert_eq!(set(first).union(set(second)), set(first | second), "union {picture}");
            assert_eq!(set(first).intersection(set(second)), set(first & second), "both {picture}");
            assert_eq!(set(first).difference(set(second)), set(first & !second), "only {picture}");
        }
        let listed: Vec<usize> = set(first).iter().collect();
        assert!(listed.is_sorted(), "{listed:?}");
        assert_eq!(listed.into_iter().collect::<NodeSet>(), set(first));
    }
}

#[test]
fn a_membership_names_its_lists() {
    let [old, new]: [NodeSet; 2] = [NodeSet::first(3), [1, 2, 3].into_iter().collect()];
    let joint = Membership::joint(old, new).expect("two lists");
    assert_eq!((joint.list(), joint.also()), (old, Some(new)));
    assert!(joint.lists().eq([old, new]));
    let single = Membership::of(3).expect("a list");
    assert_eq!((single.list(), single.also()), (old, None));
    assert!(single.lists().eq([old]));
}
