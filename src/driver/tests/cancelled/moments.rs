//! The moments at which a sweep drops its future: all of them, or a tenth that follows from a seed.

use super::stage::Fault::{self, CutMidway, ScriptsForgotten};
use super::sweep::{Case, LONGEST};
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The variable that is `all`, or the seed of a sample.
const SWEEP: &str = "SWEEP";

/// A sample takes one moment of this many.
const SAMPLE: usize = 10;

/// Operations and faults under which a sweep has found something wrong: these are swept whole, always. A new find gets
/// its line here.
const FOUND: &[(&str, Fault)] = &[
    // A waiter behind a reader slept until its next poll.
    ("read", ScriptsForgotten),
    ("try_read", ScriptsForgotten),
    ("read beside a reader", ScriptsForgotten),
    ("read, the body included", ScriptsForgotten),
    ("extend, of a reader", ScriptsForgotten),
    ("release, of a reader", ScriptsForgotten),
    // The rollback of another client notified no waiter.
    ("acquire, called in turn", CutMidway),
    ("read, the body included", CutMidway),
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Moments {
    All,
    Sample { seed: String },
}

impl Moments {
    /// Returns what the environment asks for.
    pub(super) fn chosen() -> Self {
        match env::var(SWEEP) {
            Ok(all) if all == "all" => Self::All,
            Ok(seed) => Self::Sample { seed },
            Err(_) => Self::Sample { seed: "0".to_owned() },
        }
    }

    /// Returns the numbers of polls after which the future is dropped.
    pub(super) fn of(&self, case: Case<'_>) -> impl Iterator<Item = usize> + use<> {
        let is_found = || FOUND.contains(&(case.operation.what, case.fault));
        let (first, every) = match self {
            Self::Sample { seed } if !is_found() => {
                let mut hasher = DefaultHasher::new();
                (seed, case.to_string()).hash(&mut hasher);
                ((hasher.finish() % SAMPLE as u64) as usize, SAMPLE)
            }
            _ => (0, 1),
        };
        (first..LONGEST).step_by(every)
    }
}

#[test]
fn ten_seeds_that_differ_leave_out_no_moment() {
    let operation = &super::operations::ALL[0];
    let (rival, loses) = (super::sweep::Rival::Here, super::wire::Loses::Nothing);
    let case = Case { operation, fault: Fault::Healthy, rival, loses, leaks: false };
    let mut samples: Vec<Vec<usize>> = (0..1_000)
        .map(|seed| Moments::Sample { seed: seed.to_string() }.of(case).collect())
        .collect();
    samples.sort();
    samples.dedup();
    assert_eq!(samples.len(), SAMPLE);
    let mut taken = samples.concat();
    taken.sort_unstable();
    assert_eq!(taken, Moments::All.of(case).collect::<Vec<_>>());
}

#[test]
fn what_a_sweep_has_found_is_in_every_sample() {
    for (what, fault) in FOUND {
        let operation = super::operations::ALL.iter().find(|operation| operation.what == *what);
        let operation = operation.unwrap_or_else(|| panic!("no operation is named {what}"));
        let (rival, loses) = (super::sweep::Rival::Here, super::wire::Loses::Nothing);
        let case = Case { operation, fault: *fault, rival, loses, leaks: false };
        let sample = Moments::Sample { seed: "any".to_owned() };
        assert!(sample.of(case).eq(Moments::All.of(case)), "{case}");
    }
}
