//! Clients of the same masters that go by different terms.

use super::{play, play_from_the_start};

/// What the master says that another client goes by, and the fault that it then has.
const DISAGREEMENTS: [(&str, &str); 4] = [
    (
        "disagrees 45000 max_ttl 60000",
        "max_ttl is 30s here and 1m with another client: make them equal, or stop all clients and \
         wait 45s",
    ),
    (
        "disagrees 900 window back 500",
        "fencing_window is 2s here and 500ms with another client: make them equal, or stop all \
         clients and wait 900ms",
    ),
    ("disagrees 900 window ahead 500", "fencing_window is 2s here and 500ms .."),
    (
        "disagrees 3000 lists n1 n9",
        "this client's masters are [n1], another client's [n1, n9]: two such clients could both \
         win; name both lists while masters change, with redlockbuilder::also, or wait 3s after \
         the other has stopped",
    ),
];

fn greeted(agreement: &str) -> String {
    format!(
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > text c0ffee
         n1 > text c0ffee
         n1 > {agreement}\n"
    )
}

#[test]
fn a_disagreement_is_a_fault_that_names_both_sides() {
    for (told, fault) in DISAGREEMENTS {
        let greeted = greeted(told);
        play_from_the_start(
            1,
            &format!(
                "{greeted}
                 n1 < CLOSE
                 = settled
                 fault n1 disagreement {fault}
                 acquire 1 r
                 = disagreement 1 at 1 after 0ms: disagrees (..
                 +50ms
                 n1 opens
                 no faults"
            ),
        );
    }
}

#[test]
fn found_later_it_ends_the_session_and_a_quorum_of_them_the_acquire() {
    play(
        3,
        "+10s
         n1-3 beats
         n1 > server run1
         n2 > server run2
         n3 > server run3
         n1-3 > master
         n1-3 > memory
         n3 > 1
         n1-2 > disagrees 900 max_ttl 60000
         n1-2 < CLOSE
         acquire 1 r
         = disagreement 1 at 1 after 0ms: disagrees (max_ttl ..
         n3 < -",
    );
}

#[test]
fn one_that_disagrees_beside_one_that_is_down_is_an_outage() {
    play(
        3,
        "+10s
         n1-3 beats
         n1 > server run1
         n2 > server run2
         n3 > server run3
         n1-3 > master
         n1-3 > memory
         n2-3 > 1
         n1 > disagrees 900 max_ttl 60000
         n1 < CLOSE
         n2 breaks
         acquire 1 r
         = no quorum 1 at 1 after 0ms: disagrees (max_ttl ..",
    );
}

#[test]
fn what_is_no_answer_to_it_is_no_agreement() {
    for (told, fault) in [
        ("-NOPERM no", "rejected noperm no: eval on the key quorumlock:agreement is needed"),
        ("-LOADING Redis is loading", "down loading redis is loading"),
        ("nil", "down unexpected reply nil"),
    ] {
        let greeted = greeted(told);
        play_from_the_start(1, &format!("{greeted} n1 < CLOSE \n = settled \n fault n1 {fault}"));
    }
}

#[test]
fn a_replica_is_told_as_one_though_it_cannot_agree() {
    let greeted = greeted("-READONLY You can't write against a read only replica.");
    let greeted = greeted.replace("> master", "> replica 10.0.0.9:6379");
    play_from_the_start(
        1,
        &format!(
            "{greeted} n1 < CLOSE \n = settled \n fault n1 unfit a replica of 10.0.0.9:6379: .."
        ),
    );
}

#[test]
fn once_open_an_error_leaves_it_for_the_next_time() {
    play(
        1,
        "+10s
         n1 beats
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > -NOREPLICAS Not enough good replicas to write.
         no faults
         acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..",
    );
}

#[test]
fn what_a_client_was_the_first_to_note_is_taken_back_if_it_is_not_to_be() {
    let greeted = greeted("1700000000000");
    play_from_the_start(
        1,
        &format!(
            "{greeted}
             = settled
             no faults
             withdraw
             n1 < EVAL withdraw 1 quorumlock:agreement 1700000000000 n1
             debts 1
             n1 > 0
             debts 0"
        ),
    );
    play(1, "withdraw \n n1 < -                // somebody else goes by the same");
}

#[test]
fn an_answer_that_nobody_can_read_is_no_agreement() {
    for told in ["*3\\r\\n:1\\r\\n:2\\r\\n:3\\r\\n", "*1\\r\\n:1\\r\\n"] {
        let greeted = greeted(&format!("raw {told}"));
        play_from_the_start(
            1,
            &format!(
                "{greeted}
                 n1 < CLOSE
                 = settled
                 fault n1 down an answer to the agreement that it cannot have"
            ),
        );
    }
}
