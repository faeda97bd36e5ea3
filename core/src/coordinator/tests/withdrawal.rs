//! A client that ends, or that is not admitted, leaves no note that others would have to respect.

use super::{open, play_from_the_start};

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
                          n1 > confirmed
                          withdraw
                          n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
                          drained false
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
             n2 > confirmed
             = connected
             n2 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
             drained false
             n2 > 1
             drained true"
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
                    n1-2 > confirmed
                    = connected";

#[test]
fn a_client_that_has_withdrawn_notes_nothing_anew() {
    play_from_the_start(
        2,
        &format!(
            "{BOTH}
             withdraw
             n1-2 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
             n1-2 > 1
             drained true
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
             n2 > confirmed
             withdraw
             n1 < -
             n2 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
             n1 > server run1
             n1 > master
             n1 > memory
             n1 > confirmed
             n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
             drained false
             n1-2 > 1
             drained true"
        ),
    );
}

/// What a client has left behind, and for how many ms its notes have to stand: `D` is 30302 ms.
const LEFT: [(&str, &str, u64); 9] = [
    ("acquire 1 r", "drop 1 \n n1 < EVAL release .. \n n1 > 1", 0),
    // Its life is 10 s, and the drift of that 102 ms.
    ("acquire 1 r", "forget 1", 10_102),
    ("acquire 1 r", "+4s \n forget 1", 10_102),
    ("acquire 1 r delay 2s", "lapsed 1 \n = lost .. \n drop 1", 12_122),
    (
        "acquire 1 r least 20s",
        "finish 2 of 1 \n n1 < EVAL shorten .. \n n1 > 1 \n = released 2",
        20_407,
    ),
    ("acquire 1 r", "drop 1 \n n1 < EVAL release ..", 10_102),
    ("acquire 1 r fenced", "drop 1 \n n1 < EVAL release_all .. \n n1 > 1", 30_608),
    // A reader has no fence, but the writer that it was had one.
    (
        "acquire 1 write:r fenced",
        "downgrade 2 of 1 \n n1 < SCRIPT LOAD acquire_read \n n1 < SCRIPT LOAD extend_read \n n1 < EVALSHA extend_read .. \n \
         n1 > text c0ffee \n n1 > text c0ffee \n n1 > 1 \n = downgraded 2 .. \n drop 1 \n n1 < EVAL release_read .. \n n1 > 1",
        30_608,
    ),
    ("acquire 1 r", "detach 2 of 1 \n n1 < EVALSHA .. \n n1 > 1 \n = detached 2", 10_102),
];

#[test]
fn a_client_that_shuts_down_takes_back_its_notes_as_far_as_no_key_stays() {
    for (acquire, end, left) in LEFT {
        let took = if acquire.ends_with("fenced") { "EVALSHA" } else { "SET" };
        let mut stage = open(1);
        stage.steps(&format!(
            "wall 1000 \n {acquire} \n n1 < {took} .. \n n1 > ok \n = acquired 1 .."
        ));
        stage.steps(&format!("{end} \n shutdown"));
        stage.play(&format!("n1 < EVAL withdraw 1 quorumlock:agreement 0 {left} n1"));
    }
}

#[test]
fn a_client_that_still_holds_takes_nothing_back_before_the_hold_is_over() {
    let mut stage = open(1);
    stage.play(
        "acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         shutdown
         n1 < -
         +10s
         n1 beats
         n1 > server run1
         n1 > known
         = lost 1: lapsed
         n1 < -
         drop 1
         n1 < EVAL release ..
         n1 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1
         n1 > 1
         n1 > 1
         n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1
         n1 > 1
         drained true",
    );
}

/// n1 may vote, and n2 is the same server: it has a note of this client, and no vote.
const ONE_IS_UNFIT: &str = "n1 opens
                            n2 < DIAL
                            n2 connects
                            n2 < HELLO ..
                            n2 asks
                            n2 > hello 2
                            n2 > server run1
                            n2 > master
                            n2 > agreed
                            n2 < CLOSE
                            = connected
                            withdraw
                            n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
                            n1 > 1
                            drained false
                            +0ms
                            n2 < DIAL";

#[test]
fn a_master_without_a_vote_is_dialled_for_the_sake_of_its_note() {
    play_from_the_start(
        2,
        &format!(
            "{ONE_IS_UNFIT}
             n2 connects
             n2 < HELLO ..
             n2 asks
             n2 > hello 3
             n2 > server run1
             n2 > master
             n2 > agreed
             n2 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2
             drained false
             n2 > 1
             n2 < CLOSE
             drained true"
        ),
    );
}

#[test]
fn a_note_at_a_master_without_a_vote_is_left_if_it_cannot_be_reached() {
    play_from_the_start(
        2,
        &format!(
            "{ONE_IS_UNFIT}
             drained false
             n2 breaks
             drained true"
        ),
    );
}
