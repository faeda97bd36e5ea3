//! A lock-delay keeps a lost lock closed: no client wins the resource before the delay is over.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::time::Duration;

struct Closed {
    token: String,
    keys: Vec<String>,
    until: Time,
}

#[derive(Default)]
pub(crate) struct StaysClosed(Vec<Closed>);

impl StaysClosed {
    /// Notes a loss, with a deadline at the moment `deadline`. Clocks run at different speeds: a
    /// little of the delay may be missing, as of the ttl. The drift accounts for that.
    pub(crate) fn lost(&mut self, token: &str, keys: &[&str], deadline: Time, delay: Duration) {
        if delay.is_zero() {
            return;
        }
        let until = deadline + nanos(delay - delay / 100);
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        self.0.push(Closed { token: token.to_owned(), keys, until });
    }

    /// Checks a win. A holder that `is_named`, whose lock was taken away by force, closes nothing.
    pub(crate) fn won(
        &self,
        token: &str,
        keys: &[&str],
        now: Time,
        is_named: impl Fn(&str) -> bool,
    ) -> Verdict {
        for closed in self.0.iter().filter(|one| now < one.until && !is_named(&one.token)) {
            if let Some(key) = keys.iter().find(|key| closed.keys.iter().any(|one| one == *key)) {
                let (left, lost) = (Duration::from_nanos(closed.until - now), &closed.token);
                return Err(format!("{token} has {key}, closed for {left:?} yet by {lost}"));
            }
        }
        Ok(())
    }
}

#[test]
fn a_win_within_the_delay_is_found() {
    let mut closed = StaysClosed::default();
    closed.lost("t", &["a"], 1_000, Duration::from_nanos(100));
    closed.lost("u", &["b"], 1_000, Duration::ZERO);
    assert_eq!(closed.won("2", &["a"], 1_099, |_| false), Ok(()), "as good as over");
    assert_eq!(closed.won("2", &["b"], 1_001, |_| false), Ok(()), "not closed");
    assert_eq!(closed.won("2", &["a"], 1_001, |named| named == "t"), Ok(()), "by force");
    assert!(closed.won("2", &["a", "b"], 1_098, |_| false).is_err());
}
