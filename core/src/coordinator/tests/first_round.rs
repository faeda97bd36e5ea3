//! A client's first round: its notes are brief until then, and the questions that prolong them go
//! ahead of its commands.

use super::foreign::tell;
use super::{Stage, all_open};
use crate::shared::Settings;

const BRIEF: &str = "EVAL agree 1 quorumlock:agreement 15152 30000 2000 2000 0";
const WHOLE: &str = "EVAL agree 1 quorumlock:agreement 45454 30000 2000 2000 0";

/// Opens so many masters for a client that has begun no round.
fn opened(masters: usize) -> Stage {
    all_open(Stage::brief(masters, |_: &mut Settings| {}), masters)
}

#[test]
fn notes_are_brief_until_the_first_round_which_follows_longer_ones_at_once() {
    let mut stage = Stage::brief(1, |_: &mut Settings| {});
    stage.play(&format!(
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 < INFO server
         n1 < INFO replication
         n1 < INFO memory
         n1 < SCRIPT ..
         n1 < SCRIPT ..
         n1 < {BRIEF} '' '' n1
         n1 > hello 1
         n1 > server run1
         n1 > master
         n1 > agreed
         = connected
         n1 < -
         acquire 1 r
         n1 < {WHOLE} run1 run1 n1
         n1 < SET r #1 NX PX 10000
         n1 > confirmed
         n1 > ok
         = acquired 1 ..
         drop 1
         n1 < EVAL release ..
         n1 > 1
         acquire 2 r           // no question before the next ones
         n1 < SET r #2 NX PX 10000
         n1 > ok
         = acquired 2 .."
    ));
}

#[test]
fn a_round_rests_on_no_brief_note_whose_answer_comes_later() {
    let mut stage = Stage::brief(1, |_: &mut Settings| {});
    stage.play(&format!(
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         acquire 1 r wait 1s
         n1 > master
         n1 > agreed
         = connected
         n1 < {WHOLE} ..
         n1 < EVAL look 1 r
         n1 < SET r #1 NX PX 10000
         n1 > disagrees 60000 max_ttl 60000
         n1 > held 0 nobody
         n1 > ok               // behind an answer that confirms nothing
         n1 < EVAL release ..
         n1 > 1
         +1s
         = disagreement 1 .."
    ));
}

/// A master may have done what it was asked, though its answer does not count.
#[test]
fn a_downgrade_whose_answer_does_not_count_leaves_a_reader() {
    opened(3).play(&format!(
        "acquire 1 write:r
         n1-3 < {WHOLE} ..
         n1-3 < SET r #1 NX PX 10000
         n1-2 > confirmed
         n1-2 > ok
         = acquired 1 until 9898ms
         downgrade 2 of 1
         n1-3 < SCRIPT LOAD acquire_read
         n1-3 < SCRIPT LOAD extend_read
         n1-3 < EVALSHA extend_read 2 r in:r #1 10000
         n1-2 > text c0ffee
         n1-2 > text c0ffee
         n1-2 > -NOPERM no sorted sets
         n3 > disagrees 60000 max_ttl 60000
         n3 > ok
         n3 > text c0ffee
         n3 > text c0ffee
         n3 > 1
         = downgraded 2 until 9898ms"
    ));
}

#[test]
fn the_first_round_waits_for_no_master_that_it_can_do_without() {
    opened(3).play(&format!(
        "acquire 1 r
         n1-3 < {WHOLE} ..
         n1-3 < SET r #1 NX PX 10000
         n1-2 > confirmed
         n1-2 > ok             // n3 has stopped since it was connected
         = acquired 1 .."
    ));
}

#[test]
fn a_vote_counts_only_behind_a_question_that_is_confirmed() {
    for answer in ["disagrees 39000 lists n1 n7 n8", "disagrees 39000 max_ttl 60000", "-OOM full"] {
        opened(3).play(&format!(
            "acquire 1 r
             n1-3 < {WHOLE} ..
             n1-3 < SET r #1 NX PX 10000
             n1 > {answer}
             n1 > ok
             n2-3 > confirmed
             n2 > ok
             n3 > nil
             = contended 1 ..
             n1-2 < EVAL release ..
             n1-2 > 1"
        ));
    }
}

/// Their answers decide which of the masters are shields.
#[test]
fn where_another_client_was_reported_the_first_round_waits_for_the_answers() {
    let mut stage = tell(opened(5), "n5", "n1-4", "n1 n2 n3 n5 n9");
    stage.play(&format!(
        "acquire 1 r
         n1-5 < {WHOLE} ..
         n1-4 < -
         n1-3 > confirmed
         n1-4 < -
         n5 > disagrees 39000 lists n1 n2 n3 n5 n9
         n4 > confirmed
         n1-4 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 .."
    ));
}

/// What it has noted briefly still counts, but for no round: there is nothing to try before the next
/// answer.
#[test]
fn where_no_note_can_be_prolonged_a_waiter_does_not_try_again_and_again() {
    opened(3).play(&format!(
        "acquire 1 r wait 5s
         n1-3 < {WHOLE} ..
         n1-3 < SET r #1 NX PX 10000
         n1-3 > -OOM full
         n1-3 > ok
         n1-3 < EVAL release 1 r #1
         n1-3 > 1
         +900ms
         n1-3 < -
         cancel 1"
    ));
}
