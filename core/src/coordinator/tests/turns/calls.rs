//! When a waiter tries.

use super::super::Stage;
use super::{ME, called, first, joins, looks, stands};

/// A look finds that a quorum would grant.
const WOULD: &str = "n1 > place 0 8000 1007 0 someone
     n2-3 > place -3 0 1007 0
     = 0 ahead of 1
     n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000";

/// It has lost as many tries as there are `pauses` in ms, each followed by another.
fn lost(pauses: &[u32]) -> Stage {
    let mut stage = called();
    for pause in pauses {
        stage.steps(&format!(
            "n1-3 > place 0 9000 1007 1 someone
             n1-3 < EVAL leave ..
             n1-3 > 0
             +{pause}ms
             n1-3 < EVALSHA ask .."
        ));
    }
    stage
}

#[test]
fn the_named_waiter_tries_and_wins() {
    called().play(
        "n1-3 > ok
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         = acquired 1 until 9898ms
         n1-3 > 0
         release 2 of 1
         n1-2 < EVAL leave 3 r q:r a:r #3 #2 hold 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #3 #2 hold 3000 4000 quorumlock:free:0:
         n1-3 > 1
         = released 2",
    );
}

/// Each try is answered by what stood before the message that came during it.
#[test]
fn an_older_answer_does_not_take_back_what_a_message_said() {
    let lost = |token: u8| {
        format!(
            "n1-3 < EVALSHA ask 3 r q:r a:r #{token} 10000 #2 1007 3000 4000
             n3 > freed r
             n1-3 > place 0 9000 1007 1 someone
             n1-3 < EVAL leave 3 r q:r a:r #{token} #2 try ..
             n1-3 > 0\n"
        )
    };
    let mut stage = first();
    stage.steps("n3 > freed r");
    stage.steps(&lost(3));
    // Others were before it: it is first, and tries at an empty message, all the same.
    stage.steps("= 1 ahead of 1");
    stage.steps(&lost(4));
    stage.play("n1-3 < EVALSHA ask 3 r q:r a:r #5 ..");
}

#[test]
fn a_waiter_that_is_not_named_does_not_try() {
    stands()
        .play("n3 > says @0000000000000000 next 00000000000000000000000000000009 r \n n1-3 < -");
}

/// A try by stamps that are no ticket yet may keep the key for another waiter, which no message calls.
#[test]
fn one_that_finds_the_key_free_as_it_joins_looks_once_more() {
    joins().play(
        "n1 > place 0 9000 1003 0 someone
         n2 > place -3 0 1007 0
         n3 > place -3 0 1005 0
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1005 3000 4000",
    );
}

#[test]
fn one_that_is_named_as_it_joins_tries_at_once() {
    joins().play(&format!(
        "n3 > place 0 9000 1005 0 someone
         n3 > says @0000000000000000 next {ME} r
         n1-3 < -                       // it has no ticket yet
         n1-2 > place 0 9000 1007 0 someone
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000"
    ));
}

#[test]
fn one_that_is_named_during_a_look_does_not_wait_for_its_end() {
    looks().play(&format!(
        "n1 > place 0 8000 1007 0 someone
         n3 > place 0 8000 1007 0 someone
         n3 > says @0000000000000000 next {ME} r
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2 > place 0 8000 1007 0 someone
         n1-2 > ok
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place ..
         = acquired 1 .."
    ));
}

#[test]
fn a_lost_try_is_rolled_back_and_repeated_while_the_key_is_kept() {
    called().play(
        "n3 > ok
         n1-2 > place 0 9000 1007 0 someone
         = 0 ahead of 1
         n1-3 < EVAL leave 3 r q:r a:r #3 #2 try 3000 4000 ''
         n1-3 > 0
         next 5ms
         +5ms
         n1-3 < EVALSHA ask 3 r q:r a:r #4 10000 #2 1007 3000 4000
         n3 > ok
         n1-2 > place 0 9000 1007 0 someone
         n1-3 < EVAL leave 3 r q:r a:r #4 #2 try 3000 4000 ''
         next 15ms
         +10ms
         n1-3 < EVALSHA ask 3 r q:r a:r #5 10000 #2 1007 3000 4000",
    );
}

#[test]
fn one_that_was_called_rests_once_the_key_is_kept_no_more() {
    lost(&[5, 10, 20, 40, 80, 160, 320, 640]).play(
        "n1-3 > place 0 9000 1007 1 someone
         n1-3 < EVAL leave ..
         n1-3 > 0
         +999ms                         // called for 2 s
         n1-3 < -
         +1ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..
         n1-3 > place 0 9000 1007 1 someone
         +999ms                         // whatever the pause after the last try
         n1-3 < -",
    );
}

#[test]
fn a_quorum_that_would_grant_calls_it() {
    looks().play(WOULD);
}

#[test]
fn a_look_goes_on_when_a_message_names_no_one() {
    looks().play(&format!("n3 > freed r \n {WOULD}"));
}

#[test]
fn a_minority_that_would_grant_does_not() {
    looks().play(
        "n1-2 > place 0 8000 1007 0 someone
         n3 > place -3 0 1007 0
         = 0 ahead of 1
         n1-3 < -",
    );
}

#[test]
fn an_empty_message_makes_only_the_first_try() {
    stands().play("n3 > freed r \n n1-3 < -");
    first().play(
        "n3 > freed r
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000",
    );
}

#[test]
fn the_first_looks_when_the_life_of_the_holder_is_over() {
    first().play(
        "next 1201ms                    // the masters round down
         +201ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..
         n1-3 > place -3 0 1007 0
         n1-3 < EVALSHA ask 3 r q:r a:r #3 ..",
    );
}

/// A server rounds a life down: in its last millisecond a key is there, with none left.
#[test]
fn the_first_looks_once_in_the_last_millisecond_of_a_life() {
    first().play(
        "+201ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..
         n1-3 > place 0 0 1007 0 someone
         n3 < SUBSCRIBE quorumlock:free:0:r
         n1-3 < -
         next 1202ms
         +1ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..",
    );
}

#[test]
fn one_that_some_would_grant_and_that_is_first_at_others_is_first() {
    looks().play(
        "n1 > place -3 0 1007 0
         n2 > place 0 200 1007 0 someone
         n3 > place 0 9000 1007 1 someone
         = 0 ahead of 1
         next 1201ms",
    );
}

#[test]
fn the_first_looks_four_times_a_second() {
    first().play(
        "+201ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..
         n1-3 > place 0 9000 1007 0 someone
         n3 < SUBSCRIBE quorumlock:free:0:r
         +249ms
         n1-3 < -
         +1ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' ..",
    );
}

/// The holder may be a client that does not know of the queue: it announces its release on the channel
/// of the key alone.
#[test]
fn one_that_stays_first_listens_on_the_channel_of_the_key_until_it_has_it() {
    first().play(
        "+201ms
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 9000 1007 0 someone
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > subscribed r
         n1-3 < EVALSHA ask ..          // it may have become free before
         n1-3 > place 0 9000 1007 0 someone
         n3 > freed r
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n1-3 > ok
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place ..
         = acquired 1 ..",
    );
}

#[test]
fn what_a_mailbox_says_in_words_of_another_version_is_ignored() {
    stands().play(&format!(
        "n3 > says @0000000000000000 later {ME} r
         n3 > says @0000000000000000 next {ME} s
         n3 > says @0000000000000001 next {ME} r
         n1-3 < -"
    ));
}

#[test]
fn one_that_is_named_again_pauses_as_briefly_as_at_first() {
    lost(&[5, 10]).play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n1-3 > place 0 9000 1007 1 someone
         n1-3 < EVAL leave ..
         n1-3 < EVALSHA ask ..
         n1-3 > 0
         n1-3 > place 0 9000 1007 1 someone
         n1-3 < EVAL leave ..
         n1-3 > 0
         +9ms
         n1-3 < -
         +1ms
         n1-3 < EVALSHA ask 3 r q:r a:r #7 .."
    ));
}

#[test]
fn one_that_is_named_again_in_a_lost_try_tries_at_once() {
    called().play(&format!(
        "n3 > ok
         n3 > says @0000000000000000 next {ME} r
         n1-2 > place 0 9000 1007 0 someone
         = 0 ahead of 1
         n1-3 < EVAL leave 3 r q:r a:r #3 #2 try 3000 4000 ''
         n1-3 < EVALSHA ask 3 r q:r a:r #4 10000 #2 1007 3000 4000"
    ));
}

#[test]
fn a_try_that_found_no_script_is_made_again() {
    called().play(
        "n1-2 > -NOSCRIPT No matching script.
         n1-2 < SCRIPT LOAD acquire
         n1-3 < EVAL leave ..
         n1-2 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask 3 r q:r a:r #4 10000 #2 1007 3000 4000",
    );
}

#[test]
fn a_try_that_is_lost_before_all_have_answered_costs_no_place() {
    let mut stage = stands();
    stage.steps("n1 breaks");
    stage.play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n2-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2 > place 0 9000 1007 0 someone
         n2-3 < EVAL leave 3 r q:r a:r #3 #2 try 3000 4000 ''
         next 5ms
         +5ms
         n2-3 < EVALSHA ask 3 r q:r a:r #4 10000 #2 1007 3000 4000"
    ));
}

#[test]
fn a_try_that_finds_no_script_twice_costs_no_place() {
    let mut stage = stands();
    stage.steps("n1 breaks");
    stage.play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n2-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2 > -NOSCRIPT No matching script.
         n2 < SCRIPT LOAD acquire
         n2-3 < EVAL leave ..
         n2 < SCRIPT LOAD ask
         n2-3 < EVALSHA ask 3 r q:r a:r #4 10000 #2 1007 3000 4000
         n3 > -NOSCRIPT No matching script.
         n3 < SCRIPT LOAD acquire
         n3 > 0
         n3 > -NOSCRIPT No matching script.
         n3 < SCRIPT LOAD ..
         n3 < SCRIPT LOAD acquire
         n2-3 < EVAL leave 3 r q:r a:r #4 #2 try 3000 4000 ''
         next 5ms
         +5ms
         n3 < SCRIPT LOAD ask
         n2-3 < EVALSHA ask 3 r q:r a:r #5 10000 #2 1007 3000 4000"
    ));
}

#[test]
fn one_that_loses_its_try_to_others_is_first_no_more_even_if_not_all_have_answered() {
    let mut stage = first();
    stage.steps("n1 breaks");
    stage.play(
        "n3 > freed r
         n2-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2 > place 0 9000 1007 1 someone
         n2-3 < EVAL leave 3 r q:r a:r #3 #2 try 3000 4000 ''
         n3 > freed r
         n2-3 < -",
    );
}
