//! Rules that are broken on purpose, each a different use of the core or of a script, so that the
//! properties are seen to find it.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    DriftDropped,
    RollbackSkipped,
    HalfIsAQuorum,
    ClockStartedLate,
    ExtensionClockStartedLate,
    TopUpCounts,
    WarmingHeldCounts,
    WarmingGrantCounts,
    NoRestartGuard,
    RestartGuardOneShort,
    ExtendedAfterTheDeadline,
    TokenReused,
    ExtensionShortens,
    MajorityOfTheUnion,
    SomeOfSeveral,
    DelayedKeysDeleted,
    TopUpAtTheFence,
    ReleaseRaisesNoFence,
    NoWindow,
    FenceExpiresEarly,
    PassedOnWhileHeld,
    ReleaseOfAnybody,
}

impl Mutant {
    pub const ALL: [Self; 22] = [
        Self::DriftDropped,
        Self::RollbackSkipped,
        Self::HalfIsAQuorum,
        Self::ClockStartedLate,
        Self::ExtensionClockStartedLate,
        Self::TopUpCounts,
        Self::WarmingHeldCounts,
        Self::WarmingGrantCounts,
        Self::NoRestartGuard,
        Self::RestartGuardOneShort,
        Self::ExtendedAfterTheDeadline,
        Self::TokenReused,
        Self::ExtensionShortens,
        Self::MajorityOfTheUnion,
        Self::SomeOfSeveral,
        Self::DelayedKeysDeleted,
        Self::TopUpAtTheFence,
        Self::ReleaseRaisesNoFence,
        Self::NoWindow,
        Self::FenceExpiresEarly,
        Self::PassedOnWhileHeld,
        Self::ReleaseOfAnybody,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::DriftDropped => "drift dropped",
            Self::RollbackSkipped => "rollback skipped",
            Self::HalfIsAQuorum => "a quorum of N/2",
            Self::ClockStartedLate => "the clock started after the fan-out",
            Self::ExtensionClockStartedLate => "an extension counted from its answers",
            Self::TopUpCounts => "a top-up's own answer counted",
            Self::WarmingHeldCounts => "a warming node's held counted",
            Self::WarmingGrantCounts => "a warming node's grant counted",
            Self::NoRestartGuard => "the restart guard off",
            Self::RestartGuardOneShort => "the restart guard one tick short",
            Self::ExtendedAfterTheDeadline => "an extension after the deadline",
            Self::TokenReused => "a token reused",
            Self::ExtensionShortens => "a ttl that an extension may shorten",
            Self::MajorityOfTheUnion => "a majority of the union of two lists",
            Self::SomeOfSeveral => "of several resources those set that are free",
            Self::DelayedKeysDeleted => "a lost guard deletes keys that have a lock-delay",
            Self::TopUpAtTheFence => "a top-up at the fence, not above it",
            Self::ReleaseRaisesNoFence => "a release that does not raise the fence",
            Self::NoWindow => "ballots without the masters' window",
            Self::FenceExpiresEarly => "a fence kept one tick too short",
            Self::PassedOnWhileHeld => "a lock passed on while its guard still holds",
            Self::ReleaseOfAnybody => "a release that does not compare",
        }
    }
}
