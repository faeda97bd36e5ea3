//! A master that cannot keep up: its queue is bounded in bytes.

use super::{Stage, open};
use crate::master::session::LARGEST_QUEUE;
use crate::quorum::NodeSet;
use crate::wire::{Claim, Packer, Token};
use std::time::Duration;

const TTL: Duration = Duration::from_secs(10);

/// Returns the SET of `key`, encoded.
fn set(key: &str) -> Vec<u8> {
    let (keys, token) = (key.into(), Token::new(0));
    Claim { keys, token, life: TTL.into(), ballot: None, label: None, unsettled: NodeSet::EMPTY }
        .acquire(&mut Packer::new(None))
        .to_vec()
}

/// Opens three masters, with `r` held on all of them, and `n1` silent with so many bytes of room in
/// its queue.
fn with_room(room: usize) -> Stage {
    let mut stage = open(3);
    stage.steps("acquire 1 r \n n1-3 < SET .. \n n1-3 > ok \n = acquired 1 ..");
    let bare = set(&"k".repeat(1_000_000)).len() - 1_000_000;
    let key = "k".repeat(LARGEST_QUEUE - room - bare);
    stage.steps(&format!("acquire 2 {key} \n n1-3 < SET .. \n n2-3 > ok \n = acquired 2 .."));
    stage
}

#[test]
fn a_set_is_taken_to_the_last_byte_and_refused_beyond() {
    let room = set("s").len();
    let mut stage = with_room(room);
    stage.steps("acquire 3 s \n n1-3 < SET s .. \n n2-3 > ok \n = acquired 3 ..");
    stage.play("n1 < -");

    let mut stage = with_room(room - 1);
    stage.play(
        "acquire 3 s
         n1 < -
         n2-3 < SET s ..
         n2 > nil
         n3 < EVAL ..
         = contended 3 at 1 after 0ms: queue full | held | not waited for",
    );
}

#[test]
fn a_full_queue_refuses_neither_rollbacks_nor_releases() {
    let room = set("s").len();
    with_room(room).play(
        "acquire 3 s
         n1-3 < SET s #3 NX PX 10000
         cancel 3
         n1-3 < EVAL release 1 s #3
         release 4 of 1
         n1-3 < EVAL release 1 r #1
         n2-3 > nil
         n2-3 > 0
         n2-3 > 1
         = released 4",
    );
}

#[test]
fn a_full_queue_refuses_no_extension() {
    with_room(0).play(
        "extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n2-3 > 1
         = extended 3 ..",
    );
}

#[test]
fn an_extension_behind_what_has_no_answer_for_as_long_as_its_keys_live_is_unknown_there() {
    let mut stage = open(3);
    stage.steps(
        "acquire 1 r ttl 100ms keep forever \n n1-3 < SET .. \n n1-3 > ok \n = acquired 1 ..",
    );
    let mut asked = 0;
    for _ in 0..40 {
        stage.pass(Duration::from_millis(5));
        stage.wires[0].unseen.drain(..).for_each(|_| asked += 1);
        for node in [1, 2] {
            let answers = ":1\r\n".repeat(stage.wires[node].unseen.drain(..).count());
            stage.says(node, answers.as_bytes());
        }
        stage.unseen.clear();
    }
    // One each 33 ms for the first 100 ms, and none later.
    assert_eq!(asked, 4, "n1 has been asked so often");
}

#[test]
fn answers_make_room() {
    with_room(0).play(
        "acquire 3 s
         n1 < -
         n2-3 < SET s #3 NX PX 10000
         n1 > ok
         acquire 4 t
         n1-3 < SET t #4 NX PX 10000",
    );
}

#[test]
fn a_new_connection_has_an_empty_queue() {
    with_room(0).play(
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         acquire 3 s
         n1-3 < SET s #3 NX PX 10000",
    );
}
