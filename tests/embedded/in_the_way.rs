//! What kept an acquire from a lock is in its error, whichever kind of lock it is: which resource, and which
//! holder.

use quorumlock::embedded::Masters;
use quorumlock::report::{Answer, Obstacle};
use quorumlock::{AcquireError, Redlock, RedlockBuilder};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(30);

fn builder(masters: &Masters) -> RedlockBuilder {
    masters.builder().key_prefix("app:")
}

async fn client(masters: &Masters, label: &str) -> Redlock {
    builder(masters).label(label).connect().await.unwrap()
}

/// Returns what was in the way of each of several resources, in words.
fn blocked(error: &AcquireError) -> Vec<String> {
    let AcquireError::Contended(contended) = error else { panic!("{error}") };
    let word = |obstacle: &Obstacle| obstacle.holder().unwrap_or(obstacle.as_str()).to_owned();
    contended
        .blocked()
        .iter()
        .map(|(name, obstacle)| format!("{name} {}", word(obstacle)))
        .collect()
}

#[tokio::test]
async fn every_kind_of_acquire_learns_the_holder() {
    let masters = Masters::start_in_memory(5).unwrap();
    let (holder, other) = (client(&masters, "web-1").await, client(&masters, "web-2").await);
    let _guard = holder.acquire("r").await.unwrap();
    for error in [
        other.try_acquire("r").await.unwrap_err(),
        other.try_acquire("r").fenced().await.unwrap_err(),
        other.try_acquire("r").fair(true).fenced().await.unwrap_err(),
        other.acquire("r").fenced().timeout(SHORT).await.unwrap_err(),
        other.acquire("r").fair(true).fenced().timeout(SHORT).await.unwrap_err(),
        other.acquire("r").timeout(SHORT).await.unwrap_err(),
        other.rw_lock("r").write().fenced().timeout(SHORT).await.unwrap_err(),
        other.rw_lock("r").try_read().await.unwrap_err(),
        other.try_acquire_all(["r"]).await.unwrap_err(),
    ] {
        assert_eq!(error.holder(), Some("web-1"), "{error}");
        assert!(error.to_string().starts_with("\"r\" is held by web-1"), "{error}");
        assert_eq!(blocked(&error), [""; 0], "there is one resource");
    }
    let nested = other.reentrant().try_acquire("r").await.unwrap_err().to_string();
    assert!(nested.contains("\"r\" is held by web-1: "), "{nested}");
}

#[tokio::test]
async fn of_several_resources_each_that_is_held_is_named_with_its_holder() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (holder, other) = (client(&masters, "web-1").await, client(&masters, "web-2").await);
    let third = builder(&masters).label("").connect().await.unwrap();
    let _b = holder.acquire("b").await.unwrap();
    for error in [
        other.try_acquire_all(["a", "b"]).await.unwrap_err(),
        other.acquire_all(["a", "b"]).fenced().timeout(SHORT).await.unwrap_err(),
    ] {
        assert_eq!((error.holder(), blocked(&error)), (Some("web-1"), vec!["b web-1".to_owned()]));
        assert!(error.to_string().starts_with("\"b\" is held by web-1: "), "{error}");
    }
    let _c = third.acquire("c").fenced().await.unwrap();
    let _d = client(&masters, "web-4").await.rw_lock("d").read().await.unwrap();
    let error = other.try_acquire_all(["a", "b", "c", "d"]).await.unwrap_err();
    assert_eq!(blocked(&error), ["b web-1", "c holder", "d readers"]);
    let begins =
        "\"b\" is held by web-1, \"c\" is held by another client, \"d\" is held by readers: ";
    assert!(error.to_string().starts_with(begins), "{error}");
}

#[tokio::test]
async fn of_several_resources_those_that_this_client_holds_are_named_as_its_own() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = client(&masters, "web-1").await;
    let _b = redlock.acquire("b").await.unwrap();
    for error in [
        redlock.try_acquire_all(["a", "b"]).await.unwrap_err(),
        redlock.acquire_all(["a", "b"]).timeout(SHORT).await.unwrap_err(),
    ] {
        assert_eq!((error.holder(), blocked(&error)), (None, vec!["b own_guard".to_owned()]));
        let text = error.to_string();
        assert!(text.starts_with("\"b\" is held by this client (after "), "{text}");
        assert!(text.ends_with("to nest, acquire through one Redlock::reentrant()"), "{text}");
    }
}

/// A master that hangs would cost an operation timeout if all were waited for.
#[tokio::test]
async fn a_quorum_that_answers_is_enough_to_name_the_holder() {
    let masters = Masters::start_in_memory(5).unwrap();
    let timeout = Duration::from_millis(900);
    let (holder, other) = (client(&masters, "web-1").await, builder(&masters));
    let other = other.operation_timeout(timeout).connect().await.unwrap();
    let _guard = holder.acquire("r").fenced().await.unwrap();
    masters[4].pause();
    let began = Instant::now();
    let error = other.try_acquire("r").fenced().await.unwrap_err();
    assert_eq!(error.holder(), Some("web-1"), "{error}");
    assert!(began.elapsed() < timeout, "{:?}", began.elapsed());
}

/// One round trip for the answer, and one to name the holder; a lock that is free costs one.
#[tokio::test(start_paused = true)]
async fn one_attempt_that_is_refused_takes_one_round_trip_more() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let (holder, other) = (client(&masters, "web-1").await, client(&masters, "web-2").await);
    let _guard = holder.acquire("r").await.unwrap();
    let latency = Duration::from_millis(50);
    masters.iter().for_each(|master| master.set_latency(latency));
    let began = tokio::time::Instant::now();
    let _free = other.try_acquire("free").await.unwrap();
    let free = began.elapsed();
    let error = other.try_acquire("r").await.unwrap_err();
    let refused = began.elapsed() - free;
    assert_eq!(error.holder(), Some("web-1"), "{error}");
    assert!(free < latency * 2 && refused < latency * 3, "{free:?} {refused:?}");
}

#[tokio::test]
async fn a_caller_that_is_gone_is_not_waited_for() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (holder, other) = (client(&masters, "web-1").await, client(&masters, "web-2").await);
    let guard = holder.acquire("r").fenced().await.unwrap();
    for turns in 0..40 {
        let mut refused = std::pin::pin!(other.try_acquire("r").fenced().into_future());
        for _ in 0..turns {
            if futures::poll!(refused.as_mut()).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    guard.release().await.unwrap();
    other.try_acquire("r").fenced().await.unwrap().release().await.unwrap();
    other.shutdown().await.unwrap();
    holder.shutdown().await.unwrap();
    let left = masters[0].keys();
    assert!(left.iter().all(|key| key.contains("quorumlock:")), "{left:?}");
}

#[tokio::test]
async fn in_an_outage_masters_that_could_have_granted_are_not_to_blame() {
    let masters = Masters::start_in_memory(5).unwrap();
    (0..3).for_each(|node| masters[node].kill());
    let redlock = client(&masters, "web-1").await;
    for error in [
        redlock.try_acquire("r").await.unwrap_err(),
        redlock.acquire("r").fair(true).fenced().timeout(SHORT).await.unwrap_err(),
    ] {
        let text = error.to_string();
        let begins = "no quorum for \"r\": 2 of 5 masters may vote, 3 needed (after ";
        assert!(text.starts_with(begins), "{text}");
        assert!(text.contains(": 3 of 5 masters: down ("), "{text}");
        assert!(
            text.ends_with(": could have granted") && text.matches("; ").count() == 1,
            "{text}"
        );
        let able = error.nodes().iter().filter(|node| node.answer == Answer::Available);
        assert_eq!(able.count(), 2, "{text}");
    }
}
