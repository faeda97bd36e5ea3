//! The ways in which a master is asked to release: in full, by hash, by its own command.

use super::{Stage, greets, open};
use crate::wire::Login;

/// Opens masters of which some, by their numbers, are Valkey 9.
fn of_kinds(masters: usize, valkeys: &[usize]) -> Stage {
    let mut stage = Stage::new(masters, &Login::default());
    for node in 1..=masters {
        let hello = if valkeys.contains(&node) { "valkey 1" } else { "hello 1" };
        stage.steps(&greets(node, hello, &format!("run{node}")));
    }
    stage.steps("= connected");
    stage.tokens.ways = true;
    stage
}

/// Opens one master, where acquire 1 holds `r` after a release in full has been answered.
fn known() -> Stage {
    let mut stage = of_kinds(1, &[]);
    stage.steps(
        "acquire 9 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 9 ..
         drop 9 \n n1 < EVAL release 1 r #1 \n n1 > 1
         acquire 1 r \n n1 < SET r #2 .. \n n1 > ok \n = acquired 1 ..",
    );
    stage
}

/// Passes `r`, which acquire 1 has, to the next one in this process, in one write.
fn passes_on(mut stage: Stage, release: &str, next: &str) {
    stage.play(&format!(
        "acquire 2 r wait 10s
         drop 1
         n1 < {release}
         n1 < {next}
         n1 > 1
         n1 > ok
         = acquired 2 .."
    ));
}

#[test]
fn a_script_that_ran_in_full_is_called_by_its_hash_afterwards() {
    known().play(
        "release 2 of 1
         n1 < EVALSHA release 1 r #2
         n1 > 1
         = released 2
         debts 0",
    );
}

/// A release that is not known to have run is sent in full, however often.
#[test]
fn until_the_first_answer_each_is_in_full() {
    let mut stage = of_kinds(1, &[]);
    stage.play(
        "acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..
         acquire 2 s \n n1 < SET s #2 .. \n n1 > ok \n = acquired 2 ..
         acquire 3 t \n n1 < SET t #3 .. \n n1 > ok \n = acquired 3 ..
         drop 1 \n n1 < EVAL release 1 r #1
         drop 2 \n n1 < EVAL release 1 s #2
         n1 > -LOADING no
         drop 3 \n n1 < EVAL release 1 t #3
         n1 > 1
         +200ms
         n1 < EVAL release 1 r #1       // one that was refused
         n1 > 1 \n n1 > 1 \n debts 0",
    );
}

#[test]
fn a_script_that_was_forgotten_is_sent_in_full_at_once() {
    known().play(
        "acquire 3 s
         n1 < SET s #3 ..
         n1 > ok
         = acquired 3 ..
         release 2 of 1
         n1 < EVALSHA release 1 r #2
         n1 > -NOSCRIPT No matching script.
         n1 < EVAL release 1 r #2
         debts 1
         drop 3
         n1 < EVAL release 1 s #3       // it is not known again before that is answered
         n1 > 1
         = released 2
         n1 > 1
         debts 0",
    );
}

/// `r` stays in this process: the next SET would be refused because of the key that is still to be
/// deleted.
#[test]
fn what_passes_on_within_the_process_is_in_full() {
    passes_on(known(), "EVAL release 1 r #2", "SET r #3 ..");
}

#[test]
fn another_connection_knows_nothing() {
    let mut stage = known();
    stage.steps("n1 breaks \n drop 1 \n +60ms");
    stage.steps(&greets(1, "hello 2", "run1"));
    stage.play(
        "n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL release 1 r #2
         n1 > 1
         debts 0",
    );
}

#[test]
fn fences_and_several_keys_have_a_script_of_their_own() {
    let mut stage = known();
    for request in [2, 3] {
        stage.steps(&format!("acquire {request} a+b \n n1 < EVALSHA acquire 2 a b .. \n n1 > ok"));
        stage.steps(&format!("= acquired {request} .. \n drop {request}"));
        let how = if request == 2 { "EVAL" } else { "EVALSHA" };
        stage.steps(&format!("n1 < {how} release_all 2 a b .. \n n1 > 1"));
    }
    stage.play("debts 0");
}

#[test]
fn each_master_has_its_own_way() {
    let mut stage = of_kinds(3, &[2]);
    stage.play(
        "acquire 1 r
         n1-3 < SET r #1 ..
         n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1 < EVAL release 1 r #1
         n2 < DELIFEQ r #1
         n3 < EVAL release 1 r #1
         n1-2 > 1
         = released 2
         n3 > 1
         acquire 3 a+b
         n1-3 < EVALSHA acquire ..
         n1-3 > ok
         = acquired 3 ..
         drop 3
         n1-3 < EVAL release_all ..     // it is for single keys
         n1-3 > 1
         debts 0",
    );
}

#[test]
fn its_own_command_needs_nothing_in_full_where_it_passes_on() {
    let mut stage = of_kinds(1, &[1]);
    stage.steps("acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..");
    passes_on(stage, "DELIFEQ r #1", "SET r #2 ..");
}

/// Opens one master that is Redis of this version, where acquire 1 holds `r`.
fn of_redis(version: &str) -> Stage {
    let mut stage = Stage::new(1, &Login::default());
    stage.steps(&greets(1, &format!("redis {version} 1"), "run1"));
    stage.steps("= connected");
    stage.tokens.ways = true;
    stage.steps("acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..");
    stage
}

#[test]
fn redis_compares_and_deletes_by_itself_from_8_4_on() {
    for version in ["8.4.0", "8.6.3", "8.10.0", "9.0.0", "10"] {
        of_redis(version).play("drop 1 \n n1 < DELEX r IFEQ #1 \n n1 > 1 \n debts 0");
    }
    for version in ["7.0.15", "8.3.9", "8", "8.x", "unstable"] {
        of_redis(version).play("drop 1 \n n1 < EVAL release 1 r #1 \n n1 > 1 \n debts 0");
    }
}

#[test]
fn where_delex_is_denied_it_is_tried_once_on_each_connection() {
    of_redis("8.6.3").play(
        "release 2 of 1
         n1 < DELEX r IFEQ #1
         n1 > -NOPERM User app has no permissions to run the 'delex' command
         n1 < EVAL release 1 r #1
         n1 > 1
         = released 2
         acquire 3 r \n n1 < SET r #2 .. \n n1 > ok \n = acquired 3 ..
         drop 3
         n1 < EVALSHA release 1 r #2
         n1 > 1
         debts 0",
    );
}

/// Something else has the name by then: nothing of ours is there, and the command works.
#[test]
fn what_delex_says_of_another_type_settles_the_debt() {
    of_redis("8.6.3").play(
        "drop 1
         n1 < DELEX r IFEQ #1
         n1 > -ERR Key should be of string type if conditions are specified
         debts 0
         acquire 2 s \n n1 < SET s #2 .. \n n1 > ok \n = acquired 2 ..
         drop 2
         n1 < DELEX s IFEQ #2
         n1 > 1
         debts 0",
    );
}

/// The denial of an access list that was written for Redis.
#[test]
fn where_it_is_denied_it_is_tried_once_on_each_connection() {
    let mut stage = of_kinds(1, &[1]);
    stage.steps(
        "acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..
         acquire 2 s \n n1 < SET s #2 .. \n n1 > ok \n = acquired 2 ..
         acquire 3 t \n n1 < SET t #3 .. \n n1 > ok \n = acquired 3 ..
         release 4 of 1
         n1 < DELIFEQ r #1
         n1 > -NOPERM this user has no permissions to run the 'delifeq' command
         n1 < EVAL release 1 r #1
         n1 > 1
         = released 4
         drop 2
         n1 < EVALSHA release 1 s #2
         n1 > 1
         n1 breaks
         +60ms",
    );
    stage.steps(&greets(1, "valkey 2", "run1"));
    stage.play("n1 < CLIENT KILL ID 1 \n n1 > 1 \n drop 3 \n n1 < DELIFEQ t #3");
}

#[test]
fn where_no_hash_may_be_called_none_is_tried_twice() {
    known().play(
        "acquire 2 s \n n1 < SET s #3 .. \n n1 > ok \n = acquired 2 ..
         drop 1
         n1 < EVALSHA release 1 r #2
         n1 > -NOPERM this user has no permissions to run the 'evalsha' command
         n1 < EVAL release 1 r #2
         n1 > 1
         drop 2
         n1 < EVAL release 1 s #3
         n1 > 1
         debts 0",
    );
}

/// The server was Valkey and is Redis now. Its client pays the debt in the way that this server
/// has.
#[test]
fn what_is_owed_is_paid_in_the_way_of_the_server_there_by_then() {
    let mut stage = of_kinds(1, &[1]);
    stage.steps(
        "acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..
         drop 1 \n n1 < DELIFEQ r #1
         n1 breaks \n +60ms",
    );
    stage.steps(&greets(1, "hello 1", "another"));
    stage.play("n1 < EVAL release 1 r #1 \n n1 > 1 \n debts 0");
}

/// A release that was refused may have been done all the same. It is owed, and no longer a vote.
#[test]
fn another_error_leaves_it_owed() {
    let mut stage = of_kinds(1, &[1]);
    stage.play(
        "acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..
         release 2 of 1
         n1 < DELIFEQ r #1
         n1 > -MISCONF no
         = release 2 unconfirmed: ..
         debts 1
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 1
         debts 0",
    );
}

/// Between a NOSCRIPT and its repetition it is a debt like any other.
#[test]
fn a_connection_that_is_lost_behind_the_error_leaves_it_owed() {
    let mut stage = known();
    stage.steps(
        "drop 1 \n n1 < EVALSHA release 1 r #2
         n1 takes 0
         n1 > -NOSCRIPT No matching script.
         debts 1
         n1 breaks \n n1 takes all \n +60ms",
    );
    stage.steps(&greets(1, "hello 2", "run1"));
    stage.play("n1 < CLIENT KILL ID 1 \n n1 > 1 \n n1 < EVAL release 1 r #2 \n n1 > 1 \n debts 0");
}

#[test]
fn a_denied_release_in_full_is_owed_and_not_repeated_at_once() {
    let mut stage = open(1);
    stage.tokens.ways = true;
    stage.play(
        "acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..
         drop 1
         n1 < EVAL release 1 r #1
         n1 > -NOPERM no
         n1 < -
         debts 1
         +200ms
         n1 < EVAL release 1 r #1",
    );
}
