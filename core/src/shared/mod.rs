//! What all rooms share: names of things, parameters, events, and tables.

mod at_least;
mod cx;
pub(crate) mod event;
mod id;
mod invariant;
mod keys;
pub mod label;
mod lately;
pub(crate) mod observe;
mod random;
mod request;
mod settings;
mod slots;
mod table;
mod timers;

pub use at_least::AtLeast;
pub(crate) use cx::Cx;
pub use event::{Action, Event, Extended, Failure, FailureKind, NotExtended, Release};
pub use id::{AttemptId, RequestId, RoundId};
pub use invariant::Invariant;
pub(crate) use keys::More;
pub use keys::{Keys, ReadWrite};
pub use label::{Label, Owner};
pub(crate) use lately::{Lately, MOST_REMEMBERED};
pub(crate) use observe::Events;
pub use observe::{IdleEnd, Observation, WATCHED, Watching};
pub use random::Random;
pub use request::AcquireRequest;
pub use settings::{Rest, Settings, Waitlist, round_timeout};
pub use slots::Slots;
pub(crate) use table::{FEW, Place, Table};
pub(crate) use timers::{Timer, Timers};
