//! A lock that was lost stays closed for its lock-delay beyond the deadline. One that ended well, or
//! whose process died, stays closed until its `at_least` is over.

use super::Property;
use crate::plain::config::Config;
use crate::plain::state::State;

pub(crate) fn won(config: &Config, state: &mut State, attempt: usize) {
    let claims = |one: usize| config.attempts[one].claims;
    let closed = |one: usize| state.attempts[one].closed > 0 && claims(one) & claims(attempt) != 0;
    if (0..config.attempts.len()).any(|one| one != attempt && closed(one)) {
        state.broken = Property::DelayKept.code();
    }
}
