//! The command's environment variables about its lock.

use crate::output::since_1970;
use std::time::Duration;

/// A name and its value.
pub(super) type Variable = (&'static str, String);

pub(super) type Environment = Vec<Variable>;

const TOKEN: &str = "QUORUMLOCK_FENCING_TOKEN";
const SLOT: &str = "QUORUMLOCK_SLOT";

/// Set only for some locks: a command under another one must not see those of a `quorumlock` around
/// us.
pub(super) const NOT_INHERITED: [&str; 2] = [TOKEN, SLOT];

/// Returns the variable of a fenced lock.
pub(super) fn token(token: u64) -> Variable {
    (TOKEN, token.to_string())
}

/// Returns the variable of a permit.
pub(super) fn slot(slot: usize) -> Variable {
    (SLOT, slot.to_string())
}

/// Returns the environment. Several resources have a line each. The deadline is the current one,
/// and moves on while the lock is kept alive.
pub(super) fn of(
    resources: &[String],
    number: Option<Variable>,
    remaining: Duration,
) -> Environment {
    let mut environment = vec![
        ("QUORUMLOCK_RESOURCE", resources.join("\n")),
        ("QUORUMLOCK_DEADLINE", since_1970().saturating_add(remaining).as_millis().to_string()),
    ];
    environment.extend(number);
    environment
}
