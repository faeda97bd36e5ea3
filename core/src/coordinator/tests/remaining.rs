//! The remaining life of the other client's key: its effect on the pause, and the callers that are
//! shown it.

use super::play;

#[test]
fn a_remaining_life_that_comes_while_waiting_shortens_the_pause() {
    play(
        5,
        "jitter most
         acquire 1 r wait 100s
         n1-5 < SET ..
         n1-3 > nil
         n4-5 < EVAL ..
         n4-5 > nil
         n4-5 > 0
         +5ms
         n1-5 < EVAL look 1 r
         n1-5 < SET r #2 NX PX 10000
         n1 > 7
         n2 > 9
         n3 > -1
         n1-3 > nil
         n4-5 < EVAL ..
         next 15ms                      // two of them are no quorum
         n4 > 8                         // a straggler's counts as well
         next 14ms
         n5 > -2                        // free by now
         next 13ms
         n4-5 > nil                     // which a refusal that comes too late does not change
         next 13ms
         +7.999ms
         n1-5 < -
         +1us
         n1-5 < EVAL look 1 r
         n1-5 < SET r #3 NX PX 10000",
    );
}

#[test]
fn a_remaining_life_counts_though_its_refusal_is_not_awaited() {
    play(
        3,
        "jitter most
         acquire 1 r wait 100s
         n1-3 < SET ..
         n1-2 > nil
         n3 < EVAL ..
         n3 > nil
         n3 > 0
         +5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET ..
         n3 > 8
         n1 > 7
         n2 > -1
         n1-2 > nil
         n3 < EVAL ..
         next 13ms",
    );
}

#[test]
fn a_pause_is_not_lengthened_by_what_comes_late() {
    // How long the acquire waits, the answers of the first two, and the instant of the next
    // attempt, whatever the third answers: after the backoff, once a quorum is free, and at the end
    // of the wait.
    for (wait, first, second, again) in
        [("100s", "9000", "-1", "15ms"), ("100s", "6", "7", "12ms"), ("7ms", "9000", "-1", "7ms")]
    {
        play(
            3,
            &format!(
                "jitter most
                 acquire 1 r wait {wait}
                 n1-3 < SET ..
                 n1-2 > nil
                 n3 < EVAL ..
                 n3 > nil
                 n3 > 0
                 +5ms
                 n1-3 < EVAL look 1 r
                 n1-3 < SET ..
                 n1 > {first}
                 n2 > {second}
                 n1-2 > nil
                 n3 < EVAL ..
                 next {again}
                 n3 > 9000
                 next {again}
                 n3 > nil
                 next {again}
                 n3 > 0
                 cancel 1
                 next 10000ms           // the heartbeat"
            ),
        );
    }
}

/// `n3` owes its answers to the second attempt when the third begins, at 15 ms.
const THE_THIRD_ATTEMPT: &str = "
    n1-3 < SET ..
    n1-2 > nil
    n3 < EVAL ..
    n3 > nil
    n3 > 0
    +5ms
    n1-3 < EVAL look 1 r
    n1-3 < SET ..
    n1-2 > -1
    n1-2 > nil
    n3 < EVAL ..
    +10ms
    n1-3 < EVAL look 1 r
    n1-3 < SET r #3 NX PX 10000";

#[test]
fn an_old_attempts_remaining_life_changes_nothing_in_the_next() {
    play(
        3,
        &format!(
            "jitter most
             acquire 1 r wait 15ms
             {THE_THIRD_ATTEMPT}
             n3 > 900                   // to the second attempt
             n3 > nil
             n3 > 0
             = -
             n3 > -1                    // to the third
             n3 > nil
             n1 > -1
             n1 > nil
             n2 < EVAL ..
             = contended 1 at 3 after 15ms: held | not waited for | held"
        ),
    );
    play(
        3,
        &format!(
            "jitter most
             acquire 1 r wait 100s
             {THE_THIRD_ATTEMPT}
             n1 > 7
             n2 > -1
             n1-2 > nil
             n3 < EVAL ..
             next 35ms
             n3 > 6                     // to the second attempt
             next 35ms
             n3 > nil
             n3 > 0
             n3 > 8                     // to the third
             next 23ms"
        ),
    );
}

#[test]
fn the_failure_tells_how_long_the_other_holds_it() {
    play(
        5,
        "acquire 1 r wait 2ms
         n1-5 < SET ..
         n1-5 > nil
         n4-5 < EVAL ..
         n4-5 > 0
         +2ms
         n1-5 < EVAL look 1 r
         n1-5 < SET r #2 NX PX 10000
         n4 > 1700                      // how long, but not yet that it refuses
         n1 > 1500
         n1 > nil
         n2 > -1
         n2 > nil
         n3 > -NOPERM User ann has no permissions to run the 'pttl' command
         = -
         n3 > nil
         n4-5 < EVAL release 1 r #2
         = contended 1 at 2 after 2ms: held, expires in 1.5 s | held | held | not waited for | \
           not waited for
         n4 > nil
         = -",
    );
}

#[test]
fn a_key_set_between_question_and_refusal_has_no_known_life() {
    play(
        1,
        "acquire 1 r wait 2ms
         n1 < SET ..
         n1 > nil
         +2ms
         n1 < EVAL look 1 r
         n1 < SET r #2 NX PX 10000
         n1 > -2
         n1 > nil
         = contended 1 at 2 after 2ms: held",
    );
}

#[test]
fn a_master_that_granted_is_free_at_once() {
    play(
        3,
        "jitter most
         acquire 1 r wait 100s
         n1-3 < SET ..
         n1-3 > nil
         n3 < EVAL ..
         n3 > 0
         +5ms
         n1-3 < EVAL look ..
         n1-3 < SET ..
         n1 > -2
         n1 > ok
         n2 > 7
         n2 > nil
         n3 > 9
         n3 > nil
         n1 < EVAL ..
         next 12ms",
    );
}
