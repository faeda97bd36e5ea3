//! Rules of waiting that are broken on purpose.

use crate::named::named;

named! {
    pub enum Mutant {
        HintNeverSet: "a hint never set",
        HintSetOnce: "a hint set once and not renewed",
        HintNeverExpires: "a hint that never expires",
        HintLeftOnWin: "a hint left behind by a winner",
        HintLeftWhenGivenUp: "a hint left behind by a writer that gives up",
        HintDeletedWhenGivenUp: "a hint deleted by a writer that gives up",
        HintDeletedUncompared: "a hint deleted without a comparison",
        HintIgnoredByOne: "a hint ignored by one reader",
        HintReadAtOne: "a hint read at one master only",
        RestTooShort: "a hint given up that does not outlast a renewal",
        NeverWakes: "a reader that sleeps until a message, whatever it was refused with",
        SilentDowngrade: "a downgrade that tells no reader",
        QueuedWriterSetsNoHint: "a writer in the local queue that sets no hint",
    }
}
