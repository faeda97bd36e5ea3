//! Extension rounds: those that move the deadline, leave it, or end the hold.

use super::{open, play};

/// Five masters, `r` held by request 1 since 0 ms until 9898 ms.
const HELD: &str = "acquire 1 r
                    n1-5 < SET r #1 NX PX 10000
                    n1-5 > ok
                    = acquired 1 until 9898ms
                    ";

fn held(script: &str) {
    play(5, &format!("{HELD}{script}"));
}

#[test]
fn a_quorum_of_held_counts_the_deadline_from_the_rounds_start() {
    held(
        "+3s
         extend 2 of 1
         n1-5 < EVALSHA extend 1 r #1 10000
         +100ms
         n5 > 1
         n3 > 1
         = -
         n1 > 1
         = extended 2 until 12898ms
         n2 > 1
         n4 > 1
         = -
         +6.9s
         n1-5 beats
         n1-5 > -NOPERM no
         n1-5 > known
         +2.897999999s
         = -
         +1ns
         = lost 1: lapsed",
    );
}

#[test]
fn the_deadline_never_moves_back() {
    held(
        "+3s
         extend 2 of 1
         n1-5 < EVALSHA ..
         +1ms
         extend 3 of 1
         n1-5 < EVALSHA ..
         n1-2 > 1
         n1-2 > 1
         n3 > 1
         = extended 2 until 12898ms
         n3 > 1
         = extended 3 until 12899ms
         n4-5 > 1
         n4-5 > 1
         = -",
    );
}

#[test]
fn a_round_won_without_a_gain_leaves_the_deadline() {
    play(
        3,
        "acquire 1 r ttl 20ms
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 until 17.8ms
         extend 2 of 1
         n1-3 < EVALSHA extend 1 r #1 20
         +1ms
         n1-2 > 1
         = extended 2 until 17.8ms",
    );
}

/// The answers of the five (`h`eld, `v`acant, `t`aken, `e`rror, `_` silence until the timeout), and
/// the result of the extension.
const ROUNDS: [(&str, &str); 15] = [
    ("hhh__", "extended 2 until 12898ms"),
    ("vthhh", "extended 2 until 12898ms"),
    ("eehhh", "extended 2 until 12898ms"),
    ("hh___", "extend 2 unconfirmed: held by us | held by us | no answer in time | .."),
    ("_____", "extend 2 unconfirmed: no answer in time | .."),
    ("hhv__", "extend 2 unconfirmed: held by us | held by us | no key there | no answer .."),
    ("hhtv_", "extend 2 unconfirmed: held by us | held by us | held by another token | no key .."),
    ("hhevt", "extend 2 unconfirmed: held by us | held by us | error of the server (LOADING) | .."),
    ("eee__", "extend 2 unconfirmed: error of the server (LOADING) | .."),
    ("hhvee", "extend 2 unconfirmed: .."),
    ("vvv__", "lost 1: quorum gone: no key there | no key there | no key there | not waited .."),
    ("ttt__", "lost 1: quorum gone: held by another token | .."),
    ("hhvtv", "lost 1: quorum gone: held by us | held by us | no key there | held by another .."),
    ("v_t_v", "lost 1: quorum gone: no key there | not waited for | held by another token | .."),
    ("vhvht", "lost 1: quorum gone: no key there | held by us | no key there | .."),
];

#[test]
fn an_extension_comes_to_what_the_masters_say() {
    for (answers, event) in ROUNDS {
        let mut stage = open(5);
        stage.steps(HELD);
        stage.steps("+3s \n extend 2 of 1 \n n1-5 < EVALSHA ..");
        for (node, glyph) in answers.chars().enumerate() {
            match glyph {
                'h' => stage.steps(&format!("n{} > 1", node + 1)),
                'v' => stage.steps(&format!("n{} > 0", node + 1)),
                't' => stage.steps(&format!("n{} > -1", node + 1)),
                'e' => stage.steps(&format!("n{} > -LOADING", node + 1)),
                _ => {}
            }
        }
        if answers.contains('_') && stage.unseen.is_empty() {
            stage.steps("+200ms");
        }
        stage.steps(&format!("= {event}"));
        if event.starts_with("lost") {
            stage.steps("= extend 2 lost \n = - \n +60s \n = -");
        } else if event.contains("unconfirmed") {
            stage.steps("= - \n +6s \n = -");
            let mut attempts = stage.machine.locks.attempts.iter();
            assert!(attempts.all(|attempt| attempt.held().is_some()), "{answers}");
        }
    }
}

#[test]
fn an_extension_that_fails_leaves_the_old_deadline() {
    held(
        "+3s
         extend 2 of 1
         n1-5 < EVALSHA ..
         n1-3 > -LOADING
         = -
         n4-5 > 1
         = extend 2 unconfirmed: ..
         +6.8s
         = -
         extend 3 of 1                  // and can be tried again
         n1-5 < EVALSHA ..
         n1-3 > 1
         = extended 3 until 19698ms",
    );
}

#[test]
fn a_round_that_is_won_no_more_can_still_end_the_hold() {
    held(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         n1-2 > 0
         n3 > -LOADING
         = -
         n4 > 0
         = lost 1: quorum gone: no key there | no key there | error of the server (LOADING) | \
           no key there | not waited for
         = extend 2 lost",
    );
}

#[test]
fn masters_that_are_down_or_lost_on_the_way_are_unknown() {
    held(
        "n5 breaks
         extend 2 of 1
         n1-4 < EVALSHA ..
         n1-2 > 0
         = -
         n3 > 0
         = lost 1: quorum gone: no key there | no key there | no key there | not waited for | \
           down (reset by peer)
         = extend 2 lost",
    );
    held(
        "n5 breaks
         extend 2 of 1
         n1-4 < EVALSHA ..
         n4 breaks
         n1-2 > 1
         = -
         n3 breaks
         = extend 2 unconfirmed: held by us | held by us | connection lost (reset by peer) | \
           connection lost (reset by peer) | down (reset by peer)",
    );
}

#[test]
fn a_late_answer_of_an_extension_does_not_count() {
    held(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         n1-2 > 1
         +200ms
         = extend 2 unconfirmed: ..
         n3 > 1
         n4-5 > 1
         = -
         +9.697999999s
         = -
         +1ns
         = lost 1: lapsed",
    );
}

#[test]
fn a_script_the_server_forgot_is_loaded_for_the_next_round() {
    held(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         n1-3 > -NOSCRIPT No matching script. Please use EVAL.
         n1-3 < SCRIPT LOAD acquire
         n1-3 < SCRIPT LOAD extend
         n1-3 < -
         = -                            // those that are still out are waited for
         n4-5 > 1
         = extend 2 unconfirmed: ..
         n1-3 > text c0ffee
         n1-3 > text c0ffee
         extend 3 of 1
         n1-5 < EVALSHA ..
         n1-3 > 1
         = extended 3 ..",
    );
}
