//! Between attempts: how long, until when, and what ends the wait early.

use super::words::reply;
use super::{Stage, open, play};

/// The longest that jitter can pick.
pub(super) const LONGEST: u64 = u64::MAX;

/// The next attempt is refused by all three, which say how long yet.
fn refuse(stage: &mut Stage, remaining: [&str; 3]) {
    for (node, left) in remaining.into_iter().enumerate() {
        let sent: Vec<String> = stage.wires[node].unseen.drain(..).collect();
        for asked in sent {
            let told = match asked.split(' ').next() {
                Some("SET") => "nil",
                Some("PTTL") => left,
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
