//! Rules of read-write locks that are broken on purpose, each a different use of the core or of a
//! script.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    ReleaseDeletesKey,
    MarkLivesAsLast,
    MarkLivesAsLeast,
    MarkNotTightened,
    WriterBlind,
    ReaderBlind,
    ReadersCounted,
    OneNodeForReader,
    OneNodeForWriter,
    NoRestartGuard,
    RestartGuardOneShort,
    WriterExtendsMark,
    TopUpCounts,
    WarmingHeldCounts,
    GrantKeepsLife,
    ReleasedAsWriter,
    ReleaseLeavesToken,
    RoundsStayOpen,
    VacantConverts,
    ConvertedShortens,
    IrrevocableTooEarly,
    ReturnedTooEasily,
    ReturnedBesideARound,
    ErrorOfASecondCopy,
}

impl Mutant {
    pub const ALL: [Self; 24] = [
        Self::ReleaseDeletesKey,
        Self::MarkLivesAsLast,
        Self::MarkLivesAsLeast,
        Self::MarkNotTightened,
        Self::WriterBlind,
        Self::ReaderBlind,
        Self::ReadersCounted,
        Self::OneNodeForReader,
        Self::OneNodeForWriter,
        Self::NoRestartGuard,
        Self::RestartGuardOneShort,
        Self::WriterExtendsMark,
        Self::TopUpCounts,
        Self::WarmingHeldCounts,
        Self::GrantKeepsLife,
        Self::ReleasedAsWriter,
        Self::ReleaseLeavesToken,
        Self::RoundsStayOpen,
        Self::VacantConverts,
        Self::ConvertedShortens,
        Self::IrrevocableTooEarly,
        Self::ReturnedTooEasily,
        Self::ReturnedBesideARound,
        Self::ErrorOfASecondCopy,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::ReleaseDeletesKey => "a reader's release deletes the key",
            Self::MarkLivesAsLast => "the mark lives as long as who came last",
            Self::MarkLivesAsLeast => "a release leaves the mark the least life of the rest",
            Self::MarkNotTightened => "a release does not tighten the mark",
            Self::WriterBlind => "a writer does not look at readers",
            Self::ReaderBlind => "a reader does not look at writers",
            Self::ReadersCounted => "readers counted and not named",
            Self::OneNodeForReader => "one node enough for a reader",
            Self::OneNodeForWriter => "one node enough for a writer",
            Self::NoRestartGuard => "the restart guard off for readers and writers",
            Self::RestartGuardOneShort => "the guard of readers and writers one tick short",
            Self::WriterExtendsMark => "a writer's extension takes the mark for its own",
            Self::TopUpCounts => "the answer of a reader's top-up counted",
            Self::WarmingHeldCounts => "a warming node's held counted for a reader",
            Self::GrantKeepsLife => "a reader's second grant leaves its life as it is",
            Self::ReleasedAsWriter => "a downgraded guard released as a writer's",
            Self::ReleaseLeavesToken => "a reader's release that leaves a token found alone",
            Self::RoundsStayOpen => "a downgrade that leaves extensions open",
            Self::VacantConverts => "a downgrade that sets what is vacant",
            Self::ConvertedShortens => "a downgrade that may shorten a life",
            Self::IrrevocableTooEarly => "a downgrade irrevocable after errors alone",
            Self::ReturnedTooEasily => {
                "a write guard given back though a master may have converted"
            }
            Self::ReturnedBesideARound => {
                "a write guard given back though a reader's round has begun"
            }
            Self::ErrorOfASecondCopy => "an error that answers a second copy of the downgrade",
        }
    }
}
