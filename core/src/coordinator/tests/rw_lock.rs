//! Readers and writers of one resource: what they send, who waits, and what a hint does.

use super::stage::Stage;
use super::{all_open, open, play};
use crate::coordinator::Settings;
use crate::coordinator::wire::Login;

#[test]
fn a_reader_asks_by_hash_and_leaves_by_its_script() {
    play(
        3,
        "acquire 1 read:r
         n1-3 < SCRIPT LOAD acquire_read
         n1-3 < SCRIPT LOAD extend_read
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #1 10000 0
         n1-3 > text c0ffee
         n1-3 > text c0ffee
         n1-3 > ok
         = acquired 1 until 9898ms
         extend 2 of 1
         n1-3 < EVALSHA extend_read 2 r in:r #1 10000
         n1-3 > 1
         = extended 2 until 9898ms
         release 3 of 1
         n1-3 < EVAL release_read 2 r in:r #1
         n1-3 > 1
         = released 3
         acquire 4 read:r               // the scripts are loaded once for each connection
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #2 10000 0
         n1-3 > ok
         = acquired 4 ..",
    );
}

#[test]
fn readers_of_one_process_do_not_wait_for_each_other() {
    let mut stage = open(3);
    stage.steps(LOADED);
    stage.play(
        "acquire 1 read:r wait 1s
         acquire 2 read:r wait 1s
         n1-3 < EVALSHA acquire_read ..
         n1-3 < EVALSHA acquire_read ..
         n1-3 > ok
         = acquired 1 ..
         n1-3 > ok
         = acquired 2 ..",
    );
}

/// A reader has come and gone, so that every master has the scripts.
const LOADED: &str = "acquire 90 read:r
                      n1-3 < SCRIPT LOAD acquire_read
                      n1-3 < SCRIPT LOAD extend_read
                      n1-3 < EVALSHA acquire_read ..
                      n1-3 > text c0ffee
                      n1-3 > text c0ffee
                      n1-3 > ok
                      = acquired 90 ..
                      release 91 of 90
                      n1-3 < EVAL release_read ..
                      n1-3 > 1
                      = released 91\n";

#[test]
fn of_readers_that_were_refused_one_tries_for_all_of_them() {
    let mut stage = open(3);
    stage.steps(LOADED);
    stage.play(
        "acquire 1 read:r wait 10s
         acquire 2 read:r wait 10s
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #2 10000 0
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #3 10000 0
         n1-2 > refuses 0 100 0 0
         n1-2 > refuses 0 100 0 0
         n1-3 < EVAL release_read 2 r in:r #2
         n1-3 < EVAL release_read 2 r in:r #3
         n3 > refuses 0 100 0 0
         n3 > refuses 0 100 0 0
         n1-3 > 0
         n1-3 > 0
         +2.5ms
         n1-3 < EVAL look 1 r           // 1 polls
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #4 10000 0
         n1-3 > nil
         n1-2 > ok
         = acquired 1 ..
         n1-3 < EVAL look 1 r           // and 2 need not wait for its turn
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #5 10000 0
         n3 > ok
         n1-3 > nil
         n1-3 > ok
         = acquired 2 ..",
    );
}

#[test]
fn a_reader_whose_turn_it_is_to_poll_takes_over_when_the_first_gives_up() {
    let mut stage = open(3);
    stage.steps(LOADED);
    stage.play(
        "acquire 1 read:r wait 10s
         acquire 2 read:r wait 10s
         n1-3 < EVALSHA ..
         n1-3 < EVALSHA ..
         n1-2 > refuses 0 100 0 0
         n1-2 > refuses 0 100 0 0
         n1-3 < EVAL release_read ..
         n1-3 < EVAL release_read ..
         n3 > refuses 0 100 0 0
         n3 > refuses 0 100 0 0
         n1-3 > 0
         n1-3 > 0
         cancel 1
         n1-3 < EVAL look 1 r
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #4 10000 0
         n1-3 > nil
         n1-2 > ok
         = acquired 2 ..
         n3 > ok",
    );
}

#[test]
fn a_reader_that_may_not_wait_is_told_that_a_writer_waits() {
    let mut stage = open(3);
    stage.steps(LOADED);
    stage.play(
        "acquire 1 read:r
         n1-3 < EVALSHA ..
         n1-2 > refuses 1 2900 0 0
         = contended 1 at 1 after 0ms: ..
         n1-3 < EVAL release_read ..
         n3 > refuses 1 2900 0 0
         n1-3 > 0",
    );
}

#[test]
fn a_writer_that_is_refused_asks_new_readers_to_wait_until_it_has_won() {
    play(
        3,
        "acquire 1 write:r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n1-3 < EVAL release 1 r #1
         n1-3 < SET next:r #2 PX 3000
         n3 > nil
         n1-3 > 0
         n1-3 > ok
         +2.5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-3 > 5000
         n1-2 > nil
         n1-3 < EVAL release 1 r #3     // the hint is fresh
         n3 > nil
         n1-3 > 0
         jitter most
         +5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #4 NX PX 10000
         n1-3 > nil
         n1-2 > ok
         n1-3 < EVAL release 1 next:r #2
         = acquired 1 ..
         n3 > ok
         n1-3 > 1
         +2s                            // nothing is renewed
         n1-3 < -",
    );
}

/// Opens three masters that tell when a key is free: `n3` tells of `r`.
fn telling() -> Stage {
    let told = |settings: &mut Settings| settings.wake_ups = true;
    all_open(Stage::with(3, &Login::default(), told), 3)
}

#[test]
fn a_hint_is_renewed_each_second_and_taken_back_by_who_gives_up() {
    telling().play(
        "acquire 1 write:r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n1-3 < EVAL release 1 r #1
         n3 < SUBSCRIBE quorumlock:free:0:r
         n1-3 < SET next:r #2 PX 3000
         n3 > nil
         n1-3 > 0
         n3 > subscribed r
         n1-3 > ok
         n3 < EVAL look 1 r             // the subscription may have come too late
         n3 < SET r #3 NX PX 10000
         n3 > held 9000 someone
         n3 > nil
         n3 < EVAL release 1 r #3
         n3 > 0
         +999ms
         = -
         n1-3 < -
         +1ms
         n1-3 < SET next:r #2 PX 3000
         n1-3 > ok
         cancel 1
         n1-3 < EVAL release 1 next:r #2
         n3 < PUBLISH quorumlock:free:0:r
         n1-3 > 1
         n3 > 1
         +3s
         n1-3 < -",
    );
}

#[test]
fn the_last_reader_to_leave_tells_by_its_script() {
    telling().play(
        "acquire 1 read:r
         n1-3 < SCRIPT LOAD acquire_read
         n1-3 < SCRIPT LOAD extend_read
         n1-3 < EVALSHA acquire_read ..
         n1-3 > text c0ffee
         n1-3 > text c0ffee
         n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1-2 < EVAL release_read 2 r in:r #1
         n3 < EVAL release_read 2 r in:r #1 quorumlock:free:0:
         n1-3 > 1
         = released 2",
    );
}

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
         n3 < PUBLISH quorumlock:free:0:r
         n3 > 0
         n3 < EVALSHA acquire_read 3 r in:r next:r #1 9999 1
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
         n3 < PUBLISH quorumlock:free:0:r
         n1-3 > 1
         n3 > 0
         = released 4",
    );
}

#[test]
fn a_downgrade_that_a_master_may_have_done_leaves_a_reader() {
    for answer in ["n1 > 1", "n1 breaks \n n1 < DIAL", "+200ms"] {
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
             n3 < PUBLISH quorumlock:free:0:r",
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
