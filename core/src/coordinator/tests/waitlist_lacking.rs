//! A hold that lacks its key at the master of the list, where each waiter finds the key free.

use super::waitlist::has_called;

/// The hold lacks its key where the list is: a question would find it free there again and again.
#[test]
fn one_that_finds_the_key_free_there_and_held_elsewhere_pauses() {
    let mut stage = has_called();
    stage.steps(
        "n3 > called 1 1 4
         acquire 3 r wait 30s
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' 20 120000 16384 60000 250 0
         n3 > listed 1 0 9 0
         n1-3 < SET r #5 NX PX 10000",
    );
    let is_in_vain = |token: usize| {
        format!(
            "n3 > ok
             n1-2 > nil
             n3 < EVAL release 1 r #{token}
             n3 > 1"
        )
    };
    // A release may be under way to the others.
    for (token, pause) in [(5, 1), (6, 16)] {
        stage.steps(&is_in_vain(token));
        let next = token + 1;
        stage.steps(&format!(
            "+{pause}ms
             n1-3 < EVAL look 1 r
             n1-3 < SET r #{next} NX PX 10000
             n3 > -2
             n1-2 > 9000"
        ));
    }
    stage.steps(&is_in_vain(7));
    stage.play(
        "n3 < SUBSCRIBE quorumlock:free:0:r
         n1-3 < -
         n3 > subscribed r
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 9 1000 120000 16384 60000 250 0
         n3 > listed 2 400 9 0
         n3 < ZREM list:r #4
         = 0 ahead of 3
         n3 > 1
         +400ms
         +5ms
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 9 1000 ..
         n3 > listed 0 9000 9 0 aa 5
         cancel 3
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < ZREM list:r #4
         n3 > unsubscribed r
         n3 > 1",
    );
}
