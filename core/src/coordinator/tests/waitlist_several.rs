//! An acquire of several resources waits in the list of the resource that refuses it: that of `r` is at `n3`, that of `s` at `n1`.

use super::stage::{MAILBOX, Stage};
use super::waitlist::listing;

/// Request 1 wants `r` and `s`, is refused for `s`, and waits in its list behind one.
fn behind_one() -> Stage {
    let mut stage = listing();
    stage.steps(
        "acquire 1 r+s wait 30s
         n1-3 < EVALSHA acquire 2 r s #1 10000 0
         n1-2 > refuses 0 9000 0 0 1
         n1-3 < EVAL release_all 2 r s #1
         n1 < SUBSCRIBE quorumlock:free:0:s
         n1 < SCRIPT LOAD waitlist
         n1 < EVALSHA wait 3 s list:s list-due:s quorumlock:free:0: '' #2 '' 20 120000 16384 60000 250 0
         n3 > refuses 0 9000 0 0 1
         n1-3 > 0
         n1 > subscribed s
         n1 > text waitlist
         n1 > listed 0 9000 7 1 aa 5
         = 1 ahead of 1
         n1 < UNSUBSCRIBE quorumlock:free:0:s
         n1 > unsubscribed s",
    );
    stage
}

/// The same, and it is called after 100 ms, and tries.
fn tries() -> Stage {
    let mut stage = behind_one();
    stage.steps(&format!(
        "+100ms
         n1 > says {MAILBOX} free 00000000000000000000000000000003 s
         n1-3 < EVALSHA acquire 2 r s #3 10000 0"
    ));
    stage
}

#[test]
fn the_list_is_that_of_the_resource_that_refuses() {
    behind_one().play(
        "cancel 1
         n1 < ZREM list:s #2
         n1 > 1",
    );
}

#[test]
fn an_acquire_that_is_called_has_all_of_them_and_its_release_calls_in_each_list() {
    tries().play(
        "n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1-3 < EVAL release_all ..
         n1 < EVALSHA call 3 s list:s list-due:s quorumlock:free:0: '' 1000 '' ''
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n1-3 > 1
         = released 2
         n1 > called 0 0 0
         n3 > text waitlist
         n3 > called 0 0 0",
    );
}

/// It goes to the other list with its age, under another number: the list of `s` may still call the old one.
#[test]
fn a_call_passes_on_where_another_resource_refuses() {
    tries().play(&format!(
        "n1-2 > refuses 0 5000 0 0 0
         n1-3 < EVAL release_all ..
         n1 < EVALSHA call 3 s list:s list-due:s quorumlock:free:0: '' 1000 '' ''
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' 20 120000 16384 60000 250 100000
         n3 > refuses 0 5000 0 0 0
         n1-3 > 0
         n1 > called 0 0 0
         n3 > text waitlist
         n3 > listed 0 5000 7 1 aa 5
         = 1 ahead of 1
         n1 > says {MAILBOX} free 00000000000000000000000000000003 s
         n1 < EVALSHA call 3 s list:s list-due:s quorumlock:free:0: '' 1000 '' ''
         n1 > called 0 0 0
         cancel 1
         n3 < ZREM list:r #4
         n3 > 1"
    ));
}

#[test]
fn a_call_that_comes_early_changes_no_list() {
    tries().play(
        "n1-2 > refuses 0 5000 0 0 1
         n1-3 < EVAL release_all ..
         n1 < EVALSHA wait 3 s list:s list-due:s quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0
         n3 > refuses 0 5000 0 0 1
         n1-3 > 0
         n1 > listed 0 5000 7 1 aa 5
         = 1 ahead of 1
         cancel 1
         n1 < ZREM list:s #2
         n1 > 1",
    );
}

/// Seed 0xc07142c0c5476963: holds lack their keys at the masters of both lists, so that either lets it go at once.
#[test]
fn one_that_each_list_lets_go_where_another_resource_refuses_tries_once_a_second_after_three_moves()
{
    let mut stage = tries();
    let refused = |token: u64, named: u64| {
        format!(
            "n1-3 < EVALSHA acquire 2 r s #{token} 10000 0
             n1-2 > refuses 0 5000 0 0 {named}
             n1-3 < EVAL release_all .."
        )
    };
    let [first, second, third, fourth] =
        [(5, 1), (7, 0), (9, 1), (10, 1)].map(|(token, named)| refused(token, named));
    stage.steps(&format!(
        "n1-2 > refuses 0 5000 0 0 0
         n1-3 < EVAL release_all ..
         n1 < EVALSHA call 3 s ..
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' 20 ..
         n3 > refuses 0 5000 0 0 0
         n1-3 > 0
         n1 > called 0 0 0
         n3 > text waitlist
         n3 > listed 1 0 9 0
         {first}
         n1 < SUBSCRIBE quorumlock:free:0:s
         n3 < EVALSHA call 3 ..
         n1 < EVALSHA wait 3 s list:s list-due:s quorumlock:free:0: '' #6 '' 20 ..
         n3 > refuses 0 5000 0 0 1
         n1-3 > 0
         n3 > called 0 0 0
         n1 > subscribed s
         n1 > listed 1 0 9 0
         {second}
         n1 < UNSUBSCRIBE quorumlock:free:0:s
         n1 < EVALSHA call 3 ..
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #8 '' 20 ..
         n3 > refuses 0 5000 0 0 0
         n1-3 > 0
         n1 > unsubscribed s
         n1 > called 0 0 0
         n3 > subscribed r
         n3 > listed 1 0 9 0
         {third}
         n1 < SUBSCRIBE quorumlock:free:0:s
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < EVALSHA call 3 ..
         n3 > refuses 0 5000 0 0 1
         n1-3 > 0
         n3 > unsubscribed r
         n3 > called 0 0 0
         n1 > subscribed s
         +1s
         n1-3 < -"
    ));
    // It stands there with its age, and waits: the list says that its key is held.
    stage.play(&format!(
        "+16ms
         {fourth}
         n1 < EVALSHA wait 3 s list:s list-due:s quorumlock:free:0: '' #11 '' 20 120000 16384 60000 250 1116000
         n3 > refuses 0 5000 0 0 1
         n1-3 > 0
         n1 > listed 0 5000 7 1 aa 5
         = 1 ahead of 1
         n1 < UNSUBSCRIBE quorumlock:free:0:s
         n1 > unsubscribed s
         cancel 1
         n1 < ZREM list:s #11
         n1 > 1"
    ));
}
