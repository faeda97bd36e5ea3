//! A fair acquire of a permit asks in the list at `n3` before it tries a slot, and tries when that lets it.

use super::stage::Stage;
use super::waitlist::{MAILBOX, listing};

const WAIT: &str = "EVALSHA wait 5 r0 r1 r2 list:r list-due:r";

/// Request 1 has asked, and has no answer yet.
fn asks(acquire: &str) -> Stage {
    let mut stage = listing();
    stage.steps(&format!(
        "acquire 1 {acquire}
         n1-2 < -
         n3 < SCRIPT LOAD waitlist
         n3 < {WAIT} quorumlock:free:0: r #1 '' 20 120000 16384 60000 250 0
         n3 > text waitlist"
    ));
    stage
}

/// Request 1 waits behind so many.
fn behind(ahead: usize) -> Stage {
    let mut stage = asks("3of:r fair wait 30s");
    stage.steps(&format!("n3 > listed 0 9000 7 {ahead} - 5/ 1 \n = {ahead} ahead of 1"));
    stage
}

/// Request 1 has slot 2, and request 2 waits behind it.
fn holds() -> Stage {
    let mut stage = asks("3of:r fair wait 30s");
    stage.steps(
        "acquire 2 3of:r fair wait 30s
         n3 > listed 1 0 7 0 - - 2
         n1-3 < SET r2 #2 NX PX 10000
         n1-3 > ok
         = acquired 1 ..",
    );
    stage
}

#[test]
fn it_waits_behind_others_and_tries_the_slot_for_which_it_is_called() {
    behind(6).play(&format!(
        "+375ms
         n3 < {WAIT} quorumlock:free:0: r #1 7 ..
         n1-2 < -
         n3 > listed 0 9000 7 1 - 5/ 1
         = 1 ahead of 1
         n3 > says {MAILBOX} slot 00000000000000000000000000000002 2 r
         n1-3 < SET r2 #2 NX PX 10000
         n1-3 > ok
         = acquired 1 .."
    ));
}

#[test]
fn a_single_attempt_or_a_wait_that_ends_behind_others_tries_nothing() {
    for (acquire, pause) in [("3of:r fair", ""), ("3of:r fair wait 100ms", "+100ms")] {
        let mut stage = asks(acquire);
        stage.steps("n3 > listed 0 9000 7 2 - 5/ 1 \n = 2 ahead of 1");
        if !pause.is_empty() {
            stage.steps(&format!("{pause} \n n1-3 < PTTL r0 \n n1-3 < PTTL r1 \n n1-3 < PTTL r2"));
            stage.steps("n1-3 > 9000 \n n1-3 > 9000 \n n1-3 > 9000");
        }
        stage.play("= all 3 taken 1 at 0 .. \n n3 < ZREM list:r #1 \n n3 > 1");
    }
}

/// The place of the first was for its permit alone.
#[test]
fn the_next_task_of_a_process_takes_a_place_of_its_own() {
    holds().play(&format!(
        "n3 < {WAIT} quorumlock:free:0: r #3 '' ..
         n3 > listed 0 9000 9 4 - 5/ 1
         = 4 ahead of 2
         drop 1
         n1-3 < EVAL release 1 r2 #2
         n3 < EVALSHA call 3 r2 list:r list-due:r quorumlock:free:0: r 1000 '' 2
         n1-3 > 1
         n1-2 < -"
    ));
}

#[test]
fn a_call_for_the_place_of_one_that_has_gone_goes_on() {
    behind(1).play(&format!(
        "acquire 2 3of:r fair wait 30s
         cancel 1
         n3 < ZREM list:r #1
         n3 < {WAIT} quorumlock:free:0: r #2 '' ..
         n3 > says {MAILBOX} slot 00000000000000000000000000000002 2 r
         n3 < EVALSHA call 3 r2 list:r list-due:r ..
         n1-3 < -"
    ));
}

/// Its place is where it would be if it had waited there.
#[test]
fn after_a_lost_connection_it_enters_another_list_with_its_age() {
    behind(80).play(&format!(
        "+50ms
         n3 breaks
         +1ms
         n2 < SCRIPT LOAD waitlist
         n2 < {WAIT} quorumlock:free:0: r #2 '' 20 120000 16384 60000 250 50000"
    ));
}
