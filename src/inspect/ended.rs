//! A holder whose work has ended well, and that only keeps the resource closed.

use super::Holder;

impl Holder {
    /// Checks whether the work of this holder has ended well, and only keeps the resource closed: see
    /// [`Acquire::min_hold`](crate::Acquire::min_hold). Clients no longer work under the lock.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.owner().is_some_and(|owner| owner.has_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorumlock_core::coordinator::StoredValue;
    use std::time::Duration;

    #[test]
    fn work_that_has_ended_well_only_closes_it() {
        let token = "0123456789abcdef0123456789abcdef";
        let holder =
            |value: &str| Holder::of(StoredValue::new(value.into(), Some(Duration::from_secs(9))));
        let (at_work, ended) = (holder(token), holder(&format!("quorumlock:done:{token}")));
        assert!(ended.has_ended() && !at_work.has_ended() && ended.same_hold_as(&at_work));
        assert!(ended.has_token(), "it is recognized");
        assert_eq!(ended.to_string(), "done, locked for 9 s more (min_hold)");
        let named = holder(&format!("quorumlock:done:{token}:me"));
        assert_eq!(named.to_string(), "done by me, locked for 9 s more (min_hold)");
        assert!(!named.same_hold_as(&ended) && !holder("quorumlock:done:theirs").has_ended());
        assert!(!format!("{ended:?}").contains("0123"));
    }
}
