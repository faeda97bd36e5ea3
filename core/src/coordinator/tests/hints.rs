//! The hint of a writer that waits in its own process: behind which acquire it is set, and until when.

use super::{play, telling};

/// A plain acquire of this process was refused, and waits for a long time.
const PLAIN_WAITS: &str = "acquire 1 r wait 60s
     n1-3 < SET r #1 NX PX 10000
     n1-3 > nil
     n3 < EVAL release 1 r #1
     n3 < SUBSCRIBE quorumlock:free:0:r
     n3 > 0
     n3 > subscribed r
     n3 < EVAL look 1 r
     n3 < SET r #2 NX PX 10000
     n3 > held 9000 someone
     n3 > nil\n";

/// A writer of this process waits behind it.
const WRITER_WAITS: &str = "acquire 2 write:r wait 60s
     n1-3 < SET next:r #3 PX 3000
     n1-3 > ok\n";

#[test]
fn a_writer_behind_a_plain_acquire_that_was_refused_has_its_hint_and_renews_it() {
    let mut stage = telling();
    stage.steps(PLAIN_WAITS);
    stage.steps(WRITER_WAITS);
    stage.play(
        "acquire 3 write:r wait 10s     // one hint is enough
         +999ms
         n1-3 < -
         +1ms
         n1-3 < SET next:r #3 PX 3000
         n1-3 > ok
         cancel 2                       // the next writer renews it at once
         n1-3 < SET next:r #3 PX 3000
         n1-3 > ok
         cancel 3
         n1-3 < EVAL shorten_hint 1 next:r #3 1500
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n1-3 > 1
         n3 > 1
         +3s                            // no writer waits any more
         n1-3 < -",
    );
}

#[test]
fn a_writer_behind_a_plain_acquire_that_is_refused_later_has_its_hint_from_then_on() {
    play(
        3,
        "acquire 1 r wait 60s
         n1-3 < SET r #1 NX PX 10000
         acquire 2 s+r wait 60s
         acquire 3 write:r wait 60s     // none of them was refused yet
         n1-3 < -
         n1-2 > nil
         n3 < EVAL release 1 r #1
         n1-3 < SET next:r #2 PX 3000
         n3 > nil
         n3 > 0
         n1-3 > ok",
    );
}

/// Once the plain acquire has won, it keeps readers out by itself: nothing is renewed behind it. Readers get in after
/// the writer, which deletes the hint.
#[test]
fn a_writer_behind_a_holder_renews_no_hint_and_takes_it_back_when_it_wins() {
    let mut stage = telling();
    stage.steps(PLAIN_WAITS);
    stage.steps(WRITER_WAITS);
    stage.play(
        "n3 > freed r
         n3 < SET r #4 NX PX 10000
         n3 > ok
         n1-2 < SET r #4 NX PX 10000
         n1-2 > ok
         = acquired 1 ..
         +1s
         n1-3 < -
         acquire 3 write:r wait 60s
         n1-3 < -
         drop 1
         n1-3 < EVAL release 1 r #4
         n1-3 < SET r #5 NX PX 10000
         n1-3 > 1
         n1-2 > ok
         = acquired 2 ..
         n1-3 < EVAL release 1 next:r #3",
    );
}

#[test]
fn a_writer_that_wins_takes_back_the_hint_of_one_that_has_given_up() {
    let mut stage = telling();
    stage.steps(PLAIN_WAITS);
    stage.steps(WRITER_WAITS);
    stage.play(
        "cancel 2
         n1-3 < EVAL shorten_hint 1 next:r #3 1500
         n3 < EVAL notify 1 next:r quorumlock:free:0:r ..
         n1-3 > 1
         n3 > 1
         cancel 1
         acquire 3 write:r wait 10s
         n1-3 < SET r #4 NX PX 10000
         n1-2 > ok
         = acquired 3 ..
         n1-3 < EVAL release 1 next:r #3",
    );
}

#[test]
fn a_writer_behind_one_of_several_resources_has_the_hint_of_its_own() {
    play(
        3,
        "acquire 1 q+r+s wait 60s
         n1-3 < EVALSHA acquire 3 q r s #1 10000 0
         acquire 2 write:s wait 60s
         acquire 3 write:r wait 60s
         n1-2 > refuses 0 9000 0 0
         n1-3 < EVAL release_all 3 q r s #1
         n1-3 < SET next:r #2 PX 3000
         n1-3 < SET next:s #3 PX 3000
         n3 > refuses 0 9000 0 0
         n1-3 > 0
         n1-3 > ok
         n1-3 > ok",
    );
}
