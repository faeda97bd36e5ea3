//! Judges the masters' answers about one key.

use super::{Holder, LockState};
use quorumlock_core::coordinator::{Mark, Seen, StoredValue};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

/// The value of a key at a master; `None` if the master does not say.
type Found<'a> = Option<Option<&'a StoredValue>>;

pub(super) fn judge(seen: &[(Arc<str>, Seen)], membership: Membership) -> LockState {
    let found = seen.iter().map(|(_, seen)| Some(seen.as_ref().ok()?.as_ref()));
    state(&found.collect::<Vec<_>>(), membership)
}

fn state(found: &[Found<'_>], membership: Membership) -> LockState {
    let is_vacant = |found: &Found<'_>| {
        found.is_some_and(|stored| stored.is_none_or(|stored| stored.value.is_kept()))
    };
    if membership.is_quorum(NodeSet::places(found, is_vacant)) {
        return LockState::Free;
    }
    let mut values: Vec<&Mark> = stored(found).map(|stored| &stored.value).collect();
    // Where one master says that the work has ended, it has, though others were not reached yet.
    values.sort_by_key(|value| !value.has_ended());
    let on = |value: &Mark| {
        NodeSet::places(found, |found| {
            found.flatten().is_some_and(|stored| stored.value.is_of_the_holder_of(value))
        })
    };
    let mut held = values.into_iter().map(|value| (value, on(value)));
    held.find(|(_, on)| membership.is_quorum(*on)).map_or(LockState::Unclear, |(value, on)| {
        let remaining = until_no_quorum(found, membership, on);
        let holder = Holder::of(StoredValue::new(value.clone(), remaining));
        LockState::Held(Holder { readers: readers(found, membership), ..holder })
    })
}

/// Returns the values that masters have.
fn stored<'a>(found: &[Found<'a>]) -> impl Iterator<Item = &'a StoredValue> {
    found.iter().copied().flatten().flatten()
}

/// Returns the readers that a quorum has, the last to end first.
fn readers(found: &[Found<'_>], membership: Membership) -> Vec<Holder> {
    let mut values: Vec<&Mark> = Vec::new();
    for reader in stored(found).flat_map(|stored| &stored.readers) {
        if !values.contains(&&reader.value) {
            values.push(&reader.value);
        }
    }
    let mut readers = Vec::new();
    for value in values {
        // The masters' answers if this reader held the lock alone.
        let alone = found.iter().map(|found| {
            found.map(|stored| stored?.readers.iter().find(|reader| reader.value == *value))
        });
        if let LockState::Held(reader) = state(&alone.collect::<Vec<_>>(), membership) {
            readers.push(reader);
        }
    }
    readers.sort_by_key(|reader| Reverse(reader.remaining));
    readers
}

/// Returns the time after which the remaining nodes of `on` are no longer a quorum.
fn until_no_quorum(
    found: &[Found<'_>],
    membership: Membership,
    mut on: NodeSet,
) -> Option<Duration> {
    let life = |node: usize| Some((found.get(node)?.flatten()?.remaining?, node));
    let mut expiries: Vec<_> = on.iter().filter_map(life).collect();
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
