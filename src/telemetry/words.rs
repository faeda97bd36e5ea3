//! The words for outcomes and standings, the same in events and in labels.

use crate::error::{AcquireError, LostReason};
use quorumlock_core::coordinator::{Decided, Margin, Prolonged, Release};

/// Declares words: all of them in order, and each as it is written.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($word:ident = $text:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[cfg_attr(
            not(all(feature = "tracing", feature = "metrics")),
            allow(dead_code, reason = "each feature uses a part of it")
        )]
        pub(crate) enum $name { $($word),+ }

        #[allow(dead_code, reason = "each feature uses a part of it")]
        impl $name {
            pub(super) const ALL: &[Self] = &[$(Self::$word),+];

            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text),+ }
            }
        }
    };
}

words! {
    /// The outcome of an acquire.
    AcquireEnd {
        Acquired = "acquired",
        Contended = "contended",
        NoQuorum = "no_quorum",
        Disagreement = "disagreement",
        Invalid = "invalid",
        Closed = "closed",
        Cancelled = "cancelled",
    }
}

words! {
    /// The outcome of one attempt.
    AttemptEnd {
        Won = "won",
        TooLate = "too_late",
        Contended = "contended",
        NoQuorum = "no_quorum",
        Disagreement = "disagreement",
    }
}

words! {
    /// The reason why a lock was lost.
    LossReason {
        Lapsed = "lapsed",
        QuorumGone = "quorum_gone",
        Closed = "closed",
    }
}

words! {
    /// The outcome of an extension.
    ExtensionEnd {
        Extended = "extended",
        Unconfirmed = "unconfirmed",
        Lost = "lost",
    }
}

words! {
    /// The outcome of a guard that was given up.
    ReleaseEnd {
        Released = "released",
        Unconfirmed = "unconfirmed",
        Lost = "lost",
        Dropped = "dropped",
        Left = "left",
    }
}

words! {
    /// The number of nodes that can be spared.
    Quorum {
        Spare = "spare",
        Bare = "bare",
        None = "none",
    }
}

impl AcquireEnd {
    pub(super) const fn of<T>(result: &Result<T, AcquireError>) -> Self {
        match result {
            Ok(_) => Self::Acquired,
            Err(AcquireError::Contended(_)) => Self::Contended,
            Err(AcquireError::NoQuorum(_)) => Self::NoQuorum,
            Err(AcquireError::Disagreement(_)) => Self::Disagreement,
            Err(AcquireError::Invalid(_)) => Self::Invalid,
            Err(AcquireError::Closed(_)) => Self::Closed,
        }
    }
}

impl LossReason {
    /// Returns `None` for a guard that was given up: nothing is lost by that.
    pub(super) const fn of(reason: &LostReason) -> Option<Self> {
        match reason {
            LostReason::Lapsed => Some(Self::Lapsed),
            LostReason::QuorumGone(_) => Some(Self::QuorumGone),
            LostReason::Closed => Some(Self::Closed),
            LostReason::Released => None,
        }
    }
}

impl From<Decided> for AttemptEnd {
    fn from(decided: Decided) -> Self {
        match decided {
            Decided::Won => Self::Won,
            Decided::TooLate => Self::TooLate,
            Decided::Contended => Self::Contended,
            Decided::NoQuorum => Self::NoQuorum,
            Decided::Disagreement => Self::Disagreement,
        }
    }
}

impl From<Prolonged> for ExtensionEnd {
    fn from(prolonged: Prolonged) -> Self {
        match prolonged {
            Prolonged::Extended => Self::Extended,
            Prolonged::Unconfirmed => Self::Unconfirmed,
            Prolonged::Lost => Self::Lost,
        }
    }
}

impl From<&Release> for ReleaseEnd {
    fn from(release: &Release) -> Self {
        match release {
            Release::Released => Self::Released,
            Release::Lost(_) => Self::Lost,
            Release::Unconfirmed(_) => Self::Unconfirmed,
        }
    }
}

impl From<Margin> for Quorum {
    fn from(margin: Margin) -> Self {
        match margin {
            Margin::Spare => Self::Spare,
            Margin::Bare => Self::Bare,
            Margin::None => Self::None,
        }
    }
}
