//! Replies as bytes: however they are cut, and some that no server sends.

use super::words::reply;
use super::{open, play};
use crate::lock::{Round, RoundKind};
use crate::quorum::{Membership, Tally};
use crate::report::Answer;
use crate::shared::{AttemptId, RequestId};
use std::time::Duration;

#[test]
fn the_first_answer_of_a_node_is_its_only_one() {
    let stage = open(1);
    let (cx, tally) = (&stage.machine.at.cx, Tally::new(Membership::of(1).unwrap()));
    let (request, attempt) = (RequestId(1), AttemptId::NONE);
    let kind = RoundKind::Acquire { request, attempt, tally };
    let mut round = Round::new(cx, kind, Duration::from_secs(1), &mut Vec::new());
    round.record(0, Answer::Vacant, cx.now);
    round.record(0, Answer::Granted, cx.now.after(Duration::from_millis(1)));
    round.record(1, Answer::Granted, cx.now); // There is no such node.
    let reports = round.reports(cx.masters.names());
    let reported = reports.iter().map(|report| (&report.answer, report.latency));
    assert!(reported.eq([(&Answer::Vacant, Duration::ZERO)]));
}

/// The same exchange, with the replies of `n1` cut at every place.
#[test]
fn replies_mean_the_same_wherever_they_are_cut() {
    let replies = ["nil", "push hello", "3700", "0"].map(reply).concat();
    for cut in 0..=replies.len() {
        let mut stage = open(1);
        stage.steps(
            "acquire 1 r wait 1s
             n1 < SET r #1 NX PX 10000
             n1 > nil
             +2.5ms
             n1 < EVAL look 1 r
             n1 < SET r #2 NX PX 10000
             +100ms",
        );
        stage.says(0, &replies[..cut]);
        stage.says(0, &replies[cut..]);
        stage.play(
            "n1 < EVAL release 1 r #2
             = -
             no faults
             debts 0
             acquire 2 s
             n1 < SET s #3 NX PX 10000
             n1 > ok
             = acquired 2 until 10000.5ms",
        );
    }
}

#[test]
fn a_handshake_means_the_same_byte_by_byte() {
    let mut stage = open(1);
    stage.steps("n1 breaks \n +50ms \n n1 < DIAL \n n1 connects");
    stage.steps("n1 < HELLO .. \n n1 asks");
    for byte in ["hello 2", "server run1", "master", "agreed"].map(reply).concat() {
        stage.says(0, &[byte]);
    }
    stage.steps("n1 < CLIENT KILL ID 1");
    for byte in reply("1") {
        stage.says(0, &[byte]);
    }
    stage.play("no faults");
}

#[test]
fn an_unasked_reply_closes_the_connection() {
    play(
        1,
        "n1 > ok
         n1 < CLOSE
         fault n1 down the server answered what nobody asked",
    );
}

/// Replies that no Redis server sends.
const NONSENSE: [&str; 4] = ["raw HTTP/1.1 400", "raw :x\\r\\n", "raw #x\\r\\n", "raw %x\\r\\n"];

#[test]
fn an_invalid_reply_closes_the_connection_with_an_unknown_vote() {
    for nonsense in NONSENSE {
        play(
            1,
            &format!(
                "acquire 1 r
                 n1 < SET r #1 NX PX 10000
                 n1 > {nonsense}
                 n1 < CLOSE
                 = no quorum 1 at 1 after 0ms: connection lost (not a RESP3 reply..
                 debts 1"
            ),
        );
    }
}

#[test]
fn a_reply_over_a_mebibyte_closes_the_connection_at_that_size() {
    let mut stage = open(1);
    stage.steps("acquire 1 r \n n1 < SET r #1 NX PX 10000");
    stage.says(0, b"*1\r\n$1048576\r\n");
    let piece = [b'x'; 1 << 16];
    for _ in 0..15 {
        stage.says(0, &piece);
    }
    stage.steps("n1 < -");
    stage.says(0, &piece);
    stage.play(
        "n1 < CLOSE
         = no quorum 1 at 1 after 0ms: connection lost (a reply of more than 1048576 bytes)",
    );
}

#[test]
fn a_reply_that_is_to_be_larger_closes_the_connection_at_once() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > raw $1048577\\r\\n
         n1 < CLOSE
         = no quorum 1 at 1 after 0ms: connection lost (a reply of more than 1048576 bytes)",
    );
}

#[test]
fn many_small_replies_in_one_read_are_no_large_reply() {
    let mut stage = open(1);
    let pushes = reply("push hello").repeat(50_000);
    assert!(pushes.len() > 1 << 20);
    stage.says(0, &pushes);
    stage.says(0, &pushes[..9]);
    stage.says(0, &pushes[9..]);
    stage.play("n1 < - \n no faults");
}

#[test]
fn a_push_settles_nothing() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > push hello
         = -
         n1 > ok
         = acquired 1 until 9898ms
         n1 > push hello
         n1 < -
         no faults",
    );
}

#[test]
fn a_reply_that_a_set_cannot_have_is_unknown_and_rolled_back() {
    for reply in ["1", "text OK", "push x \n n1 > 0"] {
        play(
            1,
            &format!(
                "acquire 1 r
                 n1 < SET r #1 NX PX 10000
                 n1 > {reply}
                 n1 < EVAL release 1 r #1
                 = no quorum 1 at 1 after 0ms: error of the server (unexpected reply .."
            ),
        );
    }
}
