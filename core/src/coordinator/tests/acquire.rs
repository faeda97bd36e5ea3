//! One attempt: the commands sent, and the moment of the win.

use super::{Stage, open, play};
use crate::wire::Login;

#[test]
fn one_set_goes_to_all_at_once_and_the_quorum_th_grant_wins() {
    play(
        5,
        "acquire 1 r
         n1-5 < SET r #1 NX PX 10000
         +1ms
         n4 > ok
         n2 > ok
         = -
         +2ms
         n5 > ok
         = acquired 1 until 9898ms
         n1-5 < -
         n1,n3 > ok                     // stragglers: kept
         n1-5 < -
         drop 1
         n1-5 < EVAL release 1 r #1",
    );
}

#[test]
fn the_deadline_counts_from_before_the_first_byte_is_written() {
    play(
        3,
        "+3ms
         acquire 1 r ttl 1s
         n1-3 < SET r #1 NX PX 1000
         +99ms
         n1 > ok
         +0.000001ms
         n2 > ok
         = acquired 1 until 991ms       // 3 + 1000 - 12, not a nanosecond more
         next 103ms",
    );
}

#[test]
fn a_ttl_is_sent_in_whole_milliseconds_rounded_down() {
    play(
        1,
        "acquire 1 r ttl 1999.999us
         n1 < SET r #1 NX PX 1",
    );
}

#[test]
fn a_nanosecond_of_validity_is_a_win() {
    play(
        3,
        "acquire 1 r ttl 3ms
         n1-3 < SET r #1 NX PX 3
         +0.969999ms
         n1-2 > ok
         = acquired 1 until 0.97ms
         +1ns
         = lost 1: lapsed",
    );
}

#[test]
fn a_round_waits_at_least_1_ms_and_at_most_a_tenth_of_the_ttl() {
    for (ttl, timeout) in [("1s", "100ms"), ("2s", "200ms"), ("60s", "200ms"), ("5ms", "1ms")] {
        play(
            1,
            &format!(
                "acquire 1 r ttl {ttl}
                 n1 < SET ..
                 next {timeout}
                 +{timeout}
                 n1 < EVAL ..
                 = no quorum 1 at 1 after {timeout}: no answer in time"
            ),
        );
    }
}

#[test]
fn late_answers_of_an_old_attempt_change_nothing_in_the_next() {
    play(
        3,
        "acquire 1 r wait 1s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #1
         +2.5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #2 NX PX 10000    // behind the rollback, with a token of its own
         n3 > ok                        // the answer to the first attempt
         n3 > 1                         // and to its rollback
         = -
         n1,n3 > -2
         n1 > ok
         = -
         n3 > ok
         = acquired 1 until 9900.5ms
         n2 > 9000
         n2 > nil
         drop 1
         n1-3 < EVAL release 1 r #2",
    );
}

#[test]
fn without_random_bytes_there_is_no_token_and_no_attempt() {
    let mut stage = open(1);
    stage.steps("jitter none");
    stage.play("acquire 1 r wait 1s \n = no randomness 1 \n n1 < -");
    let mut stage = Stage::new(1, &Login::default());
    stage.steps("n1 opens \n = connected \n acquire 1 r wait 1s \n n1 < SET .. \n n1 > nil");
    stage.play("jitter none \n +10ms \n = no randomness 1");
}

#[test]
fn acquires_do_not_disturb_each_other() {
    play(
        3,
        "acquire 1 r
         acquire 2 s
         acquire 3 t
         n1-3 < SET r #1 NX PX 10000
         n1-3 < SET s #2 NX PX 10000
         n1-3 < SET t #3 NX PX 10000
         n1-2 > ok
         = acquired 1 until 9898ms
         n1-2 > ok
         = acquired 2 until 9898ms
         n1-2 > nil
         n3 < EVAL release 1 t #3
         = contended 3 at 1 after 0ms: held | held | not waited for
         drop 2
         n1-3 < EVAL release 1 s #2",
    );
}
