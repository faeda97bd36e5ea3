//! A lock that was lost stays closed for its lock-delay beyond the deadline. One that ended well, or
//! whose process died, stays closed until its `at_least` is over.

use super::Property;
use crate::plain::config::Config;
use crate::plain::state::State;

pub(crate) fn won(config: &Config, state: &mut State, attempt: usize) {
    let claims = |other: usize| config.attempts[other].claims;
    let closed =
        |other: usize| state.attempts[other].closed > 0 && claims(other) & claims(attempt) != 0;
    if (0..config.attempts.len()).any(|other| other != attempt && closed(other)) {
        state.broken = Property::DelayKept.code();
    }
}
