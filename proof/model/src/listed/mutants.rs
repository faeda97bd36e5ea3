//! Rules of waitlists that are broken on purpose.

use crate::named::named;

named! {
    pub enum Mutant {
        NoWatch: "no waiter watches a call",
        NoneListens: "no waiter listens to releases",
        NoneAsks: "no waiter asks the holder",
        LateAsksAreLost: "a client that has just released the lock ignores that others wait",
        CallForGood: "a call counts for good",
        NoPolls: "a waiter far back never asks again",
        ListDecides: "those in front ask no other master",
        OwnCallCounts: "a call counts for its own process, too",
        RefusedStands: "one that is refused the slot for which it was called asks for no other",
        NoneIsPublished: "a call that finds no waiter is not published",
        OverdueStay: "a waiter that has not asked when it was due stays in front",
        StampsAreNew: "a waiter that asks again stands behind all others",
        ClockDecides: "a stamp is what the clock shows",
        PauseOutlastsKey: "a pause does not end with the life of the key",
        GoneIsCalled: "a call reaches a waiter that is gone",
    }
}
