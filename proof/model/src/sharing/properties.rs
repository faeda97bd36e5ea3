//! The properties that must hold between readers and writers, each in every state.

use super::protocol::Sharing;
use super::scripts::MARK;
use super::state::{DOWNGRADE, Node, Phase, RoundPhase, State};
use crate::named::{Named, named};
use crate::net::bit;

named! {
    pub enum Property {
        /// While a writer believes that it holds, no other client does. A guard whose downgrade has
        /// begun is a reader's.
        Exclusion: "no writer beside a valid holder",
        /// Until its deadline a holder's keys are on a quorum, or nodes of that quorum have restarted
        /// and do not vote for as long. A reader's key is the mark, with the reader behind it.
        HonestDeadline: "honest deadline",
        /// On each node the mark stands exactly while there are readers, and expires exactly with the
        /// last of them.
        MarkIsTight: "the mark is the last reader's",
        /// Nothing remains of an attempt that is over, unless its deletion is still owed.
        NothingLeft: "nothing left behind",
        /// Once what is owed is paid, a quorum is free without any waiting.
        FreeAtOnce: "free at once",
        /// After the longest life of a key and the restart guard, a quorum is free.
        FreeInTheEnd: "free in the end",
        /// A downgrade that no node has executed, as all of them say, leaves the write guard as it was.
        NothingDone: "nothing done, nothing changed",
    }
}

impl Property {
    pub const ALWAYS: &[Self] = &[
        Self::Exclusion,
        Self::HonestDeadline,
        Self::MarkIsTight,
        Self::FreeInTheEnd,
        Self::NothingDone,
    ];

    /// With the additional properties of an ordered connection.
    pub const IN_ORDER: &[Self] = &[
        Self::Exclusion,
        Self::HonestDeadline,
        Self::MarkIsTight,
        Self::NothingLeft,
        Self::FreeAtOnce,
        Self::FreeInTheEnd,
        Self::NothingDone,
    ];
}

/// Returns the first property of the run that `state` breaks.
pub(super) fn violated(sharing: &Sharing, state: &State) -> Option<&'static str> {
    let breaks = |property: &Property| match property {
        Property::Exclusion => !one_writer_or_readers(sharing, state),
        Property::HonestDeadline => !keys_stand(sharing, state),
        Property::MarkIsTight => !marks_are_tight(sharing, state),
        Property::NothingLeft => !nothing_is_left(sharing, state),
        Property::FreeAtOnce => {
            !state.actors.iter().any(|actor| actor.crashed) && !sharing.heals(state, false)
        }
        Property::FreeInTheEnd => !sharing.heals(state, true),
        Property::NothingDone => !nothing_done(sharing, state),
    };
    sharing.config.properties.iter().copied().find(breaks).map(Property::words)
}

fn one_writer_or_readers(sharing: &Sharing, state: &State) -> bool {
    let holders =
        || state.actors[..sharing.count()].iter().filter(|actor| actor.phase == Phase::Held);
    holders().all(|actor| actor.reads) || holders().count() == 1
}

fn keys_stand(sharing: &Sharing, state: &State) -> bool {
    (0..sharing.count()).all(|who| {
        let actor = &state.actors[who];
        let stands = |node: &Node| {
            let master = &node.master;
            let alone = master.owner == who as u8 + 1 && master.left >= actor.left;
            let among_readers = master.owner == MARK
                && master.left >= actor.left
                && master.readers[who] >= actor.left
                && actor.reads;
            alone || among_readers
        };
        let keeps_out = |node: &usize| {
            let node = &state.nodes[*node];
            stands(node) || node.warm >= actor.left
        };
        actor.phase != Phase::Held
            || sharing.is_quorum(who, (0..sharing.config.nodes).filter(keeps_out))
    })
}

fn marks_are_tight(sharing: &Sharing, state: &State) -> bool {
    state.nodes[..sharing.config.nodes].iter().all(|node| {
        let last = node.master.readers.into_iter().max().unwrap_or(0);
        if node.master.owner == MARK { last == node.master.left } else { last == 0 }
    })
}

fn nothing_is_left(sharing: &Sharing, state: &State) -> bool {
    state.nodes[..sharing.config.nodes].iter().all(|node| {
        (0..sharing.count()).all(|who| {
            let actor = &state.actors[who];
            let owed = node.sent.release & bit(who) != 0;
            actor.phase != Phase::Over || actor.crashed || owed || !node.master.has(who)
        })
    })
}

fn nothing_done(sharing: &Sharing, state: &State) -> bool {
    (0..sharing.count()).all(|who| {
        let actor = &state.actors[who];
        let open = actor.rounds[DOWNGRADE].phase == RoundPhase::Open;
        let unheard = sharing.is_unheard(state, who, false);
        actor.phase != Phase::Held || !open || !unheard
    })
}
