//! What is handed to the owners of locks and waiters.

use super::{Events, Timers};
use crate::master::Masters;
use crate::quorum::Instant;
use crate::shelf::Shelves;
use std::sync::Arc;

/// What a step of an owner may use besides its own state: neither locks nor waiters.
pub(crate) struct Cx {
    /// When the event has come that is being handled.
    pub(crate) now: Instant,
    pub(crate) masters: Masters,
    /// For callers and observers.
    pub(crate) events: Events,
    pub(crate) timers: Timers,
    /// Where holds are that no guard has.
    pub(crate) shelf: Arc<dyn Shelves>,
}
