//! Judges the masters' answers about one key.

use super::{Holder, LockState, Whose};
use quorumlock_core::coordinator::{Seen, StoredValue};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn judge(seen: &[(Arc<str>, Seen)], membership: Membership) -> LockState {
    let nodes = |wanted: &dyn Fn(&Seen) -> bool| nodes(seen, wanted);
    let vacant = |seen: &Seen| match seen {
        Ok(stored) => stored.as_ref().is_none_or(|stored| stored.value.is_kept()),
        Err(_) => false,
    };
    if membership.is_quorum(nodes(&vacant)) {
        return LockState::Free;
    }
    let values = seen.iter().filter_map(|(_, seen)| seen.as_ref().ok()?.as_ref());
    // Where one master says that the work has ended, it has, though others were not reached yet.
    let mut values: Vec<&StoredValue> = values.collect();
    values.sort_by_key(|stored| !stored.value.has_ended());
    let holds = |standing: &StoredValue, seen: &Seen| matches!(seen, Ok(Some(stored)) if stored.value.is_of_the_holder_of(&standing.value));
    let held = values
        .into_iter()
        .map(|standing| (standing, nodes(&|seen| holds(standing, seen))))
        .find(|(_, on)| membership.is_quorum(*on));
    held.map_or(LockState::Unclear, |(standing, on)| {
        let (value, readers) = (standing.value.clone(), readers(seen, membership));
        LockState::Held(Holder {
            value,
            remaining: until_no_quorum(seen, membership, on),
            readers,
            whose: Whose::default(),
        })
    })
}

/// Returns whether only the waiter that a key is kept for can win: too few nodes have no key
/// at all.
pub(super) fn is_kept(seen: &[(Arc<str>, Seen)], membership: Membership) -> bool {
    !membership.is_quorum(nodes(seen, |seen| matches!(seen, Ok(None))))
}

fn nodes(seen: &[(Arc<str>, Seen)], wanted: impl Fn(&Seen) -> bool) -> NodeSet {
    let all = seen.iter().enumerate();
    all.filter_map(|(node, (_, seen))| wanted(seen).then_some(node)).collect()
}

/// Returns the readers that a quorum has, the last to end first.
fn readers(seen: &[(Arc<str>, Seen)], membership: Membership) -> Vec<Holder> {
    let all = seen.iter().filter_map(|(_, seen)| seen.as_ref().ok()?.as_ref());
    let mut found: Vec<&StoredValue> = Vec::new();
    for reader in all.flat_map(|stored| &stored.readers) {
        if found.iter().all(|other| other.value != reader.value) {
            found.push(reader);
        }
    }
    let mut readers: Vec<Holder> = found
        .into_iter()
        .filter_map(|reader| match judge(&alone(seen, reader), membership) {
            LockState::Held(holder) => Some(holder),
            _ => None,
        })
        .collect();
    readers.sort_by_key(|reader| std::cmp::Reverse(reader.remaining));
    readers
}

/// Returns what the masters would have said if this reader held the lock alone.
fn alone(seen: &[(Arc<str>, Seen)], reader: &StoredValue) -> Vec<(Arc<str>, Seen)> {
    let entry = |stored: &StoredValue| {
        stored.readers.iter().find(|other| other.value == reader.value).cloned()
    };
    let of_node = |(node, seen): &(Arc<str>, Seen)| {
        (node.clone(), seen.clone().map(|stored| stored.as_ref().and_then(entry)))
    };
    seen.iter().map(of_node).collect()
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
    use quorumlock_core::coordinator::SHARED;

    pub(in crate::inspect) fn seen(lives: &[Option<(&str, Option<u64>)>]) -> Vec<(Arc<str>, Seen)> {
        let answer = |(node, life): (usize, &Option<(&str, Option<u64>)>)| {
            let standing = life.map(|(value, millis)| {
                StoredValue::new(value.into(), millis.map(Duration::from_millis))
            });
            (Arc::from(format!("n{node}")), Ok(standing))
        };
        lives.iter().enumerate().map(answer).collect()
    }

    fn state(lives: &[Option<(&str, Option<u64>)>]) -> LockState {
        judge(&seen(lives), Membership::of(lives.len()).unwrap())
    }

    fn held(value: &str, remaining: Option<u64>) -> LockState {
        let remaining = remaining.map(Duration::from_millis);
        LockState::Held(Holder::of(StoredValue::new(value.into(), remaining)))
    }

    #[test]
    fn a_quorum_with_the_same_value_holds_it_until_it_is_none() {
        const DONE: &str = "quorumlock:done:a";
        let (a, b) = (|millis| Some(("a", Some(millis))), |millis| Some(("b", Some(millis))));
        let done = |millis| Some((DONE, Some(millis)));
        for (lives, expected) in [
            (vec![None, None, a(5)], LockState::Free),
            (vec![a(9), a(5), a(7)], held("a", Some(7))),
            (vec![a(9), a(5), None], held("a", Some(5))),
            (vec![a(9), b(5), None], LockState::Unclear),
            (vec![b(9), a(5), a(3)], held("a", Some(3))),
            (vec![a(1), a(2), None, None], LockState::Unclear),
            (vec![Some(("a", None)), Some(("a", None)), a(4)], held("a", None)),
            (vec![Some(("a", None)), a(2), a(4)], held("a", Some(4))),
            (vec![done(9), done(5), done(7)], held(DONE, Some(7))),
            (vec![a(9), done(5), None], held(DONE, Some(5))),
            (vec![a(9), b(4), done(5)], held(DONE, Some(5))),
            (vec![b(9), done(5), None], LockState::Unclear),
        ] {
            assert_eq!(state(&lives), expected, "{lives:?}");
        }
    }
    #[test]
    fn a_reader_is_reported_if_a_quorum_has_it_and_the_last_to_end_first() {
        let read = |readers: &[(&str, u64)]| {
            let mut shared = StoredValue::new(SHARED.into(), Some(Duration::from_millis(90)));
            let reader = |(value, millis): &(&str, u64)| {
                StoredValue::new((*value).into(), Some(Duration::from_millis(*millis)))
            };
            shared.readers = readers.iter().map(reader).collect();
            Ok(Some(shared))
        };
        let answers = [
            read(&[("a", 40), ("b", 70), ("c", 9)]),
            read(&[("b", 80), ("a", 30)]),
            read(&[("d", 5)]),
        ];
        let seen: Vec<_> = answers.into_iter().map(|seen| (Arc::from("n"), seen)).collect();
        let LockState::Held(holder) = judge(&seen, Membership::of(3).unwrap()) else { panic!() };
        let pair = |reader: &Holder| (reader.value.to_string(), reader.remaining.unwrap());
        let of = |value: &str, millis| (value.to_owned(), Duration::from_millis(millis));
        assert_eq!(holder.readers.iter().map(pair).collect::<Vec<_>>(), [of("b", 70), of("a", 30)]);
        assert!(holder.is_shared());
    }
}
