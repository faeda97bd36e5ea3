//! What is closed stays closed: a lost lock until its delay is over, and a lock that is to stay for
//! some time from its start until that time is over, if its work ends well or its process dies.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeSet;
use std::time::Duration;

struct Closed {
    token: String,
    keys: Vec<String>,
    until: Time,
    /// By a reader, which closes nothing to other readers.
    reads: bool,
}

#[derive(Default)]
pub(crate) struct StaysClosed {
    closed: Vec<Closed>,
    /// What was lost, and is left until it expires.
    left: BTreeSet<String>,
}

impl StaysClosed {
    /// Notes a loss, with a deadline at the moment `deadline`. Clocks run at different speeds: a
    /// little of the delay may be missing, as of the ttl. The drift accounts for that.
    pub(crate) fn lost(
        &mut self,
        (token, reads): (&str, bool),
        keys: &[&str],
        deadline: Time,
        delay: Duration,
    ) {
        if delay.is_zero() {
            return;
        }
        let until = deadline + nanos(delay - delay / 100);
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        self.closed.push(Closed { token: token.to_owned(), keys, until, reads });
    }

    /// Notes a win whose keys stay until then, whatever becomes of its process.
    pub(crate) fn stays(&mut self, token: &str, keys: &[&str], until: Time) {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        self.closed.push(Closed { token: token.to_owned(), keys, until, reads: false });
    }

    /// Notes that another process has a lock now, by whose clock it measures what is left: a little of `span` may
    /// be missing.
    pub(crate) fn adopted(&mut self, token: &str, span: Duration) {
        let of_token = self.closed.iter_mut().filter(|closed| closed.token == token);
        of_token.for_each(|closed| closed.until -= nanos(span / 100));
    }

    /// Notes a loss of what is to stay closed for a while: its keys are left until they expire.
    pub(crate) fn leaves(&mut self, token: &str) {
        self.left.insert(token.to_owned());
    }

    /// Checks that a key which had this value has another one, or none.
    pub(crate) fn goes(&self, key: &str, before: &str) -> Verdict {
        match self.left.contains(before) {
            true => Err(format!("{before} was lost, and {key} is not left to expire")),
            false => Ok(()),
        }
    }

    /// Notes work that has failed: what it has closed is open.
    pub(crate) fn opens(&mut self, token: &str) {
        self.closed.retain(|closed| closed.token != token);
    }

    /// Checks a win. A holder that `is_named`, whose lock was taken away by force, closes nothing.
    pub(crate) fn won(
        &self,
        (token, reads): (&str, bool),
        keys: &[&str],
        now: Time,
        is_named: impl Fn(&str) -> bool,
    ) -> Verdict {
        let is_closed = |closed: &&Closed| !(is_named(&closed.token) || reads && closed.reads);
        for closed in self.closed.iter().filter(|closed| now < closed.until).filter(is_closed) {
            if let Some(key) = keys.iter().find(|key| closed.keys.iter().any(|name| name == *key)) {
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
    closed.lost(("t", false), &["a"], 1_000, Duration::from_nanos(100));
    closed.lost(("u", false), &["b"], 1_000, Duration::ZERO);
    assert_eq!(closed.won(("2", false), &["a"], 1_099, |_| false), Ok(()), "as good as over");
    assert_eq!(closed.won(("2", false), &["b"], 1_001, |_| false), Ok(()), "not closed");
    assert_eq!(closed.won(("2", false), &["a"], 1_001, |named| named == "t"), Ok(()), "by force");
    assert!(closed.won(("2", false), &["a", "b"], 1_098, |_| false).is_err());
}

#[test]
fn a_win_within_the_time_that_keys_stay_is_found_unless_the_work_has_failed() {
    let mut closed = StaysClosed::default();
    closed.stays("t", &["a"], 1_000);
    closed.stays("u", &["b"], 1_000);
    closed.opens("u");
    assert!(closed.won(("2", false), &["a"], 999, |_| false).is_err());
    assert_eq!(closed.won(("2", false), &["a"], 1_000, |_| false), Ok(()), "over");
    assert_eq!(closed.won(("2", false), &["b"], 999, |_| false), Ok(()), "it has failed");
    closed.adopted("t", Duration::from_nanos(500));
    assert!(closed.won(("2", false), &["a"], 994, |_| false).is_err());
    assert_eq!(closed.won(("2", false), &["a"], 995, |_| false), Ok(()), "by another clock");
}

#[test]
fn a_reader_closes_nothing_to_readers() {
    let mut closed = StaysClosed::default();
    closed.lost(("t", true), &["a"], 1_000, Duration::from_nanos(100));
    assert_eq!(closed.won(("2", true), &["a"], 1_001, |_| false), Ok(()));
    assert!(closed.won(("2", false), &["a"], 1_001, |_| false).is_err());
    closed.lost(("u", false), &["b"], 1_000, Duration::from_nanos(100));
    assert!(closed.won(("2", true), &["b"], 1_001, |_| false).is_err());
}
