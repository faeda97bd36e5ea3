//! The properties that must hold after each step, a file for each. They see what callers believe,
//! what is at the masters, and what was written; each is a judge of plain values.

mod as_asked;
mod at_most;
mod bounded;
mod fences_rise;
mod given_back;
mod handed_over;
mod honest_deadline;
mod keeper_ends;
mod let_in;
mod marks_stand;
mod never_reacquired;
mod no_orphan;
mod on_a_quorum;
mod one_holder;
mod order;
mod overdue;
mod own_asks;
mod owner_only;
mod paced;
mod passed_over;
mod served;
mod stays_closed;
mod stays_held;

pub(super) use as_asked::Executed;
pub(super) use at_most::at_most;
pub(super) use bounded::Load;
pub(super) use keeper_ends::KeeperEnds;
pub(super) use let_in::Could;
pub(super) use marks_stand::{Stood, marks_stand};
pub(super) use never_reacquired::Extended;
pub(super) use no_orphan::Left;
pub(super) use on_a_quorum::on_a_quorum;
pub(super) use one_holder::{Holder, one_holder};
pub(super) use owner_only::{Change, OwnerOnly};

use super::agenda::LineId;
use fences_rise::FencesRise;
use given_back::GivenBack;
use handed_over::HandedOver;
use let_in::LetIn;
use never_reacquired::NeverReacquired;
use order::Order;
use overdue::Overdue;
use own_asks::OwnAsks;
use paced::{Paced, Rests};
use passed_over::PassedOver;
use served::Served;
use stays_closed::StaysClosed;
use stays_held::StaysHeld;

pub(super) use honest_deadline::{HonestDeadline, is_reported_in_time};

/// A name under a key of a master, and the connection of its client there.
pub(super) type Unwanted = (LineId, String, String);

/// The violation, if there is one.
pub(super) type Verdict = Result<(), String>;

/// The invariants that have a memory.
#[derive(Default)]
pub(super) struct Invariants {
    pub(super) fences: FencesRise,
    pub(super) never_again: NeverReacquired,
    pub(super) closed: StaysClosed,
    pub(super) owners: OwnerOnly,
    pub(super) own: OwnAsks,
    pub(super) keepers: KeeperEnds,
    pub(super) handed: HandedOver,
    pub(super) order: Order,
    pub(super) paced: Paced,
    /// Of clients without callers.
    pub(super) rests: Rests,
    pub(super) given_back: GivenBack,
    /// Waiters for what is free at a quorum, and at all masters.
    pub(super) let_in_by_a_quorum: LetIn,
    pub(super) let_in: LetIn,
    /// Waiters for what others win.
    pub(super) passed_over: PassedOver,
    /// Holds that a quorum would extend, and bursts.
    pub(super) held: StaysHeld,
    pub(super) served: Served,
    /// Readers that wait beside a reader of their own client.
    pub(super) let_in_beside: LetIn,
    /// Waiters that hear of each release.
    pub(super) called_soon: LetIn,
    /// Writers that wait among readers alone, by client and request.
    pub(super) among_readers: Overdue<(usize, u64)>,
    /// The same while nothing else is wrong.
    pub(super) among_readers_alone: Overdue<(usize, u64)>,
    /// What no caller wants, at a master that its client reaches.
    pub(super) unwanted: Overdue<Unwanted>,
    /// What is kept warm in one client, and asked for by another.
    pub(super) asked_for: Overdue<String>,
    /// Requests without an answer, by client.
    pub(super) unanswered: Overdue<(usize, u64, crate::clock::Time)>,
    /// Masters that a client could reach, and whether it lost a connection that was well.
    pub(super) unreached: Overdue<(usize, usize, bool)>,
    /// Connections on which a master owes an answer.
    pub(super) silent: Overdue<(LineId, crate::clock::Time)>,
    /// Channels to which a client without callers is subscribed.
    pub(super) subscribed: Overdue<(LineId, String)>,
}
