//! Rules of waiting that are broken on purpose.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    HintNeverSet,
    HintSetOnce,
    HintNeverExpires,
    HintLeftOnWin,
    HintLeftWhenGivenUp,
    HintDeletedWhenGivenUp,
    HintDeletedUncompared,
    HintIgnoredByOne,
    HintReadAtOne,
    RestTooShort,
    SilentDowngrade,
    QueuedWriterSetsNoHint,
}

impl Mutant {
    pub const ALL: [Self; 12] = [
        Self::HintNeverSet,
        Self::HintSetOnce,
        Self::HintNeverExpires,
        Self::HintLeftOnWin,
        Self::HintLeftWhenGivenUp,
        Self::HintDeletedWhenGivenUp,
        Self::HintDeletedUncompared,
        Self::HintIgnoredByOne,
        Self::HintReadAtOne,
        Self::RestTooShort,
        Self::SilentDowngrade,
        Self::QueuedWriterSetsNoHint,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::HintNeverSet => "a hint never set",
            Self::HintSetOnce => "a hint set once and not renewed",
            Self::HintNeverExpires => "a hint that never expires",
            Self::HintLeftOnWin => "a hint left behind by who wins",
            Self::HintLeftWhenGivenUp => "a hint left behind by who gives up",
            Self::HintDeletedWhenGivenUp => "a hint deleted by who gives up",
            Self::HintDeletedUncompared => "a hint deleted without a comparison",
            Self::HintIgnoredByOne => "a hint ignored by one reader",
            Self::HintReadAtOne => "a hint read at one master only",
            Self::RestTooShort => "a hint given up that does not outlast a renewal",
            Self::SilentDowngrade => "a downgrade that tells no reader",
            Self::QueuedWriterSetsNoHint => "a writer in the local queue that sets no hint",
        }
    }
}
