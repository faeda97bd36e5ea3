//! Which worlds are matched, and with which pages.

use crate::kinds::Kind;
use crate::nights::Night;
use crate::setup::Setup;
use quorumlock_core::quorum::Membership;

/// Which worlds the page covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Scope {
    Covered,
    /// A flaw is put in by the simulation itself.
    Flawed,
    /// Clients have other numbers than others: of those that they compare, page `agreement` has more than one.
    OtherNumbers,
    /// Clients have several lists, and may be at odds: page `joint`.
    SeveralLists,
    /// Clocks of masters are set back.
    ClocksAreSet,
    /// Many clients wait, and other programs set keys, or let keys of clients stay.
    Jammed,
    /// What stays closed, or becomes a reader's, was taken away by force; or a master hears of it again after its end.
    Forced,
    /// This world was not chosen.
    NotChosen,
}

impl Scope {
    pub(crate) fn of(setup: &Setup) -> Self {
        let kinds = || (0..setup.seats()).map(|seat| setup.kind(seat));
        let numbers = |kind: &Kind| (kind.max_ttl, kind.window, kind.quarantine);
        let first = numbers(setup.kind(0));
        let has_several = |members: Membership| {
            let also = members.also().is_some_and(|also| also != members.list());
            also || members != setup.kind(0).members
        };
        match () {
            () if setup.flaw.is_some() => Self::Flawed,
            () if kinds().any(|kind| numbers(kind) != first) => Self::OtherNumbers,
            () if setup.jam.is_some() || setup.night == Some(Night::DeadAndMute) => Self::Jammed,
            () if kinds().any(|kind| has_several(kind.members)) => Self::SeveralLists,
            () if setup.steps_back => Self::ClocksAreSet,
            () => Self::Covered,
        }
    }

    /// Returns whether such a world is matched with a page, as far as that speaks of it.
    pub(super) fn is_of(self, page: &str) -> bool {
        match self {
            Self::Covered => true,
            Self::ClocksAreSet => page != "readers",
            Self::SeveralLists => page == "joint",
            _ => false,
        }
    }
}
