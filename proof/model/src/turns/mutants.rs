//! Rules of turns that are broken on purpose.

use crate::named::named;

named! {
    pub enum Mutant {
        LookSaysFree: "a look that says free though others are first",
        TryAtEachLook: "a try at each look",
        TryWhenLivesEnd: "a try when the reported lives are over",
        NoFirst: "without the phase first: lives and empty messages pass",
        KeptIsTaken: "a kept key is taken to an extension",
        TopUpIsSet: "a top-up that a kept key refuses",
        RollbackDrops: "a rollback that keeps nothing where it met a holder",
        WithdrawalTells: "a withdrawal that calls where nothing was kept",
        CalledGivesWay: "a called waiter sleeps when a round has others first",
        Silent: "a release that tells no waiter",
        NeverWithdraws: "a waiter that cannot win stays",
        SilenceIsInability: "a waiter that hears no quorum withdraws at once",
        WinnersStay: "a winner stays in the queue",
        RaiseOnly: "tickets only raise",
        LeastStamp: "the ticket is the least stamp",
        ClockAlone: "stamps by the clock alone",
        NoTicket: "no ticket: each master by its own stamps",
        KeptGrants: "a kept key counts as a grant",
        HeadTakesHeld: "the head takes what is held",
        ReleaseUncompared: "a release that does not compare",
        NoGuard: "no restart guard",
        OneIsEnough: "one node is enough",
        KeptShort: "a key is kept for less long than a place lives",
        NothingKept: "nothing is kept",
        EntriesStay: "entries that never expire",
        FrontStays: "a release that cuts no entry but the first",
        FrontNotNotified: "a release that tells none of those whose entry it cuts",
        VacantStays: "a look that cuts no entry where none takes what is vacant",
    }
}
