//! A hold with a keeper: when it is extended, when that ends, and what it never does.

use super::{open, play};

/// Won on three of three at 0 ms with a ttl of 900 ms: extended at 300 ms, deadline 889 ms.
const KEPT: &str = "acquire 1 r ttl 900ms keep forever
                    n1-3 < SET r #1 NX PX 900
                    n1-3 > ok
                    = acquired 1 until 889ms";

#[test]
fn a_kept_hold_is_extended_at_each_third_of_its_ttl() {
    let mut stage = open(3);
    stage.steps(KEPT);
    stage.steps("+299.999999ms \n n1-3 < - \n +1ns");
    for start in [300, 600, 900, 1200] {
        stage.steps("n1-3 < EVALSHA extend 1 r #1 900 \n n1-3 > 1");
        stage.steps(&format!("= extended by its keeper until {}ms \n +300ms", start + 889));
    }
    stage.play("n1-3 < EVALSHA extend 1 r #1 900");
}

#[test]
fn without_a_keeper_nothing_is_extended() {
    let mut stage = open(3);
    stage.steps("acquire 1 r ttl 900ms \n n1-3 < SET .. \n n1-3 > ok \n = acquired 1 ..");
    stage.play("+888.999999ms \n n1-3 < - \n = - \n +1ns \n = lost 1: lapsed");
}

#[test]
fn a_round_without_a_quorum_is_tried_again_within_what_is_left() {
    let mut stage = open(3);
    stage.steps(KEPT);
    stage.steps("n2 breaks \n n3 breaks \n n2-3 unreachable");
    stage.steps("+300ms \n n1 < EVALSHA ..");
    // No quorum is up. A quarter of the remaining 589 ms:
    stage.steps("n1 > 1 \n = - \n +147.249999ms \n n1 < - \n +1us \n n1 < EVALSHA .. \n n1 > 1");
    // A quarter of the rest.
    stage.steps("= - \n +110ms \n n1 < - \n +1ms \n n1 < EVALSHA .. \n n1 > 1");
}

#[test]
fn an_unconfirmed_hold_lapses_at_its_deadline_and_stays_lost() {
    let mut stage = open(1);
    stage.steps("acquire 1 r ttl 900ms keep forever \n n1 < SET .. \n n1 > ok \n = acquired 1 ..");
    stage.steps("n1 takes all \n n1 breaks \n n1 unreachable");
    stage.steps("+888.999999ms");
    stage.steps("= - \n +1ns \n = lost 1: lapsed");
    stage.steps("+60s \n = -");
}

#[test]
fn extensions_stop_at_max_hold_and_no_deadline_lies_beyond_it() {
    play(
        1,
        "acquire 1 r ttl 900ms keep 1400ms
         n1 < SET ..
         n1 > ok
         = acquired 1 until 889ms
         +300ms
         n1 < EVALSHA extend 1 r #1 900
         n1 > 1
         = extended by its keeper until 1189ms
         +300ms
         n1 < EVALSHA extend 1 r #1 900
         n1 > 1
         = extended by its keeper until 1400ms
         +799.999999ms
         n1 < -
         = -
         +1ns
         = lost 1: lapsed",
    );
}

#[test]
fn an_extension_by_hand_moves_the_keepers_next_one() {
    play(
        1,
        "acquire 1 r ttl 960ms keep forever
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         +200ms
         extend 2 of 1
         n1 < EVALSHA ..
         n1 > 1
         = extended 2 until 1148..
         +319.999999ms
         n1 < -
         +1ns
         n1 < EVALSHA ..
         n1 > 1
         = extended by its keeper until 1468..",
    );
}

#[test]
fn a_release_ends_the_keeper_also_in_the_middle_of_its_round() {
    play(
        3,
        &format!(
            "{KEPT}
             +300ms
             n1-3 < EVALSHA extend 1 r #1 900
             drop 1
             n1-3 < EVAL release 1 r #1
             n1-3 > 1
             n1-3 > 1
             +900ms
             n1-3 < - \n = -"
        ),
    );
}

#[test]
fn a_hold_given_up_by_its_guard_is_no_longer_kept() {
    for end in ["forget 1", "lapsed 1 \n = lost 1: lapsed"] {
        play(
            3,
            &format!(
                "{KEPT}
                 {end}
                 +900ms
                 n1-3 < -"
            ),
        );
    }
}

#[test]
fn a_kept_hold_that_a_quorum_forgot_is_lost_and_not_reacquired() {
    play(
        3,
        &format!(
            "{KEPT}
             +300ms
             n1-3 < EVALSHA ..
             n1 > 0
             = -
             n2 > -1
             = lost 1: quorum gone: no key there | held by another token | not waited for
             n3 > 1
             +900ms
             n1-3 < -"
        ),
    );
}

#[test]
fn a_keeper_tops_up_a_master_that_has_lost_the_key() {
    play(
        3,
        &format!(
            "{KEPT}
             +300ms
             n1-3 < EVALSHA ..
             n1-2 > 1
             = extended by its keeper until 1189ms
             n3 > 0
             n3 < EVAL top_up 1 r #1 900
             n3 > ok
             +300ms
             n1-3 < EVALSHA ..
             n1 > 1
             n3 > 1
             = extended by its keeper until 1489ms
             n2 > 1"
        ),
    );
}

/// The limit holds whichever side asks. The caller learns how far the deadline was moved: in the
/// end, not at all.
#[test]
fn an_extension_by_hand_does_not_go_beyond_max_hold_either() {
    play(
        1,
        "acquire 1 r ttl 900ms keep 1400ms
         n1 < SET ..
         n1 > ok
         = acquired 1 until 889ms
         +200ms
         extend 2 of 1
         n1 < EVALSHA extend 1 r #1 900
         n1 > 1
         = extended 2 until 1089ms
         +250ms
         extend 3 of 1
         n1 < EVALSHA ..
         n1 > 1
         = extended 3 until 1339ms
         +249ms
         extend 4 of 1
         n1 < EVALSHA ..
         n1 > 1
         = extended 4 until 1400ms
         +500ms
         extend 5 of 1
         n1 < EVALSHA ..
         n1 > 1
         = extended 5 until 1400ms
         +200.999999ms
         n1 < -
         = -
         +1ns
         = lost 1: lapsed",
    );
}
