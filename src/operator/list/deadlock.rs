//! Finds processes that may wait for each other, without I/O.

use super::ListedLock;
use crate::report::Escaped;
use quorumlock_core::coordinator::wire::Mailbox;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// A cycle of clients of which each holds a lock that the one before waits for, and waits for a lock that
/// the next one holds. Printed, one line.
///
/// It is possible that none of them goes on before its time limit, and never certain: the guard and the
/// waiter may belong to different tasks of a client, and a waiter may just have given up. Cycles
/// are not broken by force.
///
/// The masters know the waiters for one plain or fenced lock, where they stand in a
/// [waitlist](crate::RedlockBuilder::wake_ups): the first hundred. A waiter of another kind leaves no name, and
/// one for a permit waits for any of several holders: neither is in a cycle. A lock that was
/// [adopted](crate::Redlock::adopt) counts as held by the client that acquired it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleDeadlock {
    held: Vec<(Arc<str>, Option<Arc<str>>)>,
}

/// A wait for a client that holds this lock.
#[derive(Clone, Copy)]
struct Wait<'a> {
    on: Mailbox,
    lock: &'a ListedLock,
}

/// The locks that keep each client waiting.
type Waits<'a> = BTreeMap<Mailbox, Vec<Wait<'a>>>;

impl PossibleDeadlock {
    /// Finds cycles among locks that were [listed](crate::Redlock::list) together: for each client
    /// in a cycle, a shortest cycle, unless a cycle found before has that client, too.
    ///
    /// A list is no snapshot. A cycle found in two lists, one after the other, is more than a
    /// hand-over seen in parts.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::ListError> {
    /// use quorumlock::PossibleDeadlock;
    ///
    /// let (mut list, mut locks) = (redlock.list(""), Vec::new());
    /// while let Some(lock) = list.next().await {
    ///     locks.push(lock?);
    /// }
    /// for deadlock in PossibleDeadlock::among(&locks) {
    ///     eprintln!("{deadlock}");
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn among<'a>(locks: impl IntoIterator<Item = &'a ListedLock>) -> Vec<Self> {
        let waits = waits(locks);
        let (mut cycles, mut known) = (Vec::new(), BTreeSet::new());
        let held = |wait: &Wait<'_>| {
            let owner = wait.lock.holder().owners().find(|owner| owner.mailbox == wait.on);
            (wait.lock.resource().into(), owner.and_then(|owner| owner.label).map(Arc::from))
        };
        for client in waits.keys() {
            if !known.contains(client)
                && let Some(cycle) = shortest(*client, &waits)
            {
                known.extend(cycle.iter().map(|wait| wait.on));
                cycles.push(Self { held: cycle.iter().map(held).collect() });
            }
        }
        cycles
    }

    /// Returns the locked resources: for each, the client that holds the one before waits.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.held.iter().map(|(resource, _)| &**resource)
    }
}

/// Returns for which other clients each client waits.
fn waits<'a>(locks: impl IntoIterator<Item = &'a ListedLock>) -> Waits<'a> {
    let mut waits = Waits::new();
    for lock in locks {
        // Work that has ended waits for nothing, and a waiter for a permit for any of several holders.
        if !lock.is_held() || lock.holder().has_ended() || lock.slot().is_some() {
            continue;
        }
        for waiter in &lock.waiters {
            let holders = lock.holder().owners().map(|owner| owner.mailbox);
            let others = holders.filter(|on| on != waiter).map(|on| Wait { on, lock });
            waits.entry(*waiter).or_default().extend(others);
        }
    }
    waits
}

/// Returns the waits of a shortest way from a client back to it.
fn shortest<'a>(client: Mailbox, waits: &Waits<'a>) -> Option<Vec<Wait<'a>>> {
    let mut reached = BTreeSet::new();
    let mut ways: VecDeque<Vec<Wait<'a>>> = VecDeque::from([Vec::new()]);
    while let Some(way) = ways.pop_front() {
        let waiter = way.last().map_or(client, |wait| wait.on);
        for wait in waits.get(&waiter).into_iter().flatten() {
            if reached.insert(wait.on) {
                let further = [&way[..], &[*wait]].concat();
                if wait.on == client {
                    return Some(further);
                }
                ways.push_back(further);
            }
        }
    }
    None
}

/// Each lock is held by the client that waits for the next one, and the last client waits for the first.
impl fmt::Display for PossibleDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("possibly a deadlock: ")?;
        let nexts = self.held.iter().skip(1).chain(self.held.first());
        for (place, ((resource, label), (next, _))) in self.held.iter().zip(nexts).enumerate() {
            f.write_str(if place == 0 { "the holder of " } else { ", the holder of " })?;
            write!(f, "{:?}", Escaped(resource))?;
            if let Some(label) = label {
                write!(f, " ({})", Escaped(label))?;
            }
            write!(f, " waits for {:?}", Escaped(next))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{Holder, Inspection};
    use proptest::prelude::*;
    use quorumlock_core::coordinator::StoredValue;
    use quorumlock_core::quorum::Membership;
    use std::time::Duration;

    /// A lock that a client holds, for which others wait.
    fn lock(resource: &str, holder: u8, waiters: &[u8]) -> ListedLock {
        let value = format!("{holder:016x}{:016x}:web-{holder}", 7);
        let stored = StoredValue::new(value.into(), Some(Duration::from_secs(9)));
        let seen = vec![("n".into(), Ok(Some(stored.clone())))];
        let membership = Membership::of(1).unwrap();
        let inspection = Inspection::new(resource.into(), resource.into(), seen, membership);
        let waiters = waiters.iter().map(|waiter| mailbox(*waiter)).collect();
        ListedLock { inspection, holder: Holder::of(stored), waiting: None, waiters }
    }

    fn mailbox(client: u8) -> Mailbox {
        Mailbox::at_the_beginning_of(&format!("{client:016x}")).unwrap()
    }

    fn found(locks: &[ListedLock]) -> Vec<String> {
        PossibleDeadlock::among(locks).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn clients_that_wait_for_each_other_are_named_with_what_they_hold() {
        let two = [lock("a", 1, &[2]), lock("b\n", 2, &[1])];
        let expected = "possibly a deadlock: the holder of \"b\\n\" (web-2) waits for \"a\", the holder of \
                        \"a\" (web-1) waits for \"b\\n\"";
        assert_eq!(found(&two), [expected]);
        let three = [lock("a", 1, &[3]), lock("b", 2, &[1, 4]), lock("c", 3, &[2, 5, 1])];
        let cycles = PossibleDeadlock::among(&three);
        let resources: Vec<Vec<_>> =
            cycles.iter().map(|cycle| cycle.resources().collect()).collect();
        assert_eq!(resources, [&["c", "a"][..], &["c", "a", "b"]], "a shortest of each client");
    }

    #[test]
    fn a_chain_is_none_and_neither_is_a_client_that_waits_for_itself() {
        assert!(found(&[lock("a", 1, &[2]), lock("b", 2, &[3]), lock("c", 3, &[])]).is_empty());
        assert!(found(&[lock("a", 1, &[1])]).is_empty());
        assert!(found(&[]).is_empty());
    }

    #[test]
    fn what_is_only_kept_closed_or_free_is_in_no_cycle() {
        let (mut first, second) = (lock("a", 1, &[2]), lock("b", 2, &[1]));
        let ended = format!("quorumlock:done:{:016x}{:016x}", 1, 7);
        let stored = StoredValue::new(ended.into(), Some(Duration::from_secs(9)));
        first.holder = Holder::of(stored);
        assert!(found(&[first, second.clone()]).is_empty());
        let mut free = lock("a", 1, &[2]);
        let membership = Membership::of(1).unwrap();
        free.inspection =
            Inspection::new("a".into(), "a".into(), vec![("n".into(), Ok(None))], membership);
        assert!(found(&[free, second.clone()]).is_empty());
        let mut permit = lock("a", 1, &[2]);
        permit.inspection = permit.inspection.at_slot(Some(0));
        assert!(found(&[permit, second]).is_empty(), "its waiter waits for any of several");
    }

    proptest! {
        /// Every cycle found closes, and one is found exactly if a client can be reached from itself.
        #[test]
        fn a_cycle_is_found_exactly_where_there_is_one(
            drawn in prop::collection::vec((0..6_u8, prop::collection::vec(0..6_u8, 0..3)), 0..7),
        ) {
            let named = drawn.iter().enumerate();
            let locks: Vec<_> = named.map(|(at, (holder, waiters))| lock(&at.to_string(), *holder, waiters)).collect();
            let mut reaches = [[false; 6]; 6];
            for (holder, waiters) in &drawn {
                for waiter in waiters.iter().filter(|waiter| *waiter != holder) {
                    reaches[usize::from(*waiter)][usize::from(*holder)] = true;
                }
            }
            for by in 0..6 {
                for from in 0..6 {
                    for to in 0..6 {
                        reaches[from][to] |= reaches[from][by] && reaches[by][to];
                    }
                }
            }
            let expected = (0..6).any(|client| reaches[client][client]);
            let cycles = PossibleDeadlock::among(&locks);
            prop_assert_eq!(!cycles.is_empty(), expected);
            for cycle in cycles {
                let held: Vec<usize> = cycle.resources().map(|at| at.parse().unwrap()).collect();
                prop_assert!(held.len() >= 2);
                for (at, lock) in held.iter().enumerate() {
                    let next = held[(at + 1) % held.len()];
                    prop_assert!(drawn[next].1.contains(&drawn[*lock].0));
                }
            }
        }
    }
}
