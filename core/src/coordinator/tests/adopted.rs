//! An adopted lock: its place in the process, and what it has brought with it.

use super::adopt::DETACHED;
use super::play;

fn detached(script: &str) {
    play(3, &format!("{DETACHED}{script}"));
}

#[test]
fn other_acquires_of_the_process_wait_for_an_adopted_lock() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         acquire 4 r wait 5s
         n1-3 < -
         n1-2 > 1
         = adopted 3 ..
         n3 > 1
         n1-3 < -
         drop 3
         n1-3 < EVAL release 1 r #1
         n1-3 < SET r #2 NX PX 10000
         n1-3 > 1
         n1-3 > ok
         = acquired 4 ..",
    );
}

#[test]
fn a_lock_that_is_held_here_is_not_adopted_again() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         adopt 4 of 2
         = adopt 4: held here
         n1-3 > 1
         = adopted 3 ..
         adopt 5 of 2
         = adopt 5: held here
         n1-3 < -",
    );
}

#[test]
fn an_acquire_that_contends_keeps_its_place_beside_an_adopted_lock() {
    detached(
        "acquire 3 r wait 20s
         n1-3 < SET r #2 NX PX 10000
         n1-3 > nil
         n3 < EVAL release 1 r #2
         n3 > 0
         adopt 4 of 2
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = adopted 4 ..
         adopt 5 of 2
         = adopt 5: held here
         drop 4
         n1-3 < EVAL release 1 r #1
         n1-3 > 1
         = -",
    );
}

#[test]
fn an_adopted_lock_keeps_the_label_of_its_first_holder() {
    detached(
        "adopt 3 of 2 by other
         n1-3 < EVALSHA extend 1 r #2 10000
         n1-2 > 1
         = adopted 3 ..
         n3 > 0
         n3 < EVAL top_up 1 r #2 10000
         drop 3
         n1-3 < EVAL release 1 r #2",
    );
}

#[test]
fn a_keeper_goes_on_for_the_rest_of_its_time() {
    play(
        3,
        "acquire 1 r keep 16s
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         +1s
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 2
         +1s
         adopt 3 of 2                   // 15 s from then
         n1-3 < EVALSHA ..
         n1-3 > 1
         = adopted 3 until 11898ms
         +3334ms
         n1-3 < EVALSHA ..
         n1-3 > 1
         = extended by its keeper until 15228ms",
    );
}

#[test]
fn a_keep_alive_that_is_over_caps_the_deadline() {
    play(
        3,
        "acquire 1 r ttl 2s keep 2.5s
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         +600ms
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 2
         adopt 3 of 2
         n1-3 < EVALSHA ..
         n1-3 > 1
         = adopted 3 until 2500ms, the last
         +1900ms
         = lost 3: lapsed",
    );
}

#[test]
fn a_fenced_lock_keeps_its_number_and_later_ones_are_above_it() {
    play(
        3,
        "wall 1000000
         acquire 1 r fenced
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1000001 ..
         n1-3 > ok
         = acquired 1 ..
         detach 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = detached 2
         wall 10                        // as in a process whose clock is behind
         adopt 3 of 2
         n1-3 < EVALSHA extend 1 r #1 10000
         n3 > 0
         n1-2 > 1
         = adopted 3 ..
         n3 < EVALSHA acquire 2 r fence:r #1 10000 1 1000001 ..
         drop 3
         n1-3 < EVAL release_all 2 r fence:r #1 1000001 ..",
    );
}

#[test]
fn several_resources_go_together() {
    play(
        1,
        "acquire 1 r+s
         n1 < EVALSHA acquire 2 r s #1 10000 0
         n1 > ok
         = acquired 1 ..
         detach 2 of 1
         n1 < EVALSHA extend 2 r s #1 10000
         n1 > 1
         = detached 2
         adopt 3 of 2
         n1 < EVALSHA extend 2 r s #1 10000
         n1 > 1
         = adopted 3 ..
         acquire 4 s
         = contended 4 ..
         drop 3
         n1 < EVAL release_all 2 r s #1",
    );
}

#[test]
fn a_lock_that_is_handed_over_takes_what_is_left_with_it() {
    play(
        3,
        "acquire 1 r least 20s
         n1-3 < SET r #1 NX PX 20202
         n1-3 > ok
         = acquired 1 until 9898ms
         +5s
         detach 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = detached 2
         +1s                            // on its way
         adopt 3 of 2
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = adopted 3 until 15898ms
         +3s
         finish 4 of 3
         n1-3 < EVAL shorten 1 r #1 12122
         n1-3 > 1
         = released 4
         debts 0",
    );
}
