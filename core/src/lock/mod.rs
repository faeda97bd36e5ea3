//! The attempts of this client at locks, those that it holds among them, and the rounds that ask the
//! masters for them.

pub(crate) mod acquire;
pub(crate) mod attempt;
pub(crate) mod downgrade;
pub(crate) mod extend;
mod force_release;
mod hand_over;
mod keeper;
pub(crate) mod purpose;
pub(crate) mod release;

pub(crate) mod round;
mod staying;
pub(crate) mod warm;

pub use hand_over::{Adopted, DetachedFences, DetachedLock, NotAdopted};

pub(crate) use attempt::{Asking, Attempt, Begun, Hold, Stage};
pub(crate) use purpose::{Change, Purpose};
pub(crate) use round::{Rooms, Round, RoundKind};

use crate::shared::{Cx, Table};
use crate::shelf::Unpaid;
use crate::waiting::Waiters;

/// What a step of the locks acts on besides them: what every owner is handed, and those to whom they report.
pub(crate) struct Around {
    pub(crate) cx: Cx,
    pub(crate) waiters: Waiters,
}

/// The locks of this client.
#[derive(Default)]
pub(crate) struct Locks {
    pub(crate) attempts: Table<Attempt>,
    pub(crate) rounds: Table<Round>,
    pub(crate) rooms: Rooms,
    /// Locks that are not kept warm for a while.
    unpaid: Unpaid,
}
