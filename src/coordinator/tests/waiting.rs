//! Between attempts: how long, until when, and what ends the wait early.

use super::words::reply;
use super::{Stage, open, play};

/// The longest that jitter can pick.
const LONGEST: u64 = u64::MAX;

/// The next attempt is refused by all three, which say how long yet.
fn refuse(stage: &mut Stage, remaining: [&str; 3]) {
    for node in 0..3 {
        let sent: Vec<String> = stage.wires[node].unseen.drain(..).collect();
        for asked in sent {
            let told = match asked.split(' ').next() {
                Some("SET") => "nil",
                Some("PTTL") => remaining[node],
                Some("EVAL") => "0",
                _ => panic!("{asked}"),
            };
            stage.says(node, &reply(told));
        }
    }
}

#[test]
fn the_pause_doubles_up_to_its_cap() {
    let mut stage = open(3);
    stage.steps(&format!("jitter {LONGEST} \n acquire 1 r wait 100s"));
    for pause in [5, 10, 20, 40, 80, 160, 250, 250, 250] {
        refuse(&mut stage, ["-1", "-1", "-1"]);
        refuse(&mut stage, ["-1", "-1", "-1"]); // the rollback
        stage.steps(&format!("+{pause}ms"));
        let early = stage.wires[0].unseen.is_empty();
        assert!(!early, "no attempt after {pause} ms");
        let sent: Vec<_> = stage.wires.iter().map(|wire| wire.unseen.len()).collect();
        assert_eq!(sent, [2, 2, 2], "PTTL and SET after {pause} ms");
    }
}

#[test]
fn the_pause_is_jittered_down_to_nothing() {
    for (jitter, pause) in [(0, "0ns"), (1 << 62, "1.25ms"), (LONGEST, "5ms")] {
        let mut stage = open(1);
        stage.steps(&format!("jitter {jitter} \n acquire 1 r wait 1s \n n1 < SET .. \n n1 > nil"));
        stage.steps(&format!("n1 < EVAL .. \n next {}", pause.replace("0ns", "0ms")));
        stage.steps(&format!("+{pause} \n n1 < PTTL r \n n1 < SET r #2 NX PX 10000"));
    }
}

/// What the three masters say is left, and the pause where backoff alone would make it 80 ms.
const CEILINGS: [([&str; 3], u64); 9] = [
    (["-1", "-1", "-1"], 80),
    (["-1", "30", "-1"], 80), // one of them is no quorum
    (["30", "40", "9000"], 40),
    (["9000", "30", "40"], 40),
    (["30", "9000", "9000"], 80),
    (["40", "40", "40"], 40),
    (["0", "0", "9000"], 5),    // free by now: a step of jitter all the same
    (["-2", "-2", "9000"], 80), // taken since: by whom they said nothing
    (["3", "2", "9000"], 5),
];

#[test]
fn the_pause_is_never_longer_than_until_a_quorum_is_free() {
    for (remaining, pause) in CEILINGS {
        let mut stage = open(3);
        stage.steps(&format!("jitter {LONGEST} \n acquire 1 r wait 100s"));
        for earlier in [5, 10, 20, 40] {
            refuse(&mut stage, ["-1", "-1", "-1"]);
            refuse(&mut stage, ["-1", "-1", "-1"]);
            stage.steps(&format!("+{earlier}ms"));
        }
        refuse(&mut stage, remaining);
        refuse(&mut stage, remaining);
        stage.steps(&format!("+{}.999ms", pause - 1));
        assert_eq!(stage.wires[0].unseen.len(), 0, "{remaining:?} before {pause} ms");
        stage.steps("+1us");
        assert_eq!(stage.wires[0].unseen.len(), 2, "{remaining:?} after {pause} ms");
    }
}

#[test]
fn a_remaining_life_that_comes_while_waiting_shortens_the_pause() {
    play(
        5,
        &format!(
            "jitter {LONGEST}
             acquire 1 r wait 100s
             n1-5 < SET ..
             n1-3 > nil
             n1-5 < EVAL ..
             n4-5 > nil
             n1-5 > 0
             +5ms
             n1-5 < PTTL r
             n1-5 < SET r #2 NX PX 10000
             n1 > 7
             n2 > 9
             n3 > -1
             n1-3 > nil
             n1-5 < EVAL ..
             next 15ms                  // two of them are no quorum
             n4 > 8                     // a straggler's counts as well
             next 14ms
             n5 > -2                    // free by now
             next 13ms
             n4-5 > nil                 // which a refusal that comes too late does not change
             next 13ms
             +7.999ms
             n1-5 < -
             +1us
             n1-5 < PTTL r
             n1-5 < SET r #3 NX PX 10000"
        ),
    );
}

#[test]
fn a_remaining_life_whose_refusal_was_not_waited_for_shortens_the_pause_too() {
    play(
        3,
        &format!(
            "jitter {LONGEST}
             acquire 1 r wait 100s
             n1-3 < SET ..
             n1-2 > nil
             n1-3 < EVAL ..
             n3 > nil
             n1-3 > 0
             +5ms
             n1-3 < PTTL r
             n1-3 < SET ..
             n3 > 8
             n1 > 7
             n2 > -1
             n1-2 > nil
             n1-3 < EVAL ..
             next 13ms"
        ),
    );
}

#[test]
fn a_pause_is_not_lengthened_by_what_comes_late() {
    // For how long it waits, what the first two say, and when it tries again whatever the third
    // says: after the backoff, once a quorum is free, and at the end of the wait.
    for (wait, first, second, again) in
        [("100s", "9000", "-1", "15ms"), ("100s", "6", "7", "12ms"), ("7ms", "9000", "-1", "7ms")]
    {
        play(
            3,
            &format!(
                "jitter {LONGEST}
                 acquire 1 r wait {wait}
                 n1-3 < SET ..
                 n1-2 > nil
                 n1-3 < EVAL ..
                 n3 > nil
                 n1-3 > 0
                 +5ms
                 n1-3 < PTTL r
                 n1-3 < SET ..
                 n1 > {first}
                 n2 > {second}
                 n1-2 > nil
                 n1-3 < EVAL ..
                 next {again}
                 n3 > 9000
                 next {again}
                 n3 > nil
                 next {again}
                 n1-3 > 0
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
    n1-3 < EVAL ..
    n3 > nil
    n1-3 > 0
    +5ms
    n1-3 < PTTL r
    n1-3 < SET ..
    n1-2 > -1
    n1-2 > nil
    n1-3 < EVAL ..
    n1-2 > 0
    +10ms
    n1-3 < PTTL r
    n1-3 < SET r #3 NX PX 10000";

#[test]
fn a_remaining_life_told_to_an_old_attempt_changes_nothing_in_the_next_one() {
    play(
        3,
        &format!(
            "jitter {LONGEST}
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
             n1-3 < EVAL ..
             = contended 1 at 3 after 15ms: held | not waited for | held"
        ),
    );
    play(
        3,
        &format!(
            "jitter {LONGEST}
             acquire 1 r wait 100s
             {THE_THIRD_ATTEMPT}
             n1 > 7
             n2 > -1
             n1-2 > nil
             n1-3 < EVAL ..
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
fn the_last_attempt_is_at_the_end_of_the_wait() {
    play(
        1,
        &format!(
            "jitter {LONGEST}
             acquire 1 r wait 7ms
             n1 < SET r #1 NX PX 10000
             n1 > nil
             n1 < EVAL release 1 r #1
             n1 > 0
             +5ms
             n1 < PTTL r
             n1 < SET r #2 NX PX 10000
             n1 > 1400
             n1 > nil
             n1 < EVAL release 1 r #2
             n1 > 0
             next 7ms
             +2ms
             n1 < PTTL r
             n1 < SET r #3 NX PX 10000
             n1 > 1398
             = -
             +1ms
             n1 > nil
             n1 < EVAL release 1 r #3
             = contended 1 at 3 after 8ms: held for 1s 398ms yet"
        ),
    );
}

#[test]
fn a_wait_of_zero_makes_one_attempt_and_a_wait_for_ever_goes_on() {
    play(1, "acquire 1 r wait 0s \n n1 < SET .. \n n1 > nil \n n1 < EVAL .. \n = contended 1 ..");
    let mut stage = open(1);
    stage.steps("jitter 0 \n acquire 1 r wait forever \n n1 < SET .. \n n1 > nil \n n1 < EVAL ..");
    for _ in 0..50 {
        stage.steps("n1 > 0 \n +0ms \n n1 < PTTL r \n n1 < SET .. \n n1 > -1 \n n1 > nil");
        stage.steps("n1 < EVAL .. \n = -");
    }
}

#[test]
fn the_failure_tells_how_long_the_other_holds_it() {
    play(
        5,
        "acquire 1 r wait 2ms
         n1-5 < SET ..
         n1-5 > nil
         n1-5 < EVAL ..
         n1-5 > 0
         +2ms
         n1-5 < PTTL r
         n1-5 < SET r #2 NX PX 10000
         n4 > 1700                      // how long, but not yet that it refuses
         n1 > 1500
         n1 > nil
         n2 > -1
         n2 > nil
         n3 > -NOPERM User ann has no permissions to run the 'pttl' command
         = -
         n3 > nil
         n1-5 < EVAL release 1 r #2
         = contended 1 at 2 after 2ms: held for 1s 500ms yet | held | held | not waited for | \
           not waited for
         n4 > nil
         = -",
    );
}

#[test]
fn a_key_that_came_between_question_and_refusal_has_no_known_life() {
    play(
        1,
        "acquire 1 r wait 2ms
         n1 < SET ..
         n1 > nil
         n1 < EVAL ..
         n1 > 0
         +2ms
         n1 < PTTL r
         n1 < SET r #2 NX PX 10000
         n1 > -2
         n1 > nil
         n1 < EVAL ..
         = contended 1 at 2 after 2ms: held",
    );
}

#[test]
fn who_waits_for_want_of_a_quorum_tries_again_as_soon_as_a_session_opens() {
    play(
        3,
        "n2-3 breaks
         jitter 18446744073709551615
         acquire 1 r wait 10s
         acquire 2 s wait 10s
         n1 < -
         +20ms                          // attempts that send nothing
         n1 < -
         +30ms
         n2-3 < DIAL
         n2 connects
         n2 < HELLO ..
         n2 < INFO ..
         n2 < INFO ..
         n2 < SCRIPT ..
         n2 > hello 2
         n2 > server run2
         n2 > master
         n2 > text c0ffee
         n2 < CLIENT KILL ID 1
         n1-2 < -
         n2 > 1
         n1-2 < PTTL r
         n1-2 < SET r #1 NX PX 10000
         n1-2 < PTTL s
         n1-2 < SET s #2 NX PX 10000
         n1-2 > -2
         = -
         n1-2 > ok
         = acquired 1 until 9948ms
         n1-2 > 9000
         n1-2 > nil
         n1-2 < EVAL release 1 s #2",
    );
}

#[test]
fn who_waits_for_another_holder_is_not_woken_by_a_session() {
    play(
        3,
        "n3 breaks
         +40ms
         acquire 1 r wait 10s
         n1-2 < SET ..
         jitter 18446744073709551615
         n1-2 > nil
         n1-2 < EVAL ..
         n1-2 > 0
         +5ms
         n1-2 < PTTL ..
         n1-2 < SET ..
         n1-2 > -1
         n1-2 > nil
         n1-2 < EVAL ..
         n3 < -
         +5ms                           // n3 is dialled; the pause lasts until 55ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n1-3 < -
         +5ms
         n1-3 < PTTL ..
         n1-3 < SET ..",
    );
}
