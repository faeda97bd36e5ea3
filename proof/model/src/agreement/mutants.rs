//! Rules of the agreement that are broken on purpose, each a different use of the core or of the
//! question's script.

use crate::named::named;

named! {
    pub enum Mutant {
        NoTimeLimit: "a confirmation that counts for ever",
        LimitFromTheAnswer: "a confirmation counted from its answer",
        ListsCostOneVote: "lists judged master by master",
        LifeWithoutSlack: "a note that stands for D alone",
        ProlongedOnce: "a note that is never prolonged",
        ReaderNotes: "a reader that notes",
        NoBarrier: "a round before every master has answered",
        OneMoreThanAMajority: "stopped only by one more than a majority",
        NumbersCostOneVote: "other numbers cost one vote",
        NumbersHideLists: "other numbers hide other lists",
        ExtensionUngated: "an extension that asks no master",
        ErrorIsAYes: "an error that confirms",
        WarmingShields: "a warming master is a shield",
        ShieldsWithoutTheTtl: "a shield that need not outlast the ttl",
        ForgottenAtAnyAnswer: "any master's good answer erases earlier reports",
        TopUpUngated: "a top-up that asks no master",
        AnyDisagreementStops: "any disagreement about lists stops a client",
        BriefConfirms: "a round on a brief note",
        UnconfirmedVotes: "a vote counts whatever the answer to the question ahead of it",
        TakenBackWhileKeysStay: "a note taken back while keys stay",
        TakenBackForAll: "one client takes back the note of all clients of its list",
    }
}
