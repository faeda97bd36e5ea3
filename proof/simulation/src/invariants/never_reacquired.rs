//! Never re-acquired: what is lost stays lost, and nothing that is over is extended. A deadline
//! never moves back. A lock that is kept warm has its turns in one client, until its release is written.

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
    /// The tokens that were given back, and that their clients keep for their next guards.
    idle: BTreeSet<String>,
}

impl NeverReacquired {
    pub(crate) fn won(&mut self, token: &str) -> Verdict {
        let is_next = self.idle.remove(token) && !self.over.contains(token);
        if self.won.insert(token.to_owned()) || is_next {
            return Ok(());
        }
        Err(format!("{token} was won twice"))
    }

    /// Notes a hold that was given back, and that its client keeps for its next guard.
    pub(crate) fn leaves_idle(&mut self, token: &str) {
        self.idle.insert(token.to_owned());
    }

    pub(crate) fn is_idle(&self, token: &str) -> bool {
        self.idle.contains(token)
    }

    /// Notes that a release is written: no guard may have the lock from then on.
    pub(crate) fn releases(&mut self, token: &str) {
        self.idle.remove(token);
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
    assert_eq!(never.won("u"), Ok(()));
    never.leaves_idle("u");
    assert!(never.is_idle("u") && never.won("u").is_ok(), "the next guard has it");
    assert!(never.won("u").is_err(), "and no other at the same time");
    never.leaves_idle("u");
    never.releases("u");
    assert!(never.won("u").is_err(), "it is released");
}
