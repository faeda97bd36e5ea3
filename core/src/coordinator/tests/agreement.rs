//! Clients of the same masters that have different settings.

use super::{open, play, play_from_the_start};
use crate::master::agreement::{Agreement, Outcome};
use crate::wire::Reply;
use std::time::Duration;

/// The master's report on another client's settings, and the fault that the master then has.
const DISAGREEMENTS: [(&str, &str); 4] = [
    (
        "disagrees 45000 max_ttl 60000",
        "max_ttl is 30s here and 1m with another client: make them equal, or stop all clients and \
         wait 45 s",
    ),
    (
        "disagrees 900 window back 500",
        "fencing_window is 2s here and 500ms with another client: make them equal, or stop all \
         clients and wait 900 ms",
    ),
    ("disagrees 900 window ahead 500", "fencing_window is 2s here and 500ms .."),
    (
        "disagrees 3000 lists n1 n9",
        "this client's masters are [n1], another client's [n1, n9]: two such clients could both \
         win; name both lists while masters change, with joint_with, or wait 3 s \
         after the other has stopped",
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
fn a_disagreement_costs_the_vote_and_its_fault_names_both_sides() {
    for (report, fault) in DISAGREEMENTS {
        let again = if report.starts_with("disagrees 900 ") { "+900ms" } else { "+2s" };
        let greeted = greeted(report);
        play_from_the_start(
            1,
            &format!(
                "{greeted}
                 = connected
                 fault n1 disagreement {fault}
                 acquire 1 r
                 = disagreement 1 at 1 after 0ms: disagrees (..
                 {again}             // as soon as it lapses, after two seconds at the latest
                 n1 beats
                 n1 > server run1
                 n1 > known
                 no faults"
            ),
        );
    }
}

#[test]
fn all_differences_are_reported_at_once() {
    let greeted = greeted("disagrees 45000 max_ttl 60000 & 900 window back 500 & 3000 lists n1 n9");
    play_from_the_start(
        1,
        &format!(
            "{greeted}
             = connected
             fault n1 disagreement max_ttl is 30s here and 1m with another client: make them equal, or stop \
             all clients and wait 45 s; fencing_window is 2s here and 500ms with another client: make them \
             equal, or stop all clients and wait 900 ms; this client's masters are [n1], another client's \
             [n1, n9]: .."
        )
        .replace("\\\n             ", ""),
    );
}

/// Returns the masters' answers to a heartbeat: everything that is asked before the agreement.
fn who(masters: usize) -> String {
    let server = (1..=masters).map(|node| format!("n{node} > server run{node}\n"));
    format!("{}n1-{masters} > master\nn1-{masters} > memory\n", server.collect::<String>())
}

#[test]
fn numbers_that_come_up_later_cost_the_votes_of_those_masters() {
    let who = who(3);
    play(
        3,
        &format!(
            "+10s
             n1-3 beats
             {who}
             n3 > confirmed
             n1-2 > disagrees 900 max_ttl 60000
             acquire 1 r
             = disagreement 1 at 1 after 0ms: disagrees (max_ttl .."
        ),
    );
}

#[test]
fn one_that_disagrees_beside_one_that_is_down_is_an_outage() {
    let who = who(3);
    play(
        3,
        &format!(
            "+10s
             n1-3 beats
             {who}
             n2-3 > confirmed
             n1 > disagrees 900 max_ttl 60000
             n2 breaks
             acquire 1 r
             = no quorum 1 at 1 after 0ms: disagrees (max_ttl .."
        ),
    );
}

#[test]
fn what_is_no_answer_to_it_is_no_agreement() {
    for (answer, fault) in [
        ("-NOPERM no", "rejected noperm no: eval on the key quorumlock:agreement is needed"),
        ("-LOADING Redis is loading", "down loading redis is loading"),
        ("nil", "down unexpected reply nil"),
    ] {
        let greeted = greeted(answer);
        play_from_the_start(1, &format!("{greeted} n1 < CLOSE \n = connected \n fault n1 {fault}"));
    }
}

#[test]
fn a_replica_is_reported_as_one_though_it_cannot_agree() {
    let greeted = greeted("-READONLY You can't write against a read only replica.");
    let greeted = greeted.replace("> master", "> replica 10.0.0.9:6379");
    play_from_the_start(
        1,
        &format!(
            "{greeted} n1 < CLOSE \n = connected \n fault n1 unfit a replica of 10.0.0.9:6379: .."
        ),
    );
}

#[test]
fn an_unreadable_answer_is_no_agreement() {
    for answer in [
        "*3\\r\\n:1\\r\\n:2\\r\\n_\\r\\n",
        "*1\\r\\n:1\\r\\n",
        "*4\\r\\n:0\\r\\n:0\\r\\n:0\\r\\n:0\\r\\n",
    ] {
        let greeted = greeted(&format!("raw {answer}"));
        play_from_the_start(
            1,
            &format!(
                "{greeted}
                 n1 < CLOSE
                 = connected
                 fault n1 down an answer to the agreement that it cannot have"
            ),
        );
    }
}

/// Returns what the agreement of a client reads out of these parts of an answer.
fn read(numbers: [i64; 2], differences: &[(&str, &str)]) -> (Outcome, bool) {
    let stage = open(1);
    let agreement: Agreement = stage.machine.at.cx.masters.settings.agreement.clone();
    let text = |text: &str| Reply::Text(text.as_bytes().into());
    let parts = differences.iter().map(|(field, value)| [text(field), text(value), Reply::Int(9)]);
    let parts = numbers.into_iter().map(Reply::Int).chain(parts.flatten()).collect();
    agreement.read(stage.now, &Reply::Array(parts))
}

#[test]
fn a_note_has_an_end_and_a_look_has_none() {
    assert!(matches!(read([7, 0], &[]), (Outcome::Agreed, false)));
    assert!(matches!(read([0, 1], &[]), (Outcome::Alike, true)));
}

#[test]
fn the_numbers_of_others_are_read_by_their_names() {
    let numbers = [("max_ttl", "60000"), ("window back", "500"), ("window ahead", "700")];
    let answer = read([0, 0], &numbers);
    let (Outcome::Disagrees(report), _) = answer else { panic!("a disagreement") };
    assert_eq!(report.theirs.max_ttl, Duration::from_secs(60));
    assert_eq!(report.theirs.window.back, Duration::from_millis(500));
    assert_eq!(report.theirs.window.ahead, Duration::from_millis(700));
}
