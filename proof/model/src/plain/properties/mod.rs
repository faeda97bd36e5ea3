//! The properties that must hold, a file for each.
//!
//! | property | guarantee in `SAFETY.md` | judged |
//! |---|---|---|
//! | [`exclusion`] | G1 | in every state |
//! | [`deadline`] | G1, G2, G6 | in every state |
//! | [`tokens`] | G11 | at every win |
//! | [`owner`] | G4 | at every release |
//! | never re-acquired | G5, G16 | at every extension and adoption |
//! | [`orphan`] | G3 | in every state |
//! | [`delay`] | G12 | at every win |
//! | [`free`] | G3 | in every state: what follows once the faults are over |
//! | [`forced`] | what `SAFETY.md` says of `force_release` | at every extension |

pub mod deadline;
pub mod delay;
pub mod exclusion;
pub mod forced;
pub mod free;
pub mod orphan;
pub mod owner;
pub mod tokens;

use crate::named::{Named, named};
use crate::plain::protocol::Protocol;
use crate::plain::state::State;

named! {
    pub enum Property {
        Exclusion: "one valid holder",
        HonestDeadline: "honest deadline",
        TokensRise: "tokens rise",
        OwnerOnly: "only the owner releases",
        NeverReacquired: "never re-acquired",
        NoOrphan: "no orphan",
        DelayKept: "closed for the lock-delay",
        FreeAtOnce: "free at once",
        FreeInTheEnd: "free in the end",
        ForcedIsOver: "what was forced is over",
    }
}

impl Property {
    /// The properties for any order of messages.
    pub const ALWAYS: &[Self] = &[
        Self::Exclusion,
        Self::HonestDeadline,
        Self::TokensRise,
        Self::OwnerOnly,
        Self::NeverReacquired,
        Self::DelayKept,
        Self::FreeInTheEnd,
    ];

    /// The additional properties of an ordered connection.
    pub const IN_ORDER: &[Self] = &[
        Self::Exclusion,
        Self::HonestDeadline,
        Self::TokensRise,
        Self::OwnerOnly,
        Self::NeverReacquired,
        Self::NoOrphan,
        Self::DelayKept,
        Self::FreeAtOnce,
        Self::FreeInTheEnd,
    ];

    /// The additional properties of a fence, for any order of messages.
    pub const FENCED: &[Self] = &[
        Self::Exclusion,
        Self::HonestDeadline,
        Self::TokensRise,
        Self::OwnerOnly,
        Self::NeverReacquired,
        Self::NoOrphan,
        Self::FreeInTheEnd,
    ];

    /// Returns the number that marks the property as broken in a state.
    pub(crate) const fn code(self) -> u8 {
        self as u8 + 1
    }
}

/// Returns the first property of the run that `state` breaks.
pub(crate) fn violated(protocol: &Protocol, state: &State) -> Option<&'static str> {
    let by_step = Property::ALL.iter().copied().find(|property| property.code() == state.broken);
    let in_state = |property: &Property| match property {
        Property::Exclusion => !exclusion::holds(protocol, state),
        Property::HonestDeadline => !deadline::holds(protocol, state),
        Property::NoOrphan => !orphan::holds(protocol, state),
        Property::FreeAtOnce => !free::at_once(protocol, state),
        Property::FreeInTheEnd => !free::in_the_end(protocol, state),
        _ => false,
    };
    let checked = protocol.config.properties;
    let by_step = by_step.filter(|property| checked.contains(property));
    by_step.or_else(|| checked.iter().copied().find(in_state)).map(Property::words)
}
