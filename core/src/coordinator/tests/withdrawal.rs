//! A client that is not admitted leaves no note that others would have to respect.

use super::play_from_the_start;

/// n1 has answered, n2 is still being asked.
const ONE_OF_TWO: &str = "n1-2 < DIAL
                          n1-2 connects
                          n1-2 < HELLO ..
                          n1-2 asks
                          n1 > hello 1
                          n1 > server run1
                          n1 > master
                          n1 > memory
                          n1 > text c0ffee
                          n1 > text c0ffee
                          n1 > noted
                          withdraw
                          n1 < EVAL withdraw 1 quorumlock:agreement 1700000000000 ..
                          n1 > 1";

#[test]
fn a_note_from_a_handshake_after_the_withdrawal_is_withdrawn() {
    play_from_the_start(
        2,
        &format!(
            "{ONE_OF_TWO}
             n2 > hello 2
             n2 > server run2
             n2 > master
             n2 > memory
             n2 > text c0ffee
             n2 > text c0ffee
             n2 > noted
             = connected
             n2 < EVAL withdraw 1 quorumlock:agreement 1700000000000 ..
             debts 1
             n2 > 1
             debts 0"
        ),
    );
}

/// Both have answered.
const BOTH: &str = "n1-2 < DIAL
                    n1-2 connects
                    n1-2 < HELLO ..
                    n1-2 asks
                    n1 > hello 1
                    n2 > hello 2
                    n1 > server run1
                    n2 > server run2
                    n1-2 > master
                    n1-2 > memory
                    n1-2 > text c0ffee
                    n1-2 > text c0ffee
                    n1-2 > noted
                    = connected";

#[test]
fn who_has_withdrawn_notes_nothing_anew() {
    play_from_the_start(
        2,
        &format!(
            "{BOTH}
             withdraw
             n1-2 < EVAL withdraw 1 quorumlock:agreement 1700000000000 ..
             n1-2 > 1
             debts 0
             +10s
             n1-2 < -
             +10s
             n1-2 < -"
        ),
    );
}

#[test]
fn a_note_that_is_prolonged_in_flight_is_withdrawn_afterwards() {
    play_from_the_start(
        2,
        &format!(
            "{BOTH}
             +10s
             n1-2 beats
             n2 > server run2
             n2 > master
             n2 > memory
             n2 > prolonged
             withdraw
             n1 < -
             n2 < EVAL withdraw 1 quorumlock:agreement 1700000012000 ..
             n1 > server run1
             n1 > master
             n1 > memory
             n1 > prolonged
             n1 < EVAL withdraw 1 quorumlock:agreement 1700000012000 ..
             debts 2
             n1-2 > 1
             debts 0"
        ),
    );
}
