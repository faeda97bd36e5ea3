//! Rules that are broken on purpose, each a different use of the core or of a script, to show that
//! the properties find it.

use crate::named::named;

named! {
    pub enum Mutant {
        DriftDropped: "drift dropped",
        RollbackSkipped: "rollback skipped",
        NilSettlesHolds: "a nil that settles what a hold tops up later",
        HalfIsAQuorum: "a quorum of N/2",
        ClockStartedLate: "the clock started after the fan-out",
        ExtensionClockStartedLate: "an extension counted from its answers",
        TopUpCounts: "a top-up's own answer counted",
        WarmingHeldCounts: "a warming node's held counted",
        WarmingGrantCounts: "a warming node's grant counted",
        NoRestartGuard: "the restart guard off",
        RestartGuardOneShort: "the restart guard one tick short",
        ExtendedAfterTheDeadline: "an extension after the deadline",
        TokenReused: "a token reused",
        ExtensionShortens: "a ttl that an extension may shorten",
        MajorityOfTheUnion: "a majority of the union of two lists",
        SomeOfSeveral: "of several resources those set that are free",
        DelayedKeysDeleted: "a lost guard deletes keys that have a lock-delay",
        TopUpAtTheFence: "a top-up at the fence, not above it",
        ReleaseRaisesNoFence: "a release that does not raise the fence",
        NoWindow: "ballots without the masters' window",
        FenceExpiresEarly: "a fence kept one tick too short",
        PassedOnWhileHeld: "a lock passed on while its guard still holds",
        ReleaseUncompared: "a release that does not compare",
        DebtsWait: "a release that waits for the next command",
        ForgottenIsDone: "a release that a node did not know taken for done",
        UnsettledCounts: "an adoption on nodes that may get a late SET",
        WarmingSettles: "an adoption on nodes that warmed up at the detachment",
        KeptCounts: "a key that an older client keeps counted as a grant",
        ShortenedTooEarly: "a life shortened to what is left, without the drift",
    }
}
