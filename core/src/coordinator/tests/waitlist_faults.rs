//! What becomes of a waiter in a list where messages, masters and rights fail: `waitlist.rs` has the rest.

use super::waitlist::{LAST, MAILBOX, REFUSED, behind, has_called, listing, tries};
use std::time::Duration;

#[test]
fn one_that_has_tried_in_vain_keeps_its_place() {
    let mut stage = tries();
    stage.play(
        "n3 > nil
         n1 > nil
         n2 < EVAL release 1 r #3
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0
         n2 > nil
         n2 > 0
         n3 > listed 0 9000 7 0 aa 5
         = 0 ahead of 1
         n3 < SUBSCRIBE quorumlock:free:0:r
         cancel 1
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < ZREM list:r #2
         n3 > subscribed r
         n3 > unsubscribed r
         n3 > 1",
    );
}

#[test]
fn one_that_only_some_masters_have_free_tries_again_at_once() {
    let mut stage = tries();
    stage.play(&format!(
        "n3 > ok
         n1 > nil
         n2 > nil
         n3 < EVAL release 1 r #3
         n3 > 1
         +1ms
         n1-3 < SET r #4 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         {LAST}"
    ));
}

/// The call overtakes the release at the other masters, and their refusals overtake the grant.
#[test]
fn one_that_others_refuse_before_the_master_of_the_list_answers_asks_again_soon() {
    let mut stage = tries();
    let refused = |token: usize, next: &str| {
        format!(
            "n1-2 > nil
             n3 < EVAL release 1 r #{token}
             {next}
             n3 > ok
             n3 > 1"
        )
    };
    let asks = "n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 ..";
    for token in 3..7 {
        stage.steps(&refused(token, "n1-3 < -"));
        stage.steps(&format!("+1ms \n {asks} \n n3 > listed 1 0 7 0"));
        stage.steps(&format!(
            "n1-3 < EVAL look 1 r
             n1-3 < SET r #{} NX PX 10000
             n1-2 > 9000
             n3 > -2",
            token + 1
        ));
    }
    // After four times it pauses as behind a hold that lacks its key there, and sees a later one.
    stage.steps(&refused(7, "n3 < SUBSCRIBE quorumlock:free:0:r"));
    stage.play(&format!(
        "n3 > subscribed r
         {asks}
         n3 > listed 0 9000 7 0 aa 5
         = 0 ahead of 1
         cancel 1
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < ZREM list:r #2
         n3 > unsubscribed r
         n3 > 1"
    ));
}

#[test]
fn the_call_of_a_waiter_that_is_gone_calls_the_next() {
    let mut stage = behind(8);
    stage.play(&format!(
        "cancel 1
         n3 < ZREM list:r #2
         n3 > says {MAILBOX} free 00000000000000000000000000000003 r
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n3 > 0
         n3 > called 0 0 0"
    ));
}

#[test]
fn a_master_that_denies_the_list_has_waiters_poll() {
    for error in ["-NOPERM no", "-WRONGTYPE no", "-OOM no"] {
        let mut stage = listing();
        stage.play(&format!(
            "{REFUSED}
             n3 > {error}
             n3 > freed r
             n3 < EVAL look 1 r
             n3 < SET r #3 NX PX 10000
             n3 > held 9000 theirs
             n3 > nil
             n3 > freed r
             n3 < SET r #4 NX PX 10000
             cancel 1
             n3 < EVAL release ..
             n3 < EVALSHA call ..
             n3 > nil
             n3 > 0
             n3 > called 0 1 0"
        ));
    }
}

#[test]
fn a_script_that_was_forgotten_is_loaded_once_more() {
    let mut stage = listing();
    stage.play(&format!(
        "{REFUSED}
         n3 > -NOSCRIPT no
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA wait ..
         n3 > -NOPERM no
         n3 > -NOSCRIPT no
         cancel 1"
    ));
}

/// It may be another library's, or not know of the list: another client may have the key before the first asks again.
#[test]
fn the_first_asks_often_behind_a_holder_that_was_not_called() {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.steps("n3 > listed 0 9000 7 0 bb 5/aa \n = 0 ahead of 1");
    let mut asked = |holder: &str, millis: u32| {
        let mut asked = 0;
        for _ in 0..millis {
            stage.pass(Duration::from_millis(1));
            while stage.wires[2].unseen.pop_front().is_some() {
                stage.steps(&format!("n3 > listed 0 9000 7 0 {holder} 5/aa"));
                asked += 1;
            }
        }
        asked
    };
    // The more seldom the longer it holds.
    let asked =
        [("bb", 80), ("bb", 300), ("aa", 250)].map(|(holder, millis)| asked(holder, millis));
    assert_eq!(asked, [5, 15, 2]);
}

#[test]
fn one_that_has_passed_as_many_as_a_question_may_asks_again_at_once() {
    let mut stage = behind(8);
    stage.steps("+375ms \n n3 < EVALSHA wait .. \n n3 > listed 3 0 7 70");
    stage.play("n3 < EVALSHA wait .. \n n3 > listed 0 9000 7 6 aa 5 \n = 6 ahead of 1 \n n1-3 < -");
}

/// It may take the key again at once, whenever it has released it.
#[test]
fn where_a_client_takes_it_past_the_list_the_first_tries_at_all_masters() {
    let passed = |ahead: usize| {
        let mut stage = behind(4);
        let found = format!("n3 < EVALSHA wait .. \n n3 > listed 0 9000 7 {ahead} bb 5/aa");
        stage.steps(&format!("+187500us \n {found} \n = {ahead} ahead of 1"));
        stage.steps(&format!("n3 < SUBSCRIBE quorumlock:free:0:r \n n3 > subscribed r \n {found}"));
        stage
    };
    passed(1).play("+100ms \n n1-3 < -");
    passed(0).play(
        "+20ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n3 > 9000
         n3 > nil
         n1-2 < -
         n1 > 9000
         n1 > nil
         n2 < EVAL release 1 r #3
         n3 < EVALSHA wait ..
         n2 > 9000
         n2 > nil
         n2 > 0
         n3 > listed 0 9000 7 0 aa 6
         = 0 ahead of 1
         +20ms
         n1-3 < -",
    );
}

#[test]
fn a_waiter_without_an_answer_asks_all_masters() {
    let mut stage = has_called();
    stage.play(
        "n3 > called 1 1 4
         acquire 3 r wait 30s
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' ..
         +200ms
         n1-3 < SET r #5 NX PX 10000
         n1-2 > ok
         = acquired 3 ..
         n3 < ZREM list:r #4
         n3 > listed 0 9000 7 4 aa 5
         n3 > ok
         n3 > 1
         drop 3
         n1-3 < EVAL release ..
         n3 < EVALSHA call ..
         n1-3 > 1
         n3 > called 0 0 0",
    );
}

#[test]
fn no_key_that_is_stuck_at_the_first_node_keeps_those_in_front_out() {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.steps(
        "n3 > listed 0 -1 7 1 aa 5 \n = 1 ahead of 1 \n n3 < UNSUBSCRIBE .. \n n3 > unsubscribed r",
    );
    let mut asked = 0;
    for _ in 0..20 {
        stage.steps("+125ms");
        if stage.wires[0].unseen.iter().any(|sent| sent.starts_with("SET")) {
            break;
        }
        let questions = stage.wires[2].unseen.drain(..).count();
        (0..questions).for_each(|_| stage.steps("n3 > listed 0 -1 7 1 aa 5"));
        asked += questions;
    }
    assert!((4..=8).contains(&asked), "{asked}");
    stage.play(
        "n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-2 > held -2 -
         n1-2 > ok
         = acquired 1 ..
         n3 > held -1 theirs
         n3 < ZREM list:r #2
         n3 > nil
         n3 > 1
         drop 1
         n1-3 < EVAL release ..
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 1 ''  // whatever the key says there
         n1-2 > 1
         n3 > 0
         n3 > called 0 0 0",
    );
}

#[test]
fn waiters_follow_the_list_to_another_master_and_back() {
    let mut stage = behind(8);
    stage.steps("+3ms \n n3 breaks");
    // At once, and as one that has waited since it first asked: 3 ms.
    stage.play(
        "n2 < SCRIPT LOAD waitlist
         n2 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #3 '' 20 120000 16384 60000 250 3000
         n2 > text waitlist
         n2 > listed 0 9000 7 5 aa 5
         = 5 ahead of 1
         +125ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' 20 ..
         n2 < ZREM list:r #3
         n2 > 1
         n3 > text waitlist
         n3 > listed 0 9000 7 5 aa 5
         cancel 1
         n3 < ZREM list:r #4
         n3 > 1",
    );
}

#[test]
fn what_is_no_plain_lock_stands_in_no_list() {
    for acquire in ["write:r wait 30s", "read:r wait 30s", "s@r=3 wait 30s"] {
        let mut stage = listing();
        stage.steps(&format!("acquire 1 {acquire}"));
        for node in 0..3 {
            let asked = stage.wires[node].unseen.len();
            for _ in 0..asked {
                stage.steps(&format!("n{} > nil", node + 1));
            }
        }
        let sent = stage.wires.iter().flat_map(|wire| &wire.unseen);
        assert!(sent.clone().all(|sent| !sent.contains("list:r")), "{acquire}");
        assert!(sent.count() > 0, "{acquire}");
    }
}

#[test]
fn one_that_no_quorum_has_answered_asks_in_no_list() {
    listing().play(
        "acquire 1 r wait 30s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > -ERR
         n3 < EVAL release 1 r #1
         n1-2 < EVAL release 1 r #1
         +10ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #2 NX PX 10000",
    );
}
