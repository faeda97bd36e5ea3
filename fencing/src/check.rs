//! The check on the protected side, if that side is written in Rust.

use super::{FencingToken, StaleToken};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A record of the greatest token of each resource, which refuses smaller ones. `K` names
/// resources.
///
/// Use it for a protected side that is written in Rust: a server that stores, an actor that sends.
/// Call [`admit`](Self::admit) before each write, *in one critical section with it*. Between a
/// separate check and its write, a later holder may have checked and written. That is why `admit`
/// takes `&mut self`. To share the check between threads, put it into the `Mutex` that guards the
/// data, and hold the lock until the write is done.
///
/// ```
/// use quorumlock_fencing::FenceCheck;
/// use quorumlock_fencing::FencingToken;
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Store {
///     check: FenceCheck<String>,
///     total: u64,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Mutex::new(Store::default());
/// let write = |token: &str, total: u64| -> Result<(), Box<dyn std::error::Error>> {
///     let token: FencingToken = token.parse()?;
///     let mut store = store.lock().map_err(|_| "a writer has panicked")?;
///     store.check.admit("orders:42", token)?;
///     store.total = total;
///     Ok(())
/// };
/// write("7", 100)?;
/// write("7", 110)?; // one holder writes more than once
/// write("9", 50)?; // the next holder
/// let stale = write("7", 120).unwrap_err(); // the first one, after a pause
/// assert!(stale.to_string().starts_with("stale fencing token 7: 9 "));
/// # Ok(())
/// # }
/// ```
///
/// # After a restart
///
/// A forgotten token is admitted again. Store the greatest tokens *with* the data, in the same
/// transaction or file, and rebuild the check from them before the first write:
///
/// ```
/// use quorumlock_fencing::FenceCheck;
/// use quorumlock_fencing::FencingToken;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut check = FenceCheck::new();
/// check.admit("orders:42", FencingToken::try_from(9_u64)?)?;
/// let saved: Vec<(String, u64)> =
///     check.iter().map(|(resource, token): (&String, _)| (resource.clone(), token.as_u64())).collect();
///
/// let restored = saved.into_iter().map(|(resource, token)| Ok((resource, token.try_into()?)));
/// let mut restored: FenceCheck<String> = restored.collect::<Result<_, Box<dyn std::error::Error>>>()?;
/// assert!(restored.admit("orders:42", FencingToken::try_from(7_u64)?).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Memory
///
/// There is one entry per resource. No call forgets a single one: a paused writer may still come for
/// it, however long its lock has been free. If resources come and go without end,
/// [`raise_floor`](Self::raise_floor) drops the old ones and stays safe.
#[derive(Debug, Clone)]
pub struct FenceCheck<K> {
    greatest: HashMap<K, FencingToken>,
    floor: Option<FencingToken>,
}

impl<K: Hash + Eq> FenceCheck<K> {
    /// Returns a check that has seen nothing yet, and so admits any token.
    #[must_use]
    pub fn new() -> Self {
        Self { greatest: HashMap::new(), floor: None }
    }

    /// Admits a write to `resource` under `token`, if no greater token has been seen. An equal one
    /// is admitted: one holder writes more than once.
    ///
    /// This call remembers the token, whatever the outcome of the write.
    ///
    /// # Errors
    ///
    /// [`StaleToken`] if a later holder has been here. Don't write, and inform the writer that its
    /// lock is over. Trying again with the same token is futile.
    pub fn admit<Q>(&mut self, resource: &Q, token: FencingToken) -> Result<(), StaleToken>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        StaleToken::check(token, self.greatest(resource).unwrap_or(token))?;
        self.greatest.insert(resource.to_owned(), token);
        Ok(())
    }

    /// Returns the greatest token seen for `resource`, or the [floor](Self::raise_floor) if that is
    /// greater. Smaller tokens are refused.
    #[must_use]
    pub fn greatest<Q>(&self, resource: &Q) -> Option<FencingToken>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.greatest.get(resource).copied().max(self.floor)
    }

    /// Refuses every token below `floor` from now on, for every resource, and forgets the resources
    /// whose greatest token is below it. The floor never falls.
    ///
    /// Always safe. The price: a holder that has held its lock since before then is refused, even
    /// if no other holder came after it. Tokens are microseconds since 1970, or a little more, so a
    /// floor of "a day ago" is right if no lock is held for a day. Store the floor with the rest.
    pub fn raise_floor(&mut self, floor: FencingToken) {
        self.floor = self.floor.max(Some(floor));
        self.greatest.retain(|_, greatest| Some(*greatest) > self.floor);
    }

    /// Returns the floor: below it every token is refused, whatever the resource.
    #[must_use]
    pub const fn floor(&self) -> Option<FencingToken> {
        self.floor
    }

    /// Returns the greatest token of each resource, in no particular order: the state to store.
    pub fn iter(&self) -> impl Iterator<Item = (&K, FencingToken)> {
        self.greatest.iter().map(|(resource, token)| (resource, *token))
    }
}

impl<K: Hash + Eq> Default for FenceCheck<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// Restores what [`iter`](FenceCheck::iter) returned. Of several tokens of one resource, the
/// greatest counts.
impl<K: Hash + Eq> FromIterator<(K, FencingToken)> for FenceCheck<K> {
    fn from_iter<I: IntoIterator<Item = (K, FencingToken)>>(seen: I) -> Self {
        let mut check = Self::new();
        for (resource, token) in seen {
            let greatest = check.greatest.entry(resource).or_insert(token);
            *greatest = token.max(*greatest);
        }
        check
    }
}

#[cfg(test)]
mod tests {
    use super::{FenceCheck, StaleToken};
    use crate::FencingToken;
    use proptest::prelude::*;

    fn token(number: u64) -> FencingToken {
        FencingToken::try_from(number).unwrap()
    }

    #[test]
    fn a_smaller_token_is_refused_and_an_equal_or_greater_admitted() {
        let mut check: FenceCheck<String> = FenceCheck::new();
        for (number, greatest) in
            [(5, Ok(5)), (5, Ok(5)), (4, Err(5)), (9, Ok(9)), (5, Err(9)), (8, Err(9)), (9, Ok(9))]
        {
            let result = check.admit("a", token(number));
            let stale = |greatest| StaleToken { presented: token(number), greatest };
            assert_eq!(result, greatest.map(drop).map_err(token).map_err(stale), "{number}");
            let (Ok(greatest) | Err(greatest)) = greatest;
            assert_eq!(check.greatest("a"), Some(token(greatest)));
        }
    }

    #[test]
    fn one_resource_says_nothing_of_another() {
        let mut check: FenceCheck<u32> = FenceCheck::new();
        assert_eq!(check.admit(&1, token(9)), Ok(()));
        assert_eq!(check.admit(&2, token(1)), Ok(()));
        assert_eq!(check.greatest(&1), Some(token(9)));
        assert_eq!(check.greatest(&3), None);
    }

    #[test]
    fn the_error_names_both_tokens() {
        let mut check: FenceCheck<String> = [("a".to_owned(), token(9))].into_iter().collect();
        let stale = check.admit("a", token(7)).unwrap_err().to_string();
        assert!(stale.starts_with("stale fencing token 7: 9 has been seen"), "{stale}");
    }

    #[test]
    fn of_several_tokens_restored_the_greatest_counts_in_any_order() {
        for order in [[3, 9, 5], [9, 5, 3], [3, 5, 9]] {
            let check: FenceCheck<&str> =
                order.map(|number| ("a", token(number))).into_iter().collect();
            assert_eq!(check.greatest("a"), Some(token(9)), "{order:?}");
        }
    }

    #[test]
    fn a_floor_forgets_what_is_below_it_and_refuses_it_all_the_same() {
        let old = [("a", token(4)), ("b", token(5)), ("c", token(6))];
        let mut check: FenceCheck<&str> = old.into_iter().collect();
        check.raise_floor(token(5));
        assert_eq!(check.iter().collect::<Vec<_>>(), [(&"c", token(6))]);
        for resource in ["a", "b", "new"] {
            assert_eq!(check.greatest(resource), Some(token(5)));
            assert!(check.admit(&resource, token(4)).is_err(), "{resource}");
            assert_eq!(check.admit(&resource, token(5)), Ok(()), "{resource}");
        }
        assert_eq!(check.greatest("c"), Some(token(6)));
        check.raise_floor(token(2));
        assert_eq!(check.floor(), Some(token(5)), "it never falls");
    }

    proptest! {
        #[test]
        fn a_floor_and_a_restore_admit_nothing_that_was_refused(
            writes in prop::collection::vec((0..4_u8, 1..20_u64), 0..20),
            floor in prop::option::of(1..20_u64), then in prop::collection::vec((0..4_u8, 1..20_u64), 0..20),
        ) {
            let mut whole: FenceCheck<u8> = FenceCheck::new();
            for (resource, number) in writes {
                let _either_way = whole.admit(&resource, token(number));
            }
            let mut other: FenceCheck<u8> =
                whole.iter().map(|(resource, token)| (*resource, token)).collect();
            if let Some(floor) = floor {
                other.raise_floor(token(floor));
            }
            for (resource, number) in then {
                let result = whole.admit(&resource, token(number));
                let above = floor.is_none_or(|floor| number >= floor);
                let expected = if above { result.is_ok() } else { false };
                prop_assert!(result.is_ok() || other.admit(&resource, token(number)).is_err());
                if expected {
                    prop_assert_eq!(other.admit(&resource, token(number)), Ok(()));
                }
            }
        }
    }
}
