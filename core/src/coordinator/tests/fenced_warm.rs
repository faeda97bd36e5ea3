//! A fenced lock that is kept warm: its acquire takes a block of numbers, and each guard has the next one.

use super::{open, play, telling};

/// A fenced lock that is kept warm is won by request 1, with the block from 101 to 1100.
const WON: &str = "
    wall 100
    acquire 1 r fenced warm 2s
    n1 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 2000000 2000000 31302 101
    n1 > ok
    = acquired 1 until 9898ms with 101\n";

/// The same with the block of two numbers that is left of the window's half.
const OF_TWO: &str = "
    wall 100
    acquire 1 r fenced warm 2s
    n1 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 ..
    n1 > refuses -1 0 1000098 100
    n1 < EVAL release_all 2 r fence:r #1 1100 2000000 31302
    n1 < EVALSHA acquire 2 r fence:r #2 10000 0 1000100 2000000 2000000 31302 1000099
    n1 > 0
    n1 > ok
    = acquired 1 until 9898ms with 1000099\n";

fn warm(script: &str) {
    play(1, &format!("{WON}{script}"));
}

#[test]
fn each_guard_has_the_next_number_without_a_command_and_the_release_names_the_end() {
    warm(
        "back 1
         acquire 2 r fenced warm 2s
         = acquired 2 until 9898ms with 102
         acquire 3 r fenced wait 1s warm 2s
         back 2
         = acquired 3 until 9898ms with 103
         n1 < -
         release 4 of 3
         n1 < EVAL release_all 2 r fence:r #1 1100 2000000 31302
         n1 > 1
         = released 4
         acquire 5 r fenced
         n1 < EVALSHA acquire 2 r fence:r #2 10000 0 1101 2000000 2000000 31302
         n1 > ok
         = acquired 5 until 9898ms with 1101",
    );
}

#[test]
fn a_hold_whose_block_is_used_up_is_released_when_it_is_given_back() {
    for waits in [false, true] {
        let mut stage = open(1);
        stage.steps(OF_TWO);
        stage.steps(
            "back 1
             acquire 2 r fenced warm 2s
             = acquired 2 until 9898ms with 1000100",
        );
        if waits {
            stage.steps("acquire 3 r fenced wait 1s warm 2s");
        }
        stage.steps("back 2 \n n1 < EVAL release_all 2 r fence:r #2 1000100 ..");
        if !waits {
            stage.steps("acquire 3 r fenced warm 2s");
        }
        // A block of one: no more are within half of the window.
        stage.play(
            "n1 < EVALSHA acquire 2 r fence:r #3 10000 0 1000101 2000000 2000000 31302
             n1 > 1
             n1 > ok
             = acquired 3 until 9898ms with 1000101
             back 3
             n1 < EVAL release_all 2 r fence:r #3 1000101 ..",
        );
    }
}

/// Tasks that use block after block would keep them out otherwise.
#[test]
fn the_release_at_the_end_of_a_block_notifies_those_that_wait_elsewhere() {
    let mut stage = telling();
    stage.steps(
        "wall 100
         acquire 1 r fenced warm 2s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 ..
         n1-2 > refuses -1 0 1000099 100
         n1-3 < EVAL release_all ..
         n1-3 < EVALSHA acquire 2 r fence:r #2 10000 0 1000100 2000000 2000000 31302
         n3 > ok
         n1-3 > 0
         n1-3 > ok
         = acquired 1 until 9898ms with 1000100
         acquire 2 r fenced wait 30s warm 2s
         back 1
         n1-3 < EVAL release_all 2 r fence:r #2 1000100 ..",
    );
    let sent = &stage.wires[2].unseen;
    assert!(sent.iter().any(|sent| sent.starts_with("PUBLISH")), "{sent:?}");
}

#[test]
fn the_rollback_and_the_top_up_name_the_end_of_the_block() {
    play(
        3,
        "wall 100
         acquire 1 r fenced warm 2s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 ..
         n1-2 > refuses 0 500 0 100
         n1-3 < EVAL release_all 2 r fence:r #1 1100 ..
         n1-2 > 0
         n3 > ok
         n3 > 1
         = contended 1 ..",
    );
    play(
        3,
        "wall 100
         acquire 1 r fenced warm 2s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 ..
         n1-3 > ok
         = acquired 1 until 9898ms with 101
         back 1
         acquire 2 r fenced
         = acquired 2 until 9898ms with 102
         extend 3 of 2
         n1-3 < EVALSHA extend 1 r #1 10000
         n1 > 0
         n2-3 > 1
         = extended 3 ..
         n1 < EVALSHA acquire 2 r fence:r #1 10000 1 1100 2000000 2000000 31302
         n1 > refuses -1 0 5000 5000    // others have asked in vain
         n1 < EVALSHA acquire 2 r fence:r #1 10000 1 205000 2000000 2000000 31302
         n1 > ok
         release 4 of 2
         n1-3 < EVAL release_all 2 r fence:r #1 205000 ..
         n1-2 > 1
         = released 4
         n3 > 1",
    );
}

/// A top-up above the block adds no numbers to it: no quorum has let them in.
#[test]
fn a_block_ends_where_its_acquire_has_said() {
    play(
        3,
        "wall 100
         acquire 1 r fenced warm 2s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 1100 ..
         n1-2 > refuses -1 0 1000098 100
         n1-3 < EVAL release_all ..
         n1-3 < EVALSHA acquire 2 r fence:r #2 10000 0 1000100 ..
         n3 > ok
         n1-3 > 0
         n1-3 > ok
         = acquired 1 until 9898ms with 1000099
         extend 2 of 1
         n1-3 < EVALSHA extend 1 r #2 10000
         n1 > 0
         n2-3 > 1
         = extended 2 ..
         n1 < EVALSHA acquire 2 r fence:r #2 10000 1 1000100 ..
         n1 > refuses -1 0 1000100 100
         n1 < EVALSHA acquire 2 r fence:r #2 10000 1 1200100 ..
         n1 > ok
         back 1
         acquire 3 r fenced warm 2s
         = acquired 3 until 9898ms with 1000100
         back 3
         n1-3 < EVAL release_all 2 r fence:r #2 1200100 ..",
    );
}

#[test]
fn a_value_has_the_number_of_its_guard_and_no_guard_here_has_one_after_it() {
    warm(
        "back 1
         acquire 2 r fenced warm 2s
         = acquired 2 until 9898ms with 102
         detach 3 of 2
         n1 < EVALSHA extend 1 r #1 10000
         n1 > 1
         = detached 3
         acquire 4 r fenced
         n1 < EVALSHA acquire 2 r fence:r #2 10000 0 1101 ..
         n1 > refuses 0 500 1100 100
         n1 < EVAL release_all 2 r fence:r #2 1101 ..
         n1 > 0
         = contended 4 ..
         adopt 5 of 3
         n1 < EVALSHA extend 1 r #1 10000
         n1 > 1
         = adopted 5 ..
         back 5
         n1 < EVAL release_all 2 r fence:r #1 1100 2000000 31302",
    );
}

/// A SET of the block that comes late finds the fence that the release has left.
#[test]
fn a_value_that_is_given_back_ends_its_block() {
    warm(
        "detach 2 of 1
         n1 < EVALSHA extend 1 r #1 10000
         n1 > 1
         = detached 2
         give back 2
         n1 < EVAL release_all 2 r fence:r #1 1100 2000000 31302",
    );
}

#[test]
fn an_acquire_of_another_kind_gets_no_hold_of_a_block() {
    for (acquire, command) in [
        ("r", "SET r #2 NX PX 10000"),
        ("r warm 2s", "SET r #2 NX PX 10000"),
        ("r fenced ttl 5s", "EVALSHA acquire 2 r fence:r #2 5000 0 1101 .."),
        ("r fenced label me", "EVALSHA acquire 2 r .."),
        ("r fenced candidate me", "EVALSHA acquire 2 r .."),
        ("r fair fenced", "EVALSHA acquire 2 r .."),
    ] {
        let mut stage = open(1);
        stage.steps(WON);
        stage.steps(&format!(
            "back 1
             acquire 2 {acquire}
             n1 < EVAL release_all 2 r fence:r #1 1100 ..
             n1 < {command}"
        ));
    }
}

/// Its term is under its key: another guard would have another.
#[test]
fn a_candidate_takes_one_number_and_is_not_kept_warm() {
    play(
        1,
        "wall 100
         acquire 1 r fenced candidate me warm 2s
         n1 < EVALSHA acquire 2 r fence:r #1 10000 0 101 2000000 2000000 31302
         n1 > ok
         = acquired 1 until 9898ms with 101
         back 1
         n1 < EVAL release_all 2 r fence:r #1 101 2000000 31302",
    );
}
