//! Top-ups: missed nodes get the key, and that proves nothing.

use super::play;

/// Three masters; `n1` and `n2` hold `r` for request 1 until 9898 ms, `n3` refused.
fn held(script: &str) {
    let held = "acquire 1 r
                n1-3 < SET r #1 NX PX 10000
                n1-2 > ok
                = acquired 1 until 9898ms
                n3 > nil
                ";
    play(3, &format!("{held}{script}"));
}

#[test]
fn a_vacant_master_gets_the_same_token_once_the_round_is_won() {
    held(
        "+1s
         extend 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n3 > 0
         n1 > 1
         n3 < -
         n2 > 1
         = extended 2 until 10898ms
         n3 < EVAL top_up 1 r #1 10000
         n3 > ok
         extend 3 of 1
         n1-3 < EVALSHA ..
         n3 > 1                         // held, in a later round: now it counts
         n1 > 1
         = extended 3 until 10898ms
         drop 1
         n1-3 < EVAL release 1 r #1",
    );
}

#[test]
fn a_straggler_of_a_round_that_was_won_is_topped_up_as_well() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         n3 < -
         n3 > 0
         n3 < EVAL top_up 1 r #1 10000
         n3 < -",
    );
}

#[test]
fn a_master_down_at_the_acquire_is_topped_up_and_released() {
    play(
        3,
        "n3 breaks
         acquire 1 r
         n1-2 < SET ..
         n1-2 > ok
         = acquired 1 ..
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         n3 > 0
         n3 < EVAL top_up 1 r #1 10000
         release 3 of 1
         n1-3 < EVAL release 1 r #1
         n3 > ok
         n3 > 1
         n1 > 1
         = released 3
         n2 > 1",
    );
}

#[test]
fn a_taken_master_is_asked_as_well() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n3 > -1
         n1-2 > 1
         = extended 2 ..
         n3 < EVAL top_up 1 r #1 10000      // the other may have been rolled back by now
         n3 > 0
         n1-3 < -",
    );
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         n3 > -1
         n3 < EVAL top_up 1 r #1 10000
         n3 > 1",
    );
}

#[test]
fn a_round_that_is_not_won_tops_up_no_master() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n3 > 0
         n1 > 1
         +200ms
         = extend 2 unconfirmed: held by us | no answer in time | no key there
         n2 > 1                         // too late
         n1-3 < -",
    );
}

/// Twenty steps to two holders, if the answer of a top-up counted (FENCING-ADDENDUM, 1).
#[test]
fn a_granted_top_up_counts_for_nothing() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n3 > 0
         n1-2 > 1
         = extended 2 until 9898ms
         n3 < EVAL top_up 1 r #1 10000      // on its way
         +100ms
         extend 3 of 1
         n1-3 < EVALSHA ..
         n2 > 1
         n3 > ok                        // it finds a key that an earlier SET has put there
         = -
         +200ms
         = extend 3 unconfirmed: no answer in time | held by us | no answer in time
         n1,n3 > 1                      // too late
         +9.597999999s
         = -
         +1ns
         = lost 1: lapsed",
    );
}

#[test]
fn a_top_up_that_is_refused_changes_nothing() {
    for refusal in ["nil", "-OOM command not allowed"] {
        held(&format!(
            "extend 2 of 1
             n1-3 < EVALSHA ..
             n1-2 > 1
             = extended 2 ..
             n3 > 0
             n3 < EVAL top_up 1 r #1 10000
             n3 > {refusal}
             drop 1
             n1-3 < EVAL release 1 r #1"
        ));
    }
}

#[test]
fn a_vacant_master_lost_before_the_round_is_won_gets_no_top_up() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n3 > 0
         n3 breaks
         n1-2 > 1
         = extended 2 ..
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < -",
    );
}

#[test]
fn no_master_is_topped_up_after_the_release() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         release 3 of 1
         n1-3 < EVAL release 1 r #1
         n3 > 0
         n3 < -
         n1-2 > 1
         n3 > 0
         = released 3",
    );
}

#[test]
fn no_master_is_topped_up_after_the_loss() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         lapsed 1
         = lost 1: lapsed
         n3 > 0
         n3 < -",
    );
}

#[test]
fn a_top_up_written_before_the_connection_broke_is_released_too() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         n3 > 0
         n3 < EVAL top_up 1 r #1 10000
         n3 breaks
         drop 1
         n1-2 < EVAL release 1 r #1
         debts 3
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < EVAL release 1 r #1",
    );
}

#[test]
fn a_top_up_that_finds_no_script_loads_it_for_the_next_one() {
    play(
        3,
        "acquire 1 r+s
         n1-3 < EVALSHA acquire 2 r s #1 10000 0
         n1-2 > ok
         = acquired 1 until 9898ms
         n3 > nil
         extend 2 of 1
         n1-3 < EVALSHA extend 2 r s #1 10000
         n1-2 > 1
         = extended 2 ..
         n3 > 0
         n3 < EVALSHA acquire 2 r s #1 10000 1
         n3 > -NOSCRIPT No matching script
         n3 < SCRIPT LOAD acquire
         n3 < SCRIPT LOAD extend
         n3 > text c0ffee
         n3 > text c0ffee
         n3 < -                         // a second trip could land behind the release
         extend 3 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 3 ..
         n3 > 0
         n3 < EVALSHA acquire 2 r s #1 10000 1
         n3 > ok",
    );
}

#[test]
fn a_script_found_missing_after_its_round_is_loaded_anyway() {
    play(
        3,
        "acquire 1 r+s
         n1-3 < EVALSHA ..
         n1-2 > ok
         = acquired 1 ..
         +200ms                         // the round is over
         n3 > -NOSCRIPT No matching script
         n3 < SCRIPT LOAD acquire
         n3 < SCRIPT LOAD extend
         n3 > text c0ffee
         n3 > text c0ffee
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         n3 > 0
         n3 < EVALSHA acquire 2 r s #1 10000 1
         n3 > ok",
    );
}

/// Three masters; `n1` and `n2` hold `r` for request 1 with the token 101, and `n3` is to be topped up.
fn fenced(script: &str) {
    let held = "wall 100
                acquire 1 r fenced
                n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 101 ..
                n1-2 > ok
                = acquired 1 until 9898ms with 101
                n3 > refuses 0 5000 900 120
                extend 2 of 1
                n1-3 < EVALSHA extend 1 r #1 10000
                n1-2 > 1
                = extended 2 ..
                n3 > 0
                n3 < EVALSHA acquire 2 r fence:r #1 10000 1 101 ..
                ";
    play(3, &format!("{held}{script}"));
}

#[test]
fn a_fence_that_others_have_raised_does_not_keep_the_holder_out() {
    fenced(
        "n3 > refuses -1 0 900 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200900 ..
         n3 > ok
         extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1 > 1
         n3 > 1
         = extended 3 ..",
    );
}

#[test]
fn a_fence_of_the_holder_itself_does_not_keep_it_out() {
    fenced(
        "n3 > refuses -1 0 101 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200101 ..",
    );
}

#[test]
fn a_top_up_that_is_refused_again_waits_for_the_next_extension() {
    fenced(
        "n3 > refuses -1 0 900 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200900 ..
         n3 > refuses -1 0 300000 120
         n3 < -
         extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n3 > 0
         n1-2 > 1
         = extended 3 ..
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200900 ..
         n3 > refuses -1 0 300000 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 500000 ..
         n3 > ok",
    );
}

#[test]
fn a_release_makes_every_top_up_that_comes_late_stale() {
    fenced(
        "n3 > refuses -1 0 900 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200900 ..
         drop 1
         n1-3 < EVAL release_all 2 r fence:r #1 200900 ..",
    );
}

#[test]
fn nothing_is_sent_again_after_the_release_or_the_loss() {
    for end in ["drop 1 \n n1-3 < EVAL ..", "lapsed 1 \n = lost 1: lapsed"] {
        fenced(&format!(
            "{end}
             n3 > refuses -1 0 900 120
             n3 < -",
        ));
    }
}

#[test]
fn only_a_fence_is_answered_with_a_greater_number() {
    for refusal in ["refuses 0 500 900 120", "refuses -2 0 900 120", "ok", "-OOM no memory"] {
        fenced(&format!("n3 > {refusal} \n n3 < -"));
    }
}

#[test]
fn a_number_that_was_raised_is_below_the_next_token() {
    fenced(
        "n3 > refuses -1 0 900 120
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 200900 ..
         acquire 3 s fenced
         n1-3 < EVALSHA acquire 2 s fence:s #2 10000 0 200901 ..",
    );
}

#[test]
fn the_number_of_a_top_up_is_within_the_window() {
    // Two seconds ahead of the clock of that master, at most, unless its fence is there already.
    for (fence, number) in [(1_900_000, 2_000_120), (2_000_120, 2_000_121)] {
        fenced(&format!(
            "n3 > refuses -1 0 {fence} 120
             n3 < EVALSHA acquire 2 r fence:r #1 10000 1 {number} ..",
        ));
    }
}
