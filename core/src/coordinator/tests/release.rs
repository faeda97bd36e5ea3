//! Release, forget, and the results that are reported for them.

use super::{open, play};

const HELD: &str = "acquire 1 r
                    n1-5 < SET r #1 NX PX 10000
                    n1-5 > ok
                    = acquired 1 until 9898ms
                    ";

fn held(script: &str) {
    play(5, &format!("{HELD}{script}"));
}

#[test]
fn a_release_is_confirmed_by_a_quorum_and_the_rest_is_owed() {
    held(
        "release 2 of 1
         n1-5 < EVAL release 1 r #1
         n5 > 1
         n2 > 1
         = -
         n4 > 1
         = released 2
         debts 2
         n1 > 0
         n3 > 1
         = -
         debts 0",
    );
}

/// The answers of the five (`d`eleted, `v`acant, `e`rror, `_` silence until the timeout), and the
/// outcome.
const RELEASES: [(&str, &str); 11] = [
    ("ddd__", "released 2"),
    ("vvddd", "released 2"),
    ("eeddd", "released 2"),
    ("ddv__", "release 2 unconfirmed: deleted | deleted | no key there | no answer in time | .."),
    (
        "vvv__",
        "release 2 lost: quorum gone: no key there | no key there | no key there | not waited ..",
    ),
    (
        "vvd_v",
        "release 2 lost: quorum gone: no key there | no key there | deleted | not waited for | ..",
    ),
    (
        "vev__",
        "release 2 unconfirmed: no key there | error of the server (LOADING) | no key there | ..",
    ),
    ("_____", "release 2 unconfirmed: no answer in time | .."),
    ("eee__", "release 2 unconfirmed: error of the server (LOADING) | .."),
    ("ddve_", "release 2 unconfirmed: deleted | deleted | no key there | error of the server .."),
    ("vdede", "release 2 unconfirmed: no key there | deleted | error of the server (LOADING) | .."),
];

#[test]
fn a_release_comes_to_what_the_masters_say() {
    for (answers, event) in RELEASES {
        let mut stage = open(5);
        stage.steps(HELD);
        stage.steps("release 2 of 1 \n n1-5 < EVAL ..");
        for (node, glyph) in answers.chars().enumerate() {
            match glyph {
                'd' => stage.steps(&format!("n{} > 1", node + 1)),
                'v' => stage.steps(&format!("n{} > 0", node + 1)),
                'e' => stage.steps(&format!("n{} > -LOADING", node + 1)),
                _ => {}
            }
        }
        if stage.unseen.is_empty() {
            stage.steps("+199.999ms \n = - \n +1us");
        }
        stage.steps(&format!("= {event} \n = -"));
        let owed = answers.len() - answers.matches(['d', 'v']).count();
        stage.steps(&format!("debts {owed}"));
    }
}

#[test]
fn a_release_after_a_loss_reports_the_loss_and_still_deletes() {
    held(
        "+9.898s
         = lost 1: lapsed
         release 2 of 1
         n1-5 < EVAL release 1 r #1
         = release 2 lost: lapsed
         debts 5",
    );
    held(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         n1-3 > 0
         = lost 1: ..
         = extend 2 lost
         release 3 of 1
         n1-5 < EVAL release 1 r #1
         = release 3 lost: quorum gone: ..",
    );
}

#[test]
fn a_release_at_the_deadline_is_lost_even_before_the_timer() {
    let mut stage = open(5);
    stage.steps(HELD);
    stage.steps("+9.897s");
    stage.now = stage.now.after(std::time::Duration::from_millis(1));
    stage.play(
        "release 2 of 1
         n1-5 < EVAL release 1 r #1
         = lost 1: lapsed
         = release 2 lost: lapsed",
    );
}

#[test]
fn only_masters_that_were_asked_are_released() {
    play(
        5,
        "n4-5 breaks
         acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         +50ms
         n4-5 greets
         n4-5 < CLIENT KILL ID 1
         n4-5 > 1
         release 2 of 1
         n1-3 < EVAL release 1 r #1
         n4-5 < -
         n1-3 > 1
         = released 2
         debts 0",
    );
}

#[test]
fn a_master_that_was_not_asked_is_not_waited_for() {
    play(
        5,
        "n4-5 breaks
         acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1-3 < EVAL release 1 r #1
         n1 > 0
         = release 2 lost: quorum gone: no key there | not waited for | not waited for | \
           no key there | no key there",
    );
}

/// The keys have expired by then, but no other client had the lock in time.
#[test]
fn what_is_gone_after_the_deadline_was_not_lost_before() {
    held(
        "+9.8s
         release 2 of 1
         n1-5 < EVAL release 1 r #1
         n1-2 > 0
         +98ms
         n3 > 0
         = release 2 unconfirmed: no key there | no key there | no key there | not waited for | ..",
    );
}

/// The first release may have deleted the key.
#[test]
fn a_release_sent_again_does_not_show_which_one_deleted() {
    held(
        "release 2 of 1
         n1-5 < EVAL release 1 r #1
         n1 breaks
         n2 > 0
         n3 > 0
         = -
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL release 1 r #1
         n1 > 0
         = -
         +150ms
         = release 2 unconfirmed: no answer in time | no key there | no key there | ..",
    );
}

#[test]
fn a_master_that_is_down_is_unknown_and_owes() {
    held(
        "n3-5 breaks
         release 2 of 1
         n1-2 < EVAL ..
         = release 2 unconfirmed: not waited for | not waited for | down (reset by peer) | \
           down (reset by peer) | down (reset by peer)
         debts 5
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < EVAL release 1 r #1
         n3 > 1
         debts 4
         n4-5 < DIAL",
    );
}

#[test]
fn a_release_can_be_confirmed_over_the_next_connection() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         release 2 of 1
         n1 < EVAL ..
         n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL release 1 r #1
         = -
         n1 > 1
         = released 2",
    );
}

#[test]
fn a_release_made_in_time_counts_though_it_is_heard_late() {
    for steps in ["+9898ms \n = lost 1: lapsed", "+9897.999999ms"] {
        play(
            3,
            &format!(
                "acquire 1 r
                 n1-3 < SET ..
                 n1-3 > ok
                 = acquired 1 until 9898ms
                 {steps}
                 release 2 of 1 in time
                 n1-3 < EVAL release 1 r #1
                 n1-2 > 1
                 = released 2"
            ),
        );
    }
}
