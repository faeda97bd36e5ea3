//! The claims of an acquire, apart from one key for its ttl.

use super::{Stage, all_open, play};
use crate::shared::Settings;
use crate::wire::Login;

#[test]
fn several_resources_are_one_command_to_each_master() {
    play(
        1,
        "acquire 1 s+r+r
         n1 < EVALSHA acquire 2 r s #1 10000 0
         n1 > ok
         = acquired 1 until 9898ms
         extend 2 of 1
         n1 < EVALSHA extend 2 r s #1 10000
         n1 > 1
         = extended 2 ..
         release 3 of 1
         n1 < EVAL release_all 2 r s #1
         n1 > 1
         = released 3",
    );
}

#[test]
fn several_that_are_held_are_refused_with_the_time_they_take() {
    play(
        1,
        "acquire 1 r+s
         n1 < EVALSHA ..
         n1 > refuses 0 1500 0 0
         n1 < EVAL release_all 2 r s #1
         = contended 1 at 1 after 0ms: held, expires in 1.5 s
         n1 > 0",
    );
}

#[test]
fn a_lock_delay_lengthens_the_keys_life_and_not_the_validity() {
    play(
        1,
        "acquire 1 r delay 5s
         n1 < SET r #1 NX PX 15000
         n1 > ok
         = acquired 1 until 9898ms
         +1s
         extend 2 of 1
         n1 < EVALSHA extend 1 r #1 15000
         n1 > 1
         = extended 2 until 10898ms",
    );
}

#[test]
fn a_lock_delay_closes_a_lost_lock_and_not_a_released_one() {
    play(
        1,
        "acquire 1 r ttl 1s delay 5s
         n1 < SET ..
         n1 > ok
         = acquired 1 until 988ms
         +1s
         = lost 1: lapsed
         release 2 of 1
         = release 2 lost: lapsed
         n1 < -
         acquire 3 s ttl 1s delay 5s
         n1 < SET ..
         n1 > ok
         = acquired 3 ..
         drop 3
         n1 < EVAL release 1 s #2
         n1 > 1",
    );
}

#[test]
fn a_debt_with_a_lock_delay_lasts_as_long_as_its_key_may_live() {
    play(
        1,
        "acquire 1 r ttl 1s delay 1s
         n1 < SET r #1 NX PX 2000
         n1 > ok
         = acquired 1 ..
         drop 1
         n1 < EVAL ..
         n1 > -NOREPLICAS Not enough good replicas to write.
         +200ms
         n1 < EVAL ..
         +599ms
         n1 > -NOREPLICAS Not enough good replicas to write.
         +200ms
         n1 < EVAL ..
         +599ms
         n1 > -NOREPLICAS Not enough good replicas to write.
         debts 1                        // a ttl has passed, and the key may still be there
         +200ms
         n1 < EVAL ..
         +599ms
         n1 > -NOREPLICAS Not enough good replicas to write.
         debts 0",
    );
}

#[test]
fn a_label_stands_behind_the_token() {
    let label = |settings: &mut Settings| settings.label = Some("worker-7".into());
    let mut stage = all_open(Stage::with(1, &Login::default(), label), 1);
    stage.steps("acquire 1 r \n n1 < SET r #1 NX PX 10000 \n n1 > ok \n = acquired ..");
    let token = stage.machine.token(stage.hold(1)).expect("it is held");
    assert_eq!((token.len(), &token[32..]), (32 + 9, ":worker-7"));
}
