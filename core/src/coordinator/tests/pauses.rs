//! The pause between two attempts.

use super::words::reply;
use super::{Stage, open};

/// Refuses the next attempt by all three masters, which report the remaining life.
fn refuse(stage: &mut Stage, remaining: [&str; 3]) {
    for (node, left) in remaining.into_iter().enumerate() {
        let sent: Vec<String> = stage.wires[node].unseen.drain(..).collect();
        for asked in sent {
            let answer = match asked.split(' ').next() {
                Some("SET") => "nil",
                Some("EVAL") if asked.starts_with("EVAL look") => left,
                Some("EVAL") => "0",
                _ => panic!("{asked}"),
            };
            stage.says(node, &reply(answer));
        }
    }
}

#[test]
fn the_pause_doubles_up_to_its_cap() {
    let mut stage = open(3);
    stage.steps("jitter most \n acquire 1 r wait 100s");
    for pause in [5, 10, 20, 40, 80, 160, 250, 250, 250] {
        refuse(&mut stage, ["-1", "-1", "-1"]);
        refuse(&mut stage, ["-1", "-1", "-1"]); // the rollback
        stage.steps(&format!("+{pause}ms"));
        let early = stage.wires[0].unseen.is_empty();
        assert!(!early, "no attempt after {pause} ms");
        let sent: Vec<_> = stage.wires.iter().map(|wire| wire.unseen.len()).collect();
        assert_eq!(sent, [2, 2, 2], "a look and SET after {pause} ms");
    }
}

#[test]
fn the_pause_is_jittered_down_to_nothing() {
    for (jitter, pause) in [("least", "0ms"), ("middle", "2.5ms"), ("most", "5ms")] {
        let mut stage = open(1);
        stage.steps(&format!("jitter {jitter} \n acquire 1 r wait 1s \n n1 < SET .. \n n1 > nil"));
        stage.steps(&format!("next {pause}"));
        stage.steps(&format!("+{pause} \n n1 < EVAL look 1 r \n n1 < SET r #2 NX PX 10000"));
    }
}

/// The remaining life that the three masters report, and the pause where backoff alone would make
/// it 80 ms.
const CEILINGS: [([&str; 3], u64); 9] = [
    (["-1", "-1", "-1"], 80),
    (["-1", "30", "-1"], 80), // a single master is no quorum
    (["30", "40", "9000"], 40),
    (["9000", "30", "40"], 40),
    (["30", "9000", "9000"], 80),
    (["40", "40", "40"], 40),
    (["0", "0", "9000"], 5),    // already free: a step of jitter all the same
    (["-2", "-2", "9000"], 80), // taken since: they did not say by which client
    (["3", "2", "9000"], 5),
];

#[test]
fn the_pause_is_never_longer_than_until_a_quorum_is_free() {
    for (remaining, pause) in CEILINGS {
        let mut stage = open(3);
        stage.steps("jitter most \n acquire 1 r wait 100s");
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
fn what_the_last_attempt_learned_does_not_bound_the_next_pause() {
    let mut stage = open(3);
    stage.steps("jitter most \n acquire 1 r wait 100s");
    for (left, pause) in [("-1", 5), ("6", 6), ("-1", 20), ("7", 7), ("-1", 80)] {
        refuse(&mut stage, [left; 3]);
        refuse(&mut stage, [left; 3]);
        stage.steps(&format!("+{}.999ms", pause - 1));
        assert_eq!(stage.wires[0].unseen.len(), 0, "before {pause} ms");
        stage.steps("+1us");
        assert_eq!(stage.wires[0].unseen.len(), 2, "after {pause} ms");
    }
}

#[test]
fn after_a_split_the_pause_is_up_to_twice_what_the_attempt_took() {
    for (jitter, begins) in [("most", "600ms"), ("middle", "400ms")] {
        let mut stage = open(3);
        stage.steps(&format!(
            "jitter {jitter} \n acquire 1 r wait 100s
             n1-3 < SET .. \n n1 > ok \n n2 > nil
             +200ms
             next {begins}"
        ));
    }
}
