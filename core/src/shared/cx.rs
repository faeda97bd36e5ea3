//! What is handed to the owners of locks and waiters.

use super::{Events, Timers};
use crate::master::Masters;
use crate::quorum::Instant;

/// What a step of an owner may use besides its own state: neither locks nor waiters.
pub(crate) struct Cx {
    /// When the event has come that is being handled.
    pub(crate) now: Instant,
    pub(crate) masters: Masters,
    /// For callers and observers.
    pub(crate) events: Events,
    pub(crate) timers: Timers,
}
