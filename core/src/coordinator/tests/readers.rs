//! Readers and writers of one resource: what they send, which of them waits, and what a hint does.

mod writers;

use super::{open, play, telling};

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
fn all_readers_that_wait_beside_one_that_wins_try_at_once() {
    let mut stage = open(3);
    stage.steps(LOADED);
    let all = |step: &str| [step; 3].join("\n");
    stage.play(&format!(
        "acquire 1 read:r wait 10s
         acquire 2 read:r wait 10s
         acquire 3 read:r wait 10s
         {}
         {}
         {}
         {}
         {}
         +2.5ms
         n1-3 < EVAL look 1 r           // 1 polls
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #5 10000 0
         n1-3 > nil
         n1-2 > ok
         = acquired 1 ..
         n1-3 < EVAL look 1 r           // 2 and 3 in the same write
         n1-3 < EVALSHA acquire_read ..
         n1-3 < EVAL look 1 r
         n1-3 < EVALSHA acquire_read ..
         n1-3 < -",
        all("n1-3 < EVALSHA acquire_read .."),
        all("n1-2 > refuses 0 100 0 0"),
        all("n1-3 < EVAL release_read .."),
        all("n3 > refuses 0 100 0 0"),
        all("n1-3 > 0"),
    ));
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
fn a_reader_that_may_not_wait_learns_that_a_writer_waits() {
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
         n3 < EVAL release 1 r #1
         n1-3 < SET next:r #2 PX 3000
         n3 > nil
         n3 > 0
         n1-3 > ok
         +2.5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-3 > 5000
         n1-2 > nil
         n3 < EVAL release 1 r #3     // the hint is fresh
         n3 > nil
         n3 > 0
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

#[test]
fn a_hint_is_renewed_each_second_and_ends_soon_after_its_writer_gives_up() {
    telling().play(
        "acquire 1 write:r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #1
         n1-3 < SET next:r #2 PX 3000
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > nil
         n3 > 0
         n1-3 > ok
         n3 > subscribed r
         n3 < EVAL look 1 r             // the subscription may have come too late
         n3 < SET r #3 NX PX 10000
         n3 > held 9000 someone
         n3 > nil
         +999ms
         = -
         n1-3 < -
         +1ms
         n1-3 < SET next:r #2 PX 3000
         n1-3 > ok
         cancel 1
         n1-3 < EVAL shorten_hint 1 next:r #2 1500
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
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

#[test]
fn scripts_that_a_master_has_forgotten_are_loaded_with_the_next_command() {
    let mut stage = open(3);
    stage.steps(LOADED);
    stage.play(
        "acquire 1 read:r
         n1-3 < EVALSHA acquire_read ..
         n1-2 > -NOSCRIPT No matching script.
         n1-2 < SCRIPT LOAD acquire
         n1-2 < SCRIPT LOAD extend
         n1-3 < EVAL release_read 2 r in:r #2
         n1-2 < SCRIPT LOAD acquire_read
         n1-2 < SCRIPT LOAD extend_read
         n1-3 < EVAL look 1 r
         n1-3 < EVALSHA acquire_read 3 r in:r next:r #3 10000 0",
    );
}

/// The same as `LOADED`, on masters that tell.
const LOADED_AND_GONE: &str = "acquire 90 read:r
                               n1-3 < SCRIPT LOAD acquire_read
                               n1-3 < SCRIPT LOAD extend_read
                               n1-3 < EVALSHA acquire_read ..
                               n1-3 > text c0ffee
                               n1-3 > text c0ffee
                               n1-3 > ok
                               = acquired 90 ..
                               drop 90
                               n1-3 < EVAL release_read ..
                               n1-3 > 1\n";

/// Readers 1 and 2 wait for a writer elsewhere; 1 polls.
const BOTH_WAIT: &str = "acquire 1 read:r wait 10s
                         acquire 2 read:r wait 10s
                         n1-3 < EVALSHA acquire_read ..
                         n1-3 < EVALSHA acquire_read ..
                         n1-3 > refuses 0 9000 0 0
                         n1-3 < EVAL release_read ..
                         n3 < SUBSCRIBE ..
                         n1-3 > refuses 0 9000 0 0
                         n1-3 < EVAL release_read ..
                         n1-3 > 0
                         n3 > subscribed r
                         n1-3 > 0
                         n3 < EVAL look 1 r
                         n3 < EVALSHA acquire_read ..
                         n3 > held 9000 someone
                         n3 > refuses 0 9000 0 0
                         n3 < EVAL release_read ..\n";

#[test]
fn a_reader_for_which_another_polls_sleeps_when_a_master_comes_back() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.steps(BOTH_WAIT);
    stage.play(
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < -
         n2-3 < -",
    );
}

#[test]
fn a_reader_that_gives_up_in_its_sleep_wakes_no_other() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.steps(BOTH_WAIT);
    stage.play("cancel 2 \n n1-2 < -");
}
