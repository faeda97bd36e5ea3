//! A release deletes the keys of its own attempt, and no other's.

use super::Property;
use crate::net::bit;
use crate::plain::config::Config;
use crate::plain::state::State;

/// Checks a release of `attempt`. `deleted`: the attempts whose keys it has deleted, as bits.
pub(crate) fn deleted(config: &Config, state: &mut State, attempt: usize, deleted: u8) {
    if deleted & !bit(attempt) != 0 && config.checks(Property::OwnerOnly) {
        state.broken = Property::OwnerOnly.code();
    }
}
