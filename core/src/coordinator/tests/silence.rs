//! A master that sends nothing, or that is no longer the same server.

use super::play;

#[test]
fn a_master_that_owes_an_answer_for_three_timeouts_is_replaced() {
    play(
        1,
        "+1s
         acquire 1 r
         n1 < SET ..
         +200ms
         n1 < EVAL ..
         = no quorum 1 at 1 after 200ms: no answer in time
         next 1600ms
         +399.999999ms
         n1 < -
         no faults
         +1ns
         n1 < CLOSE
         fault n1 down the server has fallen silent for 3 times 200 ms: if it is only slow, raise \
         operation_timeout
         next 1650ms
         debts 1",
    );
}

#[test]
fn a_master_that_answers_something_is_given_three_timeouts_more() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         +200ms
         n1 < EVAL ..
         = no quorum ..
         +399ms
         n1 > nil
         next 1199ms
         +599ms
         n1 < -
         +1ms
         n1 < CLOSE",
    );
}

#[test]
fn patience_counts_from_the_question_not_from_the_last_answer() {
    play(
        1,
        "+5s
         acquire 1 r
         n1 < SET ..
         +1ms
         n1 > ok
         = acquired 1 ..
         +4s
         extend 2 of 1
         n1 < EVALSHA extend 1 r #1 10000
         next 9201ms
         +599ms
         = extend 2 unconfirmed: no answer in time
         n1 < -
         +1ms
         n1 < CLOSE",
    );
}

#[test]
fn an_idle_master_is_asked_for_its_name_every_ten_seconds() {
    play(
        1,
        "next 10000ms
         +9.999999999s
         n1 < -
         +1ns
         n1 beats
         n1 > server run1
         n1 > known
         next 20000ms
         +10s
         n1 beats
         n1 > -NOPERM no                // a right that was withdrawn is no other server
         n1 > known
         +5s
         n1 < -
         no faults",
    );
}

#[test]
fn heartbeats_are_jittered_by_a_fifth_either_way() {
    for (jitter, first, second) in
        [("least", "8000ms", "16000ms"), ("most", "11999.999999ms", "23999.999998ms")]
    {
        let mut stage = super::Stage::new(1, &crate::wire::Login::default());
        stage.play(&format!(
            "jitter {jitter}
             n1 opens
             = connected
             next {first}
             +{first}
             n1 beats
             n1 > server run1
             n1 > known
             next {second}"
        ));
    }
}

#[test]
fn a_connection_that_died_idle_is_found_by_the_heartbeat() {
    play(
        3,
        "+10s
         n1-3 beats
         n2 > server run2
         n3 > server run3
         n2-3 > known
         +599ms
         n1 < -
         +1ms
         n1 < CLOSE
         n2-3 < -
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1",
    );
}

#[test]
fn another_server_behind_the_same_connection_is_not_believed() {
    play(
        3,
        "+9.9s
         acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n2-3 > nil
         n1 < EVAL release 1 r #1
         = contended ..
         n1 > nil
         +100ms
         n1-3 beats
         n2 > server run2
         n3 > server run3
         n2-3 > known
         n1 > 0
         acquire 2 r
         n1-3 < SET ..
         n1 > server other
         n1 < CLOSE
         fault n1 down the server behind this connection has changed: is there a proxy?
         n2-3 > ok
         = acquired 2 ..",
    );
}

#[test]
fn a_handshake_is_not_taken_for_silence() {
    play(
        1,
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         +499ms
         n1 < -
         +1ms
         n1 < CLOSE
         fault n1 down no answer to the handshake within 500 ms: raise connect_timeout",
    );
}

#[test]
fn what_was_not_written_is_no_silence_of_the_server() {
    play(
        1,
        "n1 takes 0
         acquire 1 r
         +200ms
         = no quorum 1 at 1 after 200ms: no answer in time
         +5s
         n1 < -                         // held up in this process
         n1 takes all
         n1 < SET ..
         n1 < EVAL ..
         +599.999999ms
         n1 < -
         no faults
         +1ns
         n1 < CLOSE",
    );
}

#[test]
fn of_two_silent_masters_each_is_waited_for_as_long_as_it_may_take() {
    play(
        5,
        "~60s
         acquire 1 r
         n1-5 < EVAL agree ..
         n1-3 > confirmed
         +100ms
         n1-5 beats                // which were due
         n5 breaks
         n1-3 < -
         +100ms                    // n4 has had its time
         n1-3 < -
         +99.999999ms
         n1-3 < -
         +1ns
         n1-3 < SET r #1 NX PX 10000
         n5 < DIAL",
    );
}
