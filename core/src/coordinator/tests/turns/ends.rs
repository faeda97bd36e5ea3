//! How a wait in turn ends without a win, and what it leaves.

use super::super::standing::{WAITS_IN_TURN, guarded, up};
use super::super::{greets, play, telling};
use super::{JOINS, ME, STANDS, called, joins, looks, stands};

#[test]
fn a_wait_that_is_over_gives_the_place_back_and_tells_how_many_are_ahead() {
    let mut stage = telling();
    stage.steps(&JOINS.replace("wait 60s", "wait 2500ms"));
    stage.steps(STANDS);
    stage.play(
        "+1s
         n1-3 < EVALSHA ask ..
         n1 > place 0 8000 1007 2 someone
         n2 > place 0 8000 1007 3 someone
         n3 > place 2 900 1007 4
         = 3 ahead of 1
         +1s
         n1-3 < EVALSHA ask ..
         n1 > place 0 8000 1007 2 00000000000000000000000000000009:web-3
         n2 > place 0 8000 1007 3 00000000000000000000000000000009:web-3
         n3 > place 2 900 1007 4
         +500ms
         n1-2 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:
         = contended 1 at 1 after 2500ms by web-3, 3 ahead: ..",
    );
}

#[test]
fn one_that_is_cancelled_gives_the_place_back() {
    stands().play(
        "cancel 1
         n1-2 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:",
    );
}

#[test]
fn one_that_is_cancelled_in_a_look_gives_the_place_back_behind_it() {
    looks().play(
        "cancel 1
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place ..
         n1-3 > place -3 0 1007 0
         n1-3 < -",
    );
}

#[test]
fn one_that_is_cancelled_in_a_try_gives_both_back_at_once() {
    called().play(
        "n3 > ok
         cancel 1
         n1-2 < EVAL leave 3 r q:r a:r #3 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #3 #2 place 3000 4000 quorumlock:free:0:",
    );
}

/// A look stores the place at a master that warms up, too, and a try is not sent there.
#[test]
fn one_that_is_cancelled_in_a_try_gives_its_place_back_where_the_try_was_not_sent() {
    let mut stage = guarded(3);
    stage.steps(&[up(1, 1, 90), up(2, 1, 90), up(3, 1, 5)].concat());
    stage.steps("= connected");
    stage.steps(WAITS_IN_TURN);
    stage.play(
        "n1-3 > place -3 0 1009 0
         = 0 ahead of 1
         n1-2 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1009 3000 4000
         cancel 1
         n1-2 < EVAL leave 3 r q:r a:r #3 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''",
    );
}

/// A fork, or a slow disk: no quorum answers a look in time.
#[test]
fn one_that_hears_no_quorum_for_a_while_keeps_its_place_and_its_ticket() {
    looks().play(
        "n1 > place 0 8000 1007 1 someone
         +200ms
         = -
         n1-3 < -
         +100ms
         n2-3 > place 0 8000 1007 1 someone  // too late
         n1-3 < -
         +700ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 7000 1007 1 someone",
    );
}

#[test]
fn a_wait_that_ends_when_no_quorum_answers_has_met_an_outage() {
    let mut stage = telling();
    stage.steps(&JOINS.replace("wait 60s", "wait 2s"));
    stage.steps(STANDS);
    stage.play(
        "+1s
         n1-3 < EVALSHA ask ..
         n1 > place 0 8000 1007 1 someone
         +300ms
         n2-3 > place 0 8000 1007 1 someone  // too late
         +700ms
         n1-2 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:
         = no quorum 1 at 1 after 2000ms: ..",
    );
}

/// A server that loads its data set, or runs a script of another user, says so.
#[test]
fn an_error_that_passes_costs_no_place() {
    looks().play(
        "n1 > -LOADING Redis is loading the dataset in memory
         n2 > -BUSY Redis is busy running a script.
         n3 > place 0 8000 1007 1 someone
         next 2000ms
         n1-3 < -",
    );
}

#[test]
fn one_that_hears_no_quorum_for_as_long_as_a_place_lives_withdraws_and_waits_as_any_other() {
    stands().play(
        "n1 breaks
         n2 breaks
         +1s
         +1s
         = -
         n3 < -
         +1s
         = 1 has left the queues
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:
         n1-2 < DIAL
         debts 3                        // what the others owe is sent once they are back",
    );
}

#[test]
fn one_whose_try_too_few_masters_can_grant_withdraws() {
    called().play(
        "n1-2 > -OOM command not allowed when used memory > 'maxmemory'.
         = 1 has left the queues
         n1-3 < EVAL leave 3 r q:r a:r #3 #2 try 3000 4000 ''
         n1-2 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:",
    );
}

#[test]
fn one_whose_queue_is_full_waits_as_any_other() {
    play(
        3,
        "jitter most
         acquire 1 fair:r wait 60s
         n1-3 < SET ..
         n1-3 > nil
         n3 < EVAL leave ..
         n1-3 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask ..
         n3 > 0
         n1-3 > text c0ffee
         n1-2 > place 2 900 0 4096
         n3 > place 2 900 1003 4000
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n1-3 > 0
         next 5ms
         +5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000",
    );
}

/// It is released before they answer: nothing of its place is left where the try did not arrive.
#[test]
fn a_winner_gives_its_place_back_wherever_it_stood() {
    let mut stage = stands();
    stage.steps("n1 breaks");
    stage.play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n2-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2-3 > ok
         n2-3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         = acquired 1 ..
         forget 1
         debts 3                        // n1 is sent it once it is back
         n2-3 > 0
         debts 1"
    ));
}

/// No look has reached `n1`, and its try may have.
#[test]
fn a_place_is_given_back_where_only_a_try_has_stored_it() {
    let mut stage = telling();
    stage.steps("n1 breaks");
    let joins = JOINS.replace("n1-3", "n2-3");
    stage.steps(&joins);
    stage.steps(
        "n2-3 > place 0 9000 1007 1 someone
         n2-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n2-3 > place 0 9000 1007 1 someone
         = 1 ahead of 1
         +100ms",
    );
    stage.steps(&greets(1, "hello 9", "other"));
    stage.play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n1 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n2-3 > ok
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         = acquired 1 .."
    ));
}

#[test]
fn the_next_in_this_process_comes_behind_waiters_elsewhere() {
    called().play(
        "n1-3 > ok
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n1-3 > 0
         = acquired 1 ..
         acquire 5 fair:r wait 60s
         release 2 of 1
         n1-2 < EVAL leave 3 r q:r a:r #3 #2 hold 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #3 #2 hold 3000 4000 quorumlock:free:0:
         n1-3 < SET r #4 NX PX 10000    // the key may be kept for another
         n1-3 > 1
         = released 2
         n1-3 > nil
         n3 < EVAL leave 3 r q:r a:r #4 '' try 3000 4000 ''
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #5 '' 3000 4000",
    );
}

#[test]
fn a_release_that_may_not_see_the_queue_deletes_the_key_all_the_same() {
    let mut stage = telling();
    stage.play(
        "acquire 1 fair:r
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1-2 < EVAL leave 3 r q:r a:r #1 '' hold 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #1 '' hold 3000 4000 quorumlock:free:0:
         n1-3 > -NOPERM No permissions to access a key
         n3 < PUBLISH quorumlock:free:0:r ''     // once for each master that comes late
         n3 < PUBLISH quorumlock:free:0:r ''
         n1-3 < EVAL release_all 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ''
         n1-2 > 1
         = released 2
         acquire 3 fair:r               // from now on at once
         n1-3 < SET r #2 NX PX 10000
         n1-3 > ok
         = acquired 3 ..
         drop 3
         n1-3 < EVAL release_all 1 r #2
         n3 < PUBLISH quorumlock:free:0:r ''",
    );
}

/// Each master denies what a look needs, and what a release in turn does.
#[test]
fn one_that_may_not_wait_in_turn_wakes_no_other_and_takes_no_place_again() {
    let mut stage = joins();
    stage.steps(
        "n1-3 > -NOPERM User default has no permissions to run the 'evalsha' command
         n1-2 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #2 #2 place 3000 4000 quorumlock:free:0:
         n1-3 > -NOPERM User default has no permissions to access a key
         n1-3 < EVAL release_all 1 r #2
         n1-3 < -
         n1-3 > 0
         next 5ms
         +5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-3 > 9000
         n1-3 > nil
         n3 < EVAL release_all 1 r #3
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > 0
         n3 > -NOPERM User default has no permissions to access a channel
         n1-3 < -",
    );
    for try_of in 4..7 {
        stage.steps(&format!(
            "n3 > freed r               // by another
             n3 < EVAL look 1 r         // no messages come
             n3 < SET r #{try_of} NX PX 10000
             n3 > 9000
             n3 > nil
             n1-3 < -"
        ));
    }
}
