//! Where listeners and waiters listen, as masters come and go. Of three nodes, `n3` publishes about
//! `r`, and `n2` where `n3` is gone.

use super::greets;
use super::waking::{open, waits};

#[test]
fn a_listener_hears_what_is_said_and_that_something_may_have_been_missed() {
    open(3).play(
        "listen 1 r
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > subscribed r
         = listens 1
         n3 > freed r
         = heard 1
         n3 > says r 7
         = heard 1 7
         listen 2 r                     // one subscription for all
         n3 > says r 8
         = heard 1 8
         = heard 2 8
         unlisten 1 r
         n3 > says r 9
         = heard 2 9
         unlisten 2 r
         n3 > says r 10",
    );
}

#[test]
fn it_follows_the_node_that_publishes() {
    open(3).play(
        "listen 1 r
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > subscribed r
         = listens 1
         n3 breaks
         n2 < SUBSCRIBE quorumlock:free:0:r
         n2 > subscribed r
         = listens 1
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < SUBSCRIBE quorumlock:free:0:r
         n2 < UNSUBSCRIBE quorumlock:free:0:r
         n2 > unsubscribed r
         n3 > subscribed r
         = listens 1
         unlisten 1 r",
    );
}

#[test]
fn without_the_right_to_subscribe_it_hears_nothing() {
    open(3).play(
        "listen 1 r
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > -NOPERM no
         unlisten 1 r
         no faults",
    );
}

#[test]
fn a_listener_and_a_waiter_share_a_subscription() {
    waits().play(
        "listen 5 r
         n3 > freed r
         = heard 5
         n3 < SET r #3 ..
         n3 > nil
         cancel 1
         jitter middle
         +10s
         n1-3 beats
         n1 > server run1
         n3 > server run3
         n2 > server run2
         n1-3 > known
         n3 > freed r                   // one still listens
         = heard 5
         unlisten 5 r
         +10s
         n1-3 beats
         n1 > server run1
         n3 > server run3
         n2 > server run2
         n1-3 > known
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 > unsubscribed r",
    );
}

#[test]
fn so_many_listeners_are_notified_and_no_more() {
    let mut stage = open(1);
    (0..5_000).for_each(|request| stage.steps(&format!("listen {request} r")));
    assert_eq!(stage.machine.entries(), 4_096);
    stage.steps("n1 < SUBSCRIBE quorumlock:free:0:r \n n1 > freed r");
    assert_eq!(stage.unseen.len(), 4_096);
    stage.unseen.clear();
    (0..5_000).for_each(|request| stage.steps(&format!("unlisten {request} r")));
    stage.play("");
}

#[test]
fn a_waiter_follows_the_master_that_notifies() {
    let mut stage = waits();
    stage.steps(
        "n3 breaks
         +20ms
         n1-2 < EVAL look 1 r
         n1-2 < SET ..
         n1-2 > -1
         n1-2 > nil
         n2 < EVAL ..
         n2 < SUBSCRIBE quorumlock:free:0:r
         n2 > 0
         n2 > subscribed r
         n2 < EVAL look 1 r
         n2 < SET ..
         n2 > 9000
         n2 > nil
         +40ms",
    );
    stage.steps(&greets(3, "hello 9", "run3"));
    stage.play(
        "n3 < CLIENT KILL ID 1
         n3 > 1
         +250ms
         n1-3 < SET ..
         n1-3 > nil
         n3 < EVAL release ..
         n2 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < SUBSCRIBE quorumlock:free:0:r",
    );
}

#[test]
fn a_master_that_is_gone_for_good_keeps_no_subscriptions() {
    let mut stage = waits();
    stage.steps("cancel 1 \n n3 breaks");
    assert_eq!(stage.machine.at.waiters.topics(), 0);
}

/// What is unsubscribed from on a connection that is gone is not sent on the next one, ahead of its HELLO.
#[test]
fn a_connection_begins_with_hello_whatever_the_one_before_was_about_to_send() {
    let mut stage = waits();
    stage.play(
        "+250ms
         n1-3 < SET r #3 ..
         n1 > nil
         n3 breaks                      // the acquire is refused, and listens elsewhere
         n2 < EVAL release ..
         n2 < SUBSCRIBE ..
         cancel 1
         +60ms
         n3 < DIAL
         n3 connects
         n3 < HELLO ..
         n3 asks",
    );
}
