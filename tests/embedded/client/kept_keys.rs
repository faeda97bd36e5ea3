//! A key that is kept for the next in turn, and a queue, as inspections show them: written by hand, as
//! the scripts of waiters in turn write them.

use super::prelude::*;
use futures::StreamExt;
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, LockState, NodeState};
use redis::cmd;
use std::time::{Duration, SystemTime};

const KEPT: &str = "quorumlock:next:0123456789abcdef0123456789abcdef";
const ALIVE: &str = "quorumlock:alive:r";

async fn keep(masters: &[Master]) {
    for server in masters {
        witness::set_foreign(server, "r", KEPT, LONG).await;
    }
}

/// Lets so many live in the queue of a master, and one whose time is over.
async fn enqueue(server: &Master, living: usize) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let mut command = cmd("ZADD");
    command.arg(ALIVE).arg((now - SECOND).as_millis() as u64).arg("dead");
    for number in 0..living {
        command.arg((now + LONG).as_millis() as u64).arg(number.to_string());
    }
    witness::ask::<()>(server, &command).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_is_no_holder_and_keeps_all_others_out() {
    let (masters, redlock) = three().await;
    keep(&masters[..2]).await;
    let inspection = redlock.inspect("r").await.unwrap();
    assert_eq!((inspection.state(), inspection.is_kept()), (&LockState::Free, true));
    assert_eq!(inspection.holder(), None);
    let kept = |state: &NodeState| matches!(state, NodeState::Kept(left) if *left <= LONG);
    assert!(inspection.nodes()[..2].iter().all(|node| kept(&node.state)), "{inspection}");
    assert_eq!(inspection.nodes()[2].state, NodeState::Free);
    let refused = redlock.force_release(&inspection).await.unwrap_err().to_string();
    assert!(refused.contains("\"r\" was not held"), "{refused}");
    for list in [redlock.list(""), redlock.list("").include_free()] {
        let listed: Vec<_> = list.collect().await;
        assert!(listed.is_empty(), "{listed:?}");
    }

    let Err(AcquireError::Contended(error)) = redlock.acquire("r").timeout(SECOND).await else {
        panic!("it was acquired")
    };
    assert_eq!(error.obstacle, Obstacle::Reserved, "{error}");
    assert!(
        error.to_string().starts_with("\"r\" is reserved for the next waiter in the queue: 2 of 3"),
        "{error}"
    );
    for kept in [
        redlock.try_acquire_all(["r", "s"]).await.err(),
        redlock.rw_lock("r").try_read().await.err(),
    ] {
        assert!(kept.unwrap().is_contended());
    }
    assert!(redlock.try_acquire("r").fenced().await.unwrap_err().is_contended());
    assert_eq!(witness::value(&masters[0], "r").await.as_deref(), Some(KEPT));
}

#[tokio::test(start_paused = true)]
async fn an_inspection_says_how_many_wait_and_leaves_out_the_dead() {
    let (masters, redlock) = three().await;
    let waiting = async || redlock.inspect("r").await.unwrap().waiting();
    assert_eq!(waiting().await, Some(0));
    enqueue(&masters[0], 9).await;
    assert_eq!(waiting().await, Some(0));
    enqueue(&masters[1], 3).await;
    assert_eq!(waiting().await, Some(3));
    enqueue(&masters[2], 5).await;
    assert_eq!(waiting().await, Some(5));
    let guard = redlock.acquire("r").await.unwrap();
    let inspection = redlock.inspect("r").await.unwrap();
    let text = inspection.to_string();
    assert!(
        text.starts_with("\"r\" is held, expires in ") && text.contains(", 5 waiting: "),
        "{text}"
    );
    guard.release().await.unwrap();

    masters[..2].iter().for_each(|master| master.deny(&["zrangebyscore"]).unwrap());
    let reader = redlock.rw_lock("r").read().label("reader-7").await.unwrap();
    let inspection = redlock.inspect("r").await.unwrap();
    assert_eq!(inspection.waiting(), None);
    let holder = inspection.holder().unwrap();
    assert_eq!(holder.readers()[0].label(), Some("reader-7"), "the rest is reported");
    assert!(holder.remaining().unwrap() > Duration::ZERO);
    reader.release().await.unwrap();
}
