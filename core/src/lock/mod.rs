//! The attempts of this client at locks, those that it holds among them, and the rounds that ask the
//! masters for them.

pub(crate) mod acquire;
mod adopt;
pub(crate) mod ask;
pub(crate) mod attempt;
mod detach;
pub(crate) mod downgrade;
pub(crate) mod extend;
pub(crate) mod in_the_way;
pub(crate) mod inspect;
mod keeper;
mod look;
mod probe;
pub(crate) mod purpose;
pub(crate) mod release;
pub(crate) mod remaining;
pub(crate) mod round;
mod staying;
mod top_up;
mod unpaid;
mod wanted;
pub(crate) mod warm;

pub use adopt::{Adopted, NotAdopted};
pub use detach::{DetachedFences, DetachedLock};
pub use inspect::{Beside, Mark, SHARED, Seen, StoredValue, readers_in};

pub(crate) use attempt::{Asking, Attempt, Begun, Hold, Stage};
pub(crate) use inspect::holders_in;
pub(crate) use purpose::{Asker, Change, Purpose};
pub(crate) use round::{Answers, Round, RoundKind};

use crate::shared::{AttemptId, RequestId, Table};
use std::collections::BTreeMap;
use unpaid::Unpaid;

/// The locks of this client.
#[derive(Default)]
pub(crate) struct Locks {
    pub(crate) attempts: Table<Attempt>,
    pub(crate) rounds: Table<Round>,
    /// The rooms of closed rounds' answers, for later rounds.
    pub(crate) rooms: Vec<Answers>,
    /// Locks of other processes that are being adopted.
    pub(crate) adopting: BTreeMap<RequestId, AttemptId>,
    /// Locks that are not kept warm for a while.
    unpaid: Unpaid,
}
