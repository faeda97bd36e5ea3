//! Fenced acquires: the ballot that goes with them, and the lessons from refusals.

use super::{open, play};

/// The shortest life of a fence, and of a key of the attempt: `D` and a second.
const KEPT: &str = "31302";

#[test]
fn the_clock_is_the_ballot_and_the_ballot_is_the_token() {
    play(
        3,
        &format!(
            "wall 1000000
             acquire 1 r fenced
             n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1000001 2000000 2000000 {KEPT}
             n1-2 > ok
             = acquired 1 until 9898ms with 1000001
             n3 > ok
             acquire 2 s fenced             // the same microsecond
             n1-3 < EVALSHA acquire 2 s fence:s #2 10000 0 1000002 2000000 2000000 {KEPT}
             n1-2 > ok
             = acquired 2 until 9898ms with 1000002
             +5us
             acquire 3 t fenced
             n1-3 < EVALSHA acquire 2 t fence:t #3 10000 0 1000006 ..
             n1-2 > ok
             = acquired 3 .."
        ),
    );
}

#[test]
fn the_release_and_the_rollback_raise_the_fence() {
    play(
        1,
        &format!(
            "wall 5
             acquire 1 r fenced
             n1 < EVALSHA ..
             n1 > ok
             = acquired 1 ..
             release 2 of 1
             n1 < EVAL release_all 2 r fence:r #1 6 2000000 {KEPT}
             n1 > 1
             = released 2
             acquire 3 r fenced
             n1 < EVALSHA ..
             +200ms
             n1 < EVAL release_all 2 r fence:r #2 7 2000000 {KEPT}
             = no quorum 3 .."
        ),
    );
}

#[test]
fn a_stale_ballot_is_made_good_at_once_by_one_attempt() {
    play(
        3,
        "wall 100
         acquire 1 r fenced
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 101 ..
         n1-2 > refuses -1 0 900 120
         n1-3 < EVAL release_all 2 r fence:r #1 101 ..
         n1-3 < EVALSHA acquire 2 r fence:r #2 10000 0 901 ..
         n3 > ok
         n1-3 > 0
         n1-2 > ok
         = acquired 1 until 9898ms with 901",
    );
}

#[test]
fn a_second_stale_answer_means_that_another_client_is_at_it() {
    play(
        1,
        "wall 100
         acquire 1 r fenced
         n1 < EVALSHA ..
         n1 > refuses -1 0 900 120
         n1 < EVAL ..
         n1 < EVALSHA acquire 2 r fence:r #2 10000 0 901 ..
         n1 > 0
         n1 > refuses -1 0 950 121
         n1 < EVAL ..
         = contended 1 at 2 after 0ms: a greater fencing token was there
         n1 > 0",
    );
}

#[test]
fn ballots_refused_repeatedly_are_proposed_ever_less_often() {
    let refused = "n1 < EVALSHA .. \n n1 > refuses -1 0 99000000 100 \n n1 < EVAL .. \n n1 > 0\n";
    let twice = format!("{refused} {refused}");
    let pauses = [(80, 90), (160, 250), (250, 500), (250, 750)];
    let pauses = pauses.map(|(pause, at)| format!("next {at}ms \n +{pause}ms \n {refused}"));
    let script = format!(
        "jitter most
         wall 100
         acquire 1 r fenced wait 10s
         {twice} next 5ms \n +5ms \n {twice} next 10ms \n +5ms \n {refused} {}",
        pauses.concat(),
    );
    play(1, &script);
}

#[test]
fn a_clock_that_is_years_off_is_right_after_one_round() {
    // 2^50 us are 35 years.
    play(
        3,
        "wall 1125899906842624
         acquire 1 r fenced
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1125899906842625 ..
         n1 > refuses -2 0 0 5000000
         n2 > refuses -2 0 0 5000007
         = -                            // all clocks are waited for
         n3 > refuses -2 0 0 5000002
         n1-3 < EVAL ..
         n1-3 < EVALSHA acquire 2 r fence:r #2 10000 0 5000003 ..
         n1-3 > 0
         n1-3 > ok
         = acquired 1 until 9898ms with 5000003
         drop 1
         n1-3 < EVAL ..
         n1-3 > 1
         +1s
         acquire 2 r fenced
         n1-3 < EVALSHA acquire 2 r fence:r #3 10000 0 6000003 ..
         n1-3 > ok
         = acquired 2 ..",
    );
}

#[test]
fn a_clock_only_half_the_masters_let_in_is_right_after_a_round() {
    play(
        2,
        "wall 10000000
         acquire 1 r fenced
         n1-2 < EVALSHA acquire 2 r fence:r #1 10000 0 10000001 ..
         n1 > refuses -2 0 0 7900000        // more than the window behind us
         n2 > ok                            // a little less than that
         n1-2 < EVAL ..
         n1-2 < EVALSHA acquire 2 r fence:r #2 10000 0 7900001 ..
         n1 > 0
         n2 > 1
         n1-2 > ok
         = acquired 1 until 9898ms with 7900001",
    );
}

#[test]
fn masters_whose_clocks_are_too_far_apart_are_a_disagreement() {
    play(
        3,
        "wall 10000000
         acquire 1 r fenced
         n1-3 < EVALSHA ..
         n1 > ok
         n2 > refuses -2 0 0 50000000
         n3 > refuses -2 0 0 90000000
         n1-3 < EVAL ..
         = disagreement 1 at 1 after 0ms: granted | its clock is too far from what was proposed \
           (it shows 1970-01-01T00:00:50.000Z) | its clock is ..
         n1 > 1
         n2-3 > 0",
    );
}

/// A fence that is out of reach is reported before the clock is looked at.
#[test]
fn clocks_apart_are_a_disagreement_even_where_fences_refuse() {
    play(
        3,
        "wall 10000000
         acquire 1 r fenced
         n1-3 < EVALSHA ..
         n1 > ok
         n2 > refuses -1 0 50000000 50000000
         n3 > refuses -1 0 90000000 90000000
         n1-3 < EVAL ..
         = disagreement 1 at 1 after 0ms: granted | a greater fencing token was there | a greater ..
         n1 > 1
         n2-3 > 0",
    );
}

#[test]
fn one_stepped_clock_of_three_costs_its_vote_and_nothing_else() {
    play(
        3,
        "wall 10000000
         acquire 1 r fenced
         n1-3 < EVALSHA ..
         n2 > refuses -2 0 0 50000000
         n1 > ok
         n3 > ok
         = acquired 1 until 9898ms with 10000001",
    );
}

#[test]
fn a_held_lock_tells_how_long_and_teaches_the_next_ballot() {
    let mut stage = open(3);
    stage.play(
        "jitter most
         wall 100
         acquire 1 r fenced wait 1s
         n1-3 < EVALSHA ..
         n1-2 > refuses 0 40 5000 130
         n1-3 < EVAL ..
         n3 > ok
         n1-3 > 0
         next 5ms                       // the first window is shorter than what is left
         +5ms
         n1-3 < EVALSHA acquire 2 r fence:r #2 10000 0 5131 ..
         n1-3 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_forgotten_script_is_loaded_and_the_attempt_made_again() {
    play(
        3,
        "wall 1
         acquire 1 r fenced
         n1-3 < EVALSHA ..
         n1-2 > -NOSCRIPT No matching script. Please use EVAL.
         n1-2 < SCRIPT LOAD acquire
         n1-2 < SCRIPT LOAD extend
         n1-3 < EVAL ..
         n1-3 < EVALSHA ..
         n1-2 > text c0ffee
         n1-2 > text c0ffee
         n3 > ok
         n1-3 > 0
         n1-3 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_top_up_goes_by_the_same_ballot_however_long_ago_it_was_won() {
    play(
        3,
        &format!(
            "wall 7
             acquire 1 r fenced
             n1-3 < EVALSHA ..
             n1-3 > ok
             = acquired 1 until 9898ms with 8
             +8s
             extend 2 of 1
             n1-3 < EVALSHA extend 1 r #1 10000
             n1 > 0
             n2-3 > 1
             = extended 2 ..
             n1 < EVALSHA acquire 2 r fence:r #1 10000 1 8 2000000 2000000 {KEPT}"
        ),
    );
}
