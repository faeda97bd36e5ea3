//! Rules of the agreement that are broken on purpose, each a different use of the core or of the
//! question's script.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    NoTimeLimit,
    LimitFromTheAnswer,
    ListsCostOneVote,
    LifeWithoutSlack,
    ProlongedOnce,
    ReaderNotes,
    NoBarrier,
    OneMoreThanAMajority,
    NumbersCostOneVote,
    NumbersHideLists,
    ExtensionUngated,
    ErrorIsAYes,
    WarmingShields,
    ShieldsWithoutTheTtl,
    ForgottenAtAnyAnswer,
    TopUpUngated,
    AnyDisagreementStops,
    BriefConfirms,
    UnconfirmedVotes,
    TakenBackWhileKeysStay,
    TakenBackForAll,
}

impl Mutant {
    pub const ALL: [Self; 21] = [
        Self::NoTimeLimit,
        Self::LimitFromTheAnswer,
        Self::ListsCostOneVote,
        Self::LifeWithoutSlack,
        Self::ProlongedOnce,
        Self::ReaderNotes,
        Self::NoBarrier,
        Self::OneMoreThanAMajority,
        Self::NumbersCostOneVote,
        Self::NumbersHideLists,
        Self::ExtensionUngated,
        Self::ErrorIsAYes,
        Self::WarmingShields,
        Self::ShieldsWithoutTheTtl,
        Self::ForgottenAtAnyAnswer,
        Self::TopUpUngated,
        Self::AnyDisagreementStops,
        Self::BriefConfirms,
        Self::UnconfirmedVotes,
        Self::TakenBackWhileKeysStay,
        Self::TakenBackForAll,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::NoTimeLimit => "a confirmation that counts for ever",
            Self::LimitFromTheAnswer => "a confirmation counted from its answer",
            Self::ListsCostOneVote => "lists judged master by master",
            Self::LifeWithoutSlack => "a note that stands for D alone",
            Self::ProlongedOnce => "a note that is never prolonged",
            Self::ReaderNotes => "a reader that notes",
            Self::NoBarrier => "a round before every master has answered",
            Self::OneMoreThanAMajority => "stopped only by one more than a majority",
            Self::NumbersCostOneVote => "other numbers cost one vote",
            Self::NumbersHideLists => "other numbers hide other lists",
            Self::ExtensionUngated => "an extension that asks nobody",
            Self::ErrorIsAYes => "an error that confirms",
            Self::WarmingShields => "a warming master is a shield",
            Self::ShieldsWithoutTheTtl => "a shield that need not outlast the ttl",
            Self::ForgottenAtAnyAnswer => "any master's good answer erases what was told",
            Self::TopUpUngated => "a top-up that asks nobody",
            Self::AnyDisagreementStops => "any disagreement about lists stops a client",
            Self::BriefConfirms => "a round on a brief note",
            Self::UnconfirmedVotes => {
                "a vote counts whatever the answer to the question ahead of it"
            }
            Self::TakenBackWhileKeysStay => "a note taken back while keys stay",
            Self::TakenBackForAll => "one client takes back the note of all clients of its list",
        }
    }
}
