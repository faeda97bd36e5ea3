//! Never re-acquired: what is lost stays lost, and nothing that is over is extended. A deadline
//! never moves back.

use super::Verdict;
use quorumlock_core::quorum::Instant;
use std::collections::BTreeSet;

/// An extension that the machine reports, on the clock of its client.
pub(crate) struct Extended {
    pub(crate) old: Instant,
    pub(crate) new: Instant,
    pub(crate) now: Instant,
}

#[derive(Default)]
pub(crate) struct NeverReacquired {
    won: BTreeSet<String>,
    over: BTreeSet<String>,
}

impl NeverReacquired {
    pub(crate) fn won(&mut self, token: &str) -> Verdict {
        if self.won.insert(token.to_owned()) {
            return Ok(());
        }
        Err(format!("{token} was won twice"))
    }

    /// Notes a hold that was lost, or given up.
    pub(crate) fn over(&mut self, token: &str) {
        self.over.insert(token.to_owned());
    }

    pub(crate) fn extended(&self, token: &str, extended: &Extended) -> Verdict {
        let Extended { old, new, now } = extended;
        if self.over.contains(token) {
            return Err(format!("{token} was over, and is extended"));
        }
        if now >= old {
            return Err(format!("{token} is extended {:?} after its deadline", now.since(*old)));
        }
        if new < old {
            return Err(format!("{token} has its deadline moved back by {:?}", old.since(*new)));
        }
        Ok(())
    }
}

#[test]
fn what_comes_back_from_the_dead_is_found() {
    let at = Instant::from_nanos;
    let mut never = NeverReacquired::default();
    let extended = |old, new, now| Extended { old: at(old), new: at(new), now: at(now) };
    assert_eq!(never.won("t"), Ok(()));
    assert_eq!(never.extended("t", &extended(10, 20, 9)), Ok(()));
    assert!(never.extended("t", &extended(10, 20, 10)).is_err(), "at its deadline");
    assert!(never.extended("t", &extended(10, 9, 5)).is_err(), "back");
    never.over("t");
    assert!(never.extended("t", &extended(10, 20, 9)).is_err(), "it was lost");
    assert!(never.won("t").is_err(), "won again");
}
