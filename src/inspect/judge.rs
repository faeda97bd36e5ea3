//! What the masters' answers about one key come to.

use super::{Holder, LockState};
use quorumlock_core::coordinator::{Seen, StoredValue};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn judge(seen: &[(Arc<str>, Seen)], membership: Membership) -> LockState {
    let nodes = |wanted: &dyn Fn(&Seen) -> bool| -> NodeSet {
        let all = seen.iter().enumerate();
        all.filter_map(|(node, (_, seen))| wanted(seen).then_some(node)).collect()
    };
    if membership.is_quorum(nodes(&|seen| matches!(seen, Ok(None)))) {
        return LockState::Free;
    }
    let values = seen.iter().filter_map(|(_, seen)| seen.as_ref().ok()?.as_ref());
    let holds = |standing: &StoredValue, seen: &Seen| matches!(seen, Ok(Some(one)) if one.value == standing.value);
    let held = values
        .map(|standing| (standing, nodes(&|seen| holds(standing, seen))))
        .find(|(_, on)| membership.is_quorum(*on));
    held.map_or(LockState::Unclear, |(standing, on)| {
        let value = standing.value.clone();
        LockState::Held(Holder { value, remaining: until_no_quorum(seen, membership, on) })
    })
}

/// Returns the time after which the remaining nodes of `on` are no longer a quorum.
fn until_no_quorum(
    seen: &[(Arc<str>, Seen)],
    membership: Membership,
    mut on: NodeSet,
) -> Option<Duration> {
    let life =
        |node: usize| seen.get(node).and_then(|(_, seen)| seen.as_ref().ok()?.as_ref()?.remaining);
    let mut expiries: Vec<_> =
        on.iter().filter_map(|node| life(node).map(|left| (left, node))).collect();
    expiries.sort_unstable();
    expiries.into_iter().find_map(|(left, node)| {
        on.remove(node);
        (!membership.is_quorum(on)).then_some(left)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::inspect) fn seen(lives: &[Option<(&str, Option<u64>)>]) -> Vec<(Arc<str>, Seen)> {
        let one = |(node, life): (usize, &Option<(&str, Option<u64>)>)| {
            let standing = life.map(|(value, millis)| StoredValue {
                value: value.into(),
                remaining: millis.map(Duration::from_millis),
            });
            (Arc::from(format!("n{node}")), Ok(standing))
        };
        lives.iter().enumerate().map(one).collect()
    }

    fn state(lives: &[Option<(&str, Option<u64>)>]) -> LockState {
        judge(&seen(lives), Membership::of(lives.len()).unwrap())
    }

    fn held(value: &str, remaining: Option<u64>) -> LockState {
        let remaining = remaining.map(Duration::from_millis);
        LockState::Held(Holder { value: value.into(), remaining })
    }

    #[test]
    fn a_quorum_with_the_same_value_holds_it_until_it_is_none() {
        let (a, b) = (|millis| Some(("a", Some(millis))), |millis| Some(("b", Some(millis))));
        for (lives, expected) in [
            (vec![None, None, a(5)], LockState::Free),
            (vec![a(9), a(5), a(7)], held("a", Some(7))),
            (vec![a(9), a(5), None], held("a", Some(5))),
            (vec![a(9), b(5), None], LockState::Unclear),
            (vec![b(9), a(5), a(3)], held("a", Some(3))),
            (vec![a(1), a(2), None, None], LockState::Unclear),
            (vec![Some(("a", None)), Some(("a", None)), a(4)], held("a", None)),
            (vec![Some(("a", None)), a(2), a(4)], held("a", Some(4))),
        ] {
            assert_eq!(state(&lives), expected, "{lives:?}");
        }
    }
}
