//! Readers and writers of one process: what is sent when one of them leaves, or when a hint is over.

use super::{LOADED_AND_GONE, telling};

#[test]
fn a_writer_that_leaves_lets_the_readers_of_its_process_try_in_the_same_write() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.play(
        "acquire 1 write:r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         acquire 2 read:r wait 10s
         n1-3 < EVALSHA acquire_read ..
         n1-3 > refuses 0 9000 0 0
         n1-3 < EVAL release_read ..
         n3 < SUBSCRIBE ..
         n1-3 > 0
         drop 1
         n1-3 < EVAL release 1 r #2
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n3 < EVAL look 1 r
         n3 < EVALSHA acquire_read ..
         n1-3 > 1
         n3 > 1
         n3 > nil
         n3 > ok",
    );
}

#[test]
fn a_reader_tries_again_when_the_hint_that_keeps_it_out_is_over() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.play(
        "jitter most
         acquire 1 read:r wait 10s
         n1-3 < EVALSHA acquire_read ..
         n1-3 > refuses 1 2900 0 0
         n1-3 < EVAL release_read ..
         n3 < SUBSCRIBE ..
         n1-3 > 0
         n3 > subscribed r
         n3 < EVAL look 1 r             // the subscription may have come too late
         n3 < EVALSHA acquire_read ..
         n3 > nil
         n3 > refuses 1 2900 0 0
         n3 < EVAL release_read ..
         n3 > 0
         +2899ms
         n1-3 < -
         +1ms
         n3 < EVALSHA acquire_read ..",
    );
}

#[test]
fn a_writer_that_passes_on_to_the_next_of_its_process_lets_no_reader_try() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.play(
        "acquire 1 write:r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         acquire 2 read:r wait 10s
         n1-3 < EVALSHA acquire_read ..
         n1-3 > refuses 0 9000 0 0
         n1-3 < EVAL release_read ..
         n3 < SUBSCRIBE ..
         n1-3 > 0
         acquire 3 write:r wait 10s
         drop 1
         n1-3 < EVAL release 1 r #2
         n1-3 < SET r #4 NX PX 10000",
    );
}

/// The masters have lost the reader: a writer of its process has won, and another one waits behind that.
#[test]
fn a_reader_that_leaves_tells_others_although_a_writer_of_its_process_waits() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.play(
        "acquire 1 read:r
         n1-3 < EVALSHA acquire_read ..
         n1-3 > ok
         = acquired 1 ..
         acquire 2 write:r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 2 ..
         acquire 3 write:r wait 10s
         drop 1
         n1-2 < EVAL release_read 2 r in:r #2
         n3 < EVAL release_read 2 r in:r #2 quorumlock:free:0:",
    );
}

/// Request 1 reads, and was refused twice: the messages on the channel come.
const READER: &str = "acquire 1 read:r wait 30s
     n1-3 < EVALSHA acquire_read ..
     n1-3 > refuses 0 9000 0 0
     n1-3 < EVAL release_read ..
     n3 < SUBSCRIBE ..
     n1-3 > 0
     n3 > subscribed r
     n3 < EVAL look 1 r
     n3 < EVALSHA acquire_read ..
     n3 > 9000
     n3 > refuses 0 9000 0 0
     n3 < EVAL release_read ..
     n3 > 0\n";

#[test]
fn a_reader_tries_for_what_readers_may_have_and_not_for_what_writers_may() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.steps(READER);
    stage.play(
        "n3 > says r writers
         n1-3 < -
         n3 > says r undone
         n1-3 < -
         n3 > says r readers 2
         n3 < EVALSHA acquire_read ..",
    );
}

/// With half of the time over which they spread.
#[test]
fn readers_of_a_thousand_processes_spread() {
    let mut stage = telling();
    stage.steps(LOADED_AND_GONE);
    stage.steps(READER);
    stage.play(
        "n3 > says r readers 1000
         n1-3 < -
         +12ms
         n1-3 < -
         +1ms
         n3 < EVALSHA acquire_read ..",
    );
}

#[test]
fn a_writer_tries_for_what_writers_may_have_and_not_for_what_readers_may() {
    let mut stage = telling();
    stage.play(
        "acquire 1 write:r wait 30s
         n1-3 < SET ..
         n1,n3 > nil
         n2 < EVAL release 1 r #1
         n1-3 < SET next:r ..
         n3 < SUBSCRIBE ..
         n2 > nil
         n2 > 0
         n1-3 > ok
         n3 > subscribed r
         n3 < EVAL look 1 r
         n3 < SET r ..
         n3 > 9000
         n3 > nil
         n3 > says r readers 2
         n1-3 < -
         n3 > says r writers
         n3 < SET r ..",
    );
}
