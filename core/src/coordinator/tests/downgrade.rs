//! The downgrade: from a writer to a reader, and back if no master can have done it.

use super::{play, telling};

/// A writer holds `r` for request 1 until 9898 ms.
const WRITER: &str = "acquire 1 write:r
                      n1-3 < SET r #1 NX PX 10000
                      n1-3 > ok
                      = acquired 1 until 9898ms
                      +1s\n";

/// Its downgrade has been sent.
const DOWNGRADE: &str = "downgrade 2 of 1
                         n1-3 < SCRIPT LOAD acquire_read
                         n1-3 < SCRIPT LOAD extend_read
                         n1-3 < EVALSHA extend_read 2 r in:r #1 10000
                         n1-3 > text c0ffee
                         n1-3 > text c0ffee\n";

fn downgraded(script: &str) {
    let mut stage = telling();
    stage.steps(WRITER);
    stage.steps(DOWNGRADE);
    stage.play(script);
}

#[test]
fn a_downgrade_that_a_quorum_confirms_prolongs_the_hold_and_tells_readers() {
    downgraded(
        "n1-2 > 1
         = downgraded 2 until 10898ms
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n3 > 0
         n3 < EVALSHA acquire_read 3 r in:r next:r #1 10000 1
         n3 > 0
         n3 > ok
         release 3 of 1
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n1-3 > 1
         = released 3",
    );
}

#[test]
fn a_downgrade_that_no_master_can_have_done_leaves_a_writer() {
    downgraded(
        "n1-2 > -NOPERM no sorted sets
         = -
         n3 > -NOPERM no sorted sets
         = downgrade 2 unconfirmed: ..
         extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = extended 3 ..
         release 4 of 1
         n1-3 < EVAL release 1 r #1
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n1-3 > 1
         n3 > 0
         = released 4",
    );
}

#[test]
fn a_downgrade_that_a_master_may_have_done_leaves_a_reader() {
    for answer in ["n1 > 1", "n1 breaks", "+200ms"] {
        let mut stage = telling();
        stage.steps(WRITER);
        stage.steps(DOWNGRADE);
        stage.steps("n2-3 > -NOPERM no sorted sets");
        stage.steps(answer);
        stage.steps("= downgraded 2 until 9898ms");
        stage.steps(
            "extend 3 of 1
             n2-3 < EVALSHA extend_read 2 r in:r #1 10000
             n2-3 > 1
             = extended 3 ..
             n3 < EVAL notify 1 next:r quorumlock:free:0:r ..",
        );
    }
}

#[test]
fn a_downgrade_that_others_hold_is_lost() {
    downgraded(
        "n1-2 > -1
         = lost 1: quorum gone: ..
         = downgrade 2 lost
         drop 1
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n3 > 1
         n1-3 > 0",
    );
}

#[test]
fn a_lock_that_lapses_during_its_downgrade_is_released_as_a_reader() {
    downgraded(
        "n1 > 1
         ~9s
         drop 1
         = lost 1: lapsed
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n2-3 > 1
         n1-3 > 1
         = downgrade 2 lost",
    );
}

#[test]
fn a_guard_that_is_dropped_during_its_downgrade_is_released_as_a_reader() {
    downgraded(
        "drop 1
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n1 > 1
         = downgrade 2 lost
         n2-3 > 1
         n1-3 > 1",
    );
}

#[test]
fn a_downgrade_closes_the_extension_that_is_open_and_stops_the_keeper() {
    let mut stage = telling();
    stage.steps(
        "acquire 1 write:r keep forever
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 until 9898ms
         extend 7 of 1
         n1-3 < EVALSHA extend 1 r #1 10000",
    );
    stage.steps(DOWNGRADE_AT_ONCE);
    stage.play(
        "n1 > 1                         // the extension's: it asked for a writer
         n2-3 > 1
         n1-3 > text c0ffee
         n1-3 > text c0ffee
         = -
         next 200ms                     // not the keeper's time
         n1-2 > 1
         = downgraded 2 until 9898ms
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n3 > 1
         n3 > 0",
    );
}

const DOWNGRADE_AT_ONCE: &str = "downgrade 2 of 1
                                 = extend 7 unconfirmed: ..
                                 n1-3 < SCRIPT LOAD acquire_read
                                 n1-3 < SCRIPT LOAD extend_read
                                 n1-3 < EVALSHA extend_read 2 r in:r #1 10000\n";

#[test]
fn a_keeper_goes_on_as_a_reader() {
    let mut stage = telling();
    stage.steps(
        "acquire 1 write:r keep forever
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 until 9898ms
         +1s",
    );
    stage.steps(DOWNGRADE);
    stage.play(
        "n1-3 > 1
         = downgraded 2 until 10898ms
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n3 > 0
         +3.4s
         n1-3 < EVALSHA extend_read 2 r in:r #1 10000
         n1-3 > 1
         = extended by its keeper ..",
    );
}

#[test]
fn a_fenced_writer_is_a_reader_without_a_number_after_its_downgrade() {
    let mut stage = telling();
    stage.steps(
        "wall 1000000
         acquire 1 write:r fenced
         n1-3 < EVALSHA acquire 2 r fence:write:r #1 10000 0 ..
         n1-3 > ok
         = acquired 1 until 9898ms with 1000001",
    );
    stage.steps(DOWNGRADE);
    stage.play(
        "n1-2 > 1
         = downgraded 2 ..
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         drop 1
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n3 > 1
         n3 > 0
         n1-3 > 1",
    );
}

#[test]
fn only_a_writer_that_holds_its_lock_can_be_downgraded() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         downgrade 2 of 1
         = downgrade 2 lost
         extend 3 of 1
         n1 < EVALSHA extend ..
         n1 > 1
         = extended 3 ..",
    );
    let mut stage = telling();
    stage.steps(WRITER);
    stage.play(
        "~9s
         downgrade 2 of 1
         = lost 1: lapsed
         = downgrade 2 lost
         drop 1
         n1-3 < EVAL release ..
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..",
    );
}

#[test]
fn the_place_of_a_writer_is_free_once_it_is_a_reader() {
    let mut stage = telling();
    stage.steps(WRITER);
    stage.steps("acquire 5 write:r wait 10s \n n1-3 < -");
    stage.steps(DOWNGRADE);
    stage.play(
        "n1-2 > 1
         = downgraded 2 ..
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n1-3 < SET r #2 NX PX 10000    // and is refused by the reader
         n3 > 1
         n3 > 0
         n1-3 > nil
         n3 < EVAL release 1 r #2
         n1-3 < SET next:r #3 PX 3000
         n3 < SUBSCRIBE ..
         cancel 5
         n1-3 < EVAL shorten_hint 1 next:r #3 1500
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..",
    );
}
