//! Rules of read-write locks that are broken on purpose, each a different use of the core or of a
//! script.

use crate::named::named;

named! {
    pub enum Mutant {
        ReleaseDeletesKey: "a reader's release deletes the key",
        MarkLivesAsLast: "the mark lives as long as the reader that came last",
        MarkLivesAsLeast: "a release leaves the mark the least life of the rest",
        MarkNotTightened: "a release does not tighten the mark",
        WriterBlind: "a writer does not look at readers",
        ReaderBlind: "a reader does not look at writers",
        ReadersCounted: "readers counted and not named",
        OneNodeForReader: "one node enough for a reader",
        OneNodeForWriter: "one node enough for a writer",
        NoRestartGuard: "the restart guard off for readers and writers",
        RestartGuardOneShort: "the guard of readers and writers one tick short",
        WriterExtendsMark: "a writer's extension takes the mark for its own",
        TopUpCounts: "the answer of a reader's top-up counted",
        WarmingHeldCounts: "a warming node's held counted for a reader",
        GrantKeepsLife: "a reader's second grant leaves its life as it is",
        ReleasedAsWriter: "a downgraded guard released as a writer's",
        ReleaseLeavesToken: "a reader's release that leaves a token found alone",
        RoundsStayOpen: "a downgrade that leaves extensions open",
        VacantConverts: "a downgrade that sets what is vacant",
        ConvertedShortens: "a downgrade that may shorten a life",
        IrrevocableTooEarly: "a downgrade irrevocable after errors alone",
        ReturnedTooEasily: "a write guard given back though a master may have converted",
        ReturnedBesideARound: "a write guard given back though a reader's round has begun",
        ErrorOfASecondCopy: "an error that answers a second copy of the downgrade",
    }
}
