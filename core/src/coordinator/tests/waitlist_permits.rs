//! A process waits for a permit in the list of its semaphore at `n3`, which tells of `r`, and a release calls it for the
//! slot that it frees.

use super::stage::Stage;
use super::waitlist::{MAILBOX, listing};

/// Request 1 has tried its own slot, and asks in the list, of which it knows nothing yet.
const REFUSED: &str = "jitter most
     acquire 1 3of:r wait 30s
     n1-3 < SET r1 #1 NX PX 10000
     n1-3 > nil
     n3 < EVAL release 1 r1 #1
     n3 < SCRIPT LOAD waitlist
     n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 '' 20 120000 16384 60000 250 0
     n3 > 0
     n3 > text waitlist";

/// Request 1 stands in the list behind so many, of which one was called lately.
fn behind(ahead: usize) -> Stage {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.steps(&format!("n3 > listed 0 9000 7 {ahead} - 5/ 1"));
    stage
}

/// Request 1 is the first of the list, and watches a call.
fn first() -> Stage {
    let mut stage = behind(0);
    stage.steps(&format!("n3 > says {MAILBOX} watch 00000000000000000000000000000003 r \n +20ms"));
    stage
}

/// It is called for slot 2.
fn called() -> Stage {
    let mut stage = behind(8);
    stage.steps(&format!(
        "n3 > says {MAILBOX} slot 00000000000000000000000000000003 2 r
         n1-3 < SET r2 #3 NX PX 10000"
    ));
    stage
}

#[test]
fn one_far_back_asks_seldom_and_leaves_its_place() {
    behind(8).play(
        "+499ms
         n1-3 < -
         +1ms
         n1-2 < -
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0
         cancel 1
         n3 < ZREM list:r #2
         n3 > listed 0 9000 7 3 - 5/ 1
         n3 > 1",
    );
}

#[test]
fn one_that_is_called_asks_all_for_that_slot_and_its_release_calls_the_next() {
    called().play(
        "n1-3 > ok
         = acquired 1 ..
         drop 1
         n1-3 < EVAL release 1 r2 #3
         n3 < EVALSHA call 3 r2 list:r list-due:r quorumlock:free:0: r 1000 '' 2
         n1-3 > 1
         n3 > called 1 1 4",
    );
}

#[test]
fn what_is_known_to_be_waited_for_is_asked_for_in_its_list_first() {
    let mut stage = called();
    stage.steps("n1-3 > ok \n = acquired 1 ..");
    stage.play(
        "acquire 2 3of:r wait 10s
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #4 '' 20 120000 16384 60000 250 0
         n3 > listed 1 0 7 0 - 5/ 0
         n1-3 < SET r0 #5 NX PX 10000
         n1-3 > ok
         = acquired 2 ..",
    );
}

#[test]
fn one_that_does_not_wait_asks_in_no_list() {
    let mut stage = called();
    stage.steps("n1-3 > ok \n = acquired 1 ..");
    stage.steps("acquire 2 3of:r \n n1-3 < SET r1 #4 NX PX 10000");
}

#[test]
fn a_call_in_vain_keeps_its_place() {
    called().play(
        "n1-3 > nil
         n3 < EVAL release 1 r2 #3
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0
         n3 > 0
         n3 > listed 0 700 7 0 - 5/ 1
         n1-3 < -",
    );
}

#[test]
fn a_list_that_finds_slots_free_in_vain_is_asked_four_times_and_then_all_masters() {
    let mut stage = first();
    for token in 3..7 {
        stage.steps(&format!(
            "n3 < EVALSHA wait ..
             n3 > listed 1 0 7 0 - 5/ 0
             n1-3 < SET r0 #{token} NX PX 10000
             n3 > ok
             n1-2 > nil
             n3 < EVAL release ..
             n3 > 1"
        ));
    }
    stage.play("n1-3 < PTTL r0 \n n1-3 < PTTL r1 \n n1-3 < PTTL r2");
}

/// The holds of two slots lack their keys where the list is: a question would find one of them free there again and
/// again.
#[test]
fn one_that_finds_slots_free_there_and_held_elsewhere_asks_seldom() {
    let mut stage = first();
    let found_free = |slot: u8, token: u8| {
        format!(
            "n3 > listed 1 0 7 0 - 5/ {slot}
             n1-3 < SET r{slot} #{token} NX PX 10000
             n3 > ok
             n1-2 > nil
             n3 < EVAL release 1 r{slot} #{token}
             n3 > 1"
        )
    };
    stage.steps("n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0");
    stage.steps(&found_free(0, 3));
    stage.steps("n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0");
    stage.steps(&found_free(1, 4));
    stage.steps(
        "n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0
         n3 > listed 2 18 7 0 - 5/ 0
         +18ms
         +5ms
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0",
    );
    stage.steps(&found_free(0, 5));
    stage.play(
        "n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 1000 120000 16384 60000 250 0
         n3 > listed 2 976 7 0 - 5/ 1
         n3 < ZREM list:r #2
         n3 > 1
         +976ms
         n1-3 < -
         +5ms
         n1-3 < PTTL r0                            // all masters, after a second
         n1-3 < PTTL r1
         n1-3 < PTTL r2
         n1-2 > 8000
         n1-2 > 8000
         n1-2 > 8000
         n3 > -2
         n3 > -2
         n3 > 8000
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 1000 120000 16384 60000 250 0
         n3 > listed 2 995 7 0 - 5/ 1
         n3 < ZREM list:r #2                       // a question would call it to no effect
         n3 > 1
         +995ms
         n1-3 < -
         cancel 1
         debts 0",
    );
}

#[test]
fn a_call_that_finds_no_waiter_here_goes_on_to_the_next() {
    let mut stage = behind(8);
    // It has just taken another slot.
    stage.steps(&format!(
        "n3 > says {MAILBOX} slot 00000000000000000000000000000003 2 r
         n1-3 < SET r2 #3 NX PX 10000
         n3 > says {MAILBOX} slot 00000000000000000000000000000003 0 r
         n3 < EVALSHA call 3 r0 list:r list-due:r quorumlock:free:0: r 1000 '' 0"
    ));
    let mut stage = behind(8);
    // None seeks a permit here any more: the last of the list watches the call.
    stage.steps(&format!(
        "cancel 1
         n3 < ZREM list:r #2
         n3 > 1
         n3 > says {MAILBOX} slot 00000000000000000000000000000003 0 r
         n1-3 < -"
    ));
}

#[test]
fn a_waiter_that_watches_a_call_asks_after_it() {
    let mut stage = behind(8);
    stage.steps(&format!(
        "n3 > says {MAILBOX} watch 00000000000000000000000000000003 r
         +20ms
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0
         n3 > listed 2 7 7 8 - 5/ 1
         +12ms
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #2 7 20 120000 16384 60000 250 0"
    ));
}

#[test]
fn without_an_answer_or_with_a_denied_right_all_masters_are_looked_at() {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.play(
        "+20ms
         n1-3 < PTTL r0
         n1-3 < PTTL r1
         n1-3 < PTTL r2",
    );
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.play("n3 > -NOPERM no \n n3 < PTTL r0 \n n3 < PTTL r1 \n n3 < PTTL r2");
}

#[test]
fn after_a_lost_connection_it_asks_in_the_list_of_another_master() {
    let mut stage = behind(80);
    stage.play(
        "n3 breaks
         +250ms
         n3 < DIAL
         n2 < SCRIPT LOAD waitlist
         n2 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #3 '' 20 120000 16384 60000 250 250000",
    );
}

#[test]
fn after_four_permits_in_a_row_within_the_process_the_next_elsewhere_is_called() {
    let mut stage = called();
    stage.steps(
        "n1-3 > ok
         = acquired 1 ..
         acquire 2 3of:r wait 10s
         acquire 3 3of:r wait 10s
         acquire 4 3of:r wait 10s
         acquire 5 3of:r wait 10s
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #4 '' 20 120000 16384 60000 250 0
         n3 > listed 0 9000 9 3 - 5/ 1",
    );
    for (holder, next) in [(1, 2), (2, 3), (3, 4)] {
        stage.steps(&format!(
            "drop {holder}
             n1-3 < EVAL release 1 r2 ..
             n1-3 < SET r2 ..
             n1-3 > 1
             n1-3 > ok
             = acquired {next} .."
        ));
    }
    stage.play(
        "drop 4
         n3 < ZREM list:r #4                       // behind those that this permit is for
         n3 < EVALSHA wait 5 r0 r1 r2 list:r list-due:r quorumlock:free:0: r #4 '' 20 120000 16384 60000 250 0
         n1-3 < EVAL release 1 r2 ..
         n3 < EVALSHA call 3 r2 list:r list-due:r quorumlock:free:0: r 1000 '' 2
         n1-3 < -",
    );
}
