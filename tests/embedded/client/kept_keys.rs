//! A key that is kept for the next waiter, as inspections show it: written by hand, as an older version
//! writes it.

use super::prelude::*;
use futures::StreamExt;
use quorumlock::report::Obstacle;
use quorumlock::{AcquireError, LockState, NodeState};

const KEPT: &str = "quorumlock:next:0123456789abcdef0123456789abcdef";

async fn keep(masters: &[Master]) {
    for server in masters {
        witness::set_foreign(server, "r", KEPT, LONG).await;
    }
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
