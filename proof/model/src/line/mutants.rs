//! Rules of the line that are broken on purpose.

use crate::named::named;

named! {
    pub enum Mutant {
        AnyGoes: "any waiter that finds the key free goes",
        NotCalledAgain: "a call that a newcomer has beaten is not repeated",
        LateStay: "a waiter that has not asked when it was due stays ahead",
        GoneAreHeard: "a message to a client that has ended counts as heard",
        CallForGood: "a call counts for good",
        LineDecides: "the first asks no other master",
        StampsAreNew: "a waiter that asks again stands behind all others",
        ClockDecides: "a stamp is what the clock shows",
        NoAge: "a waiter that comes from another master stands behind all others",
        NotAskedAgain: "a waiter behind others never asks again",
        NotPassedOn: "a call to a client that does not wait is dropped",
        NotTold: "a holder calls only in the line that it came through",
        ForgetsCall: "a call during an attempt is forgotten",
    }
}
