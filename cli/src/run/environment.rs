//! The command's environment variables about its lock.

use super::millis_since_1970;
use std::time::Duration;

/// Names and values.
pub(super) type Environment = Vec<(&'static str, String)>;

/// Returns the environment. Several resources have a line each. The deadline is the current one,
/// and moves on while the lock is kept alive.
pub(super) fn of(resources: &[String], token: Option<u64>, remaining: Duration) -> Environment {
    let mut environment = vec![
        ("QUORUMLOCK_RESOURCE", resources.join("\n")),
        ("QUORUMLOCK_DEADLINE", millis_since_1970(remaining).to_string()),
    ];
    environment.extend(token.map(|token| ("QUORUMLOCK_FENCING_TOKEN", token.to_string())));
    environment
}
