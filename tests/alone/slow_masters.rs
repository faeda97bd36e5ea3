//! Slow masters, slow connections, a busy process: the time that they take is not held, and a lock
//! with no validity left is not a lock.

use crate::availability::no_quorum;
use crate::support::normalised::{without_ports, without_times};
use crate::support::prelude::*;
use crate::support::proxy::{Cut, Direction, Proxy, in_front_of};
use quorumlock::{Guard, Redlock};
use std::time::{Duration, Instant};

const OPERATION_TIMEOUT: Duration = Duration::from_millis(200);

async fn connect(urls: impl IntoIterator<Item = String>) -> Redlock {
    let builder = builder().nodes(urls).ttl(Duration::from_secs(10));
    builder.operation_timeout(OPERATION_TIMEOUT).connect().await.unwrap()
}

/// Puts masters behind slow links, with `delay` each way.
async fn slow(masters: &Masters, delay: Duration) -> (Vec<Proxy>, Redlock) {
    let proxies = in_front_of(masters.iter().map(Server::addr));
    let redlock = connect(proxies.iter().map(Proxy::url)).await;
    for proxy in &proxies {
        proxy.delay(Direction::ToServer, delay);
        proxy.delay(Direction::ToClient, delay);
    }
    (proxies, redlock)
}

/// Asserts that the guard ends no later than the key expires on a quorum, as the masters report it.
async fn assert_covered(masters: &Masters, guard: &Guard) {
    let remaining = guard.remaining();
    let deadline = Instant::now() + remaining;
    let mut covering = 0;
    for server in masters.iter() {
        let asked = Instant::now();
        let left = witness::pttl(server, "r").await;
        covering += usize::from(left.is_some_and(|left| asked + left >= deadline));
    }
    assert!(covering > masters.len() / 2, "only {covering} keys outlive the deadline");
}

#[tokio::test]
async fn the_time_that_an_acquire_took_is_not_held() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let (_proxies, redlock) = slow(&masters, Duration::from_millis(60)).await;
    let ttl = Duration::from_secs(2);
    let guard = redlock.try_acquire("r").ttl(ttl).await.unwrap();
    let most = Duration::from_millis(2_000 - 20 - 2 - 120);
    assert!(guard.remaining() <= most, "{:?}, at most {most:?}", guard.remaining());
    assert_covered(&masters, &guard).await;
}

/// The client first has to connect to three of five, over slow links, with the acquire in flight.
#[tokio::test]
async fn the_time_that_connecting_took_is_not_held() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let (proxies, redlock) = slow(&masters, Duration::from_millis(40)).await;
    proxies[..3].iter().for_each(|proxy| proxy.cut(Cut::Reset));
    let began = Instant::now();
    let guard = redlock.acquire("r").ttl(Duration::from_secs(2)).timeout(SOON).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(160), "two slow round trips: {guard:?}");
    assert_covered(&masters, &guard).await;
}

#[tokio::test]
async fn answers_that_take_too_long_are_no_lock_and_are_rolled_back() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let (proxies, redlock) = slow(&masters, Duration::from_millis(150)).await;
    let error = no_quorum(redlock.try_acquire("r").await);
    assert!(error.waited >= OPERATION_TIMEOUT, "{error}");
    let all = async || witness::releases(&witness::calls(&masters[0]).await) > 0;
    eventually("the rollback has arrived behind the SET", SOON, all).await;
    witness::eventually_no_keys(&masters, SOON).await;
    drop(proxies);
}

/// The master grants in time, but the process is busy until no validity is left.
#[tokio::test]
async fn grants_read_after_the_ttl_make_no_lock_and_are_rolled_back() {
    let _turn = crate::alone().await;
    // A single master: with several answers, which one is read before the clock would be a matter
    // of luck.
    let masters = Masters::start(1);
    let redlock = connect(masters.urls()).await;
    let ttl = Duration::from_millis(300);
    let mut acquire = std::pin::pin!(redlock.try_acquire("r").ttl(ttl).into_future());
    assert!(futures::poll!(acquire.as_mut()).is_pending());
    // The coordinator sends; then the only thread of this runtime does something else.
    tokio::task::yield_now().await;
    std::thread::sleep(ttl + Duration::from_millis(100));
    let error = no_quorum(acquire.await);
    assert!(error.is_too_late() && error.waited > ttl, "{error}");
    let text = "\"r\" was granted too late to be used (after <time>, 1 attempt): 127.0.0.1:<1> granted after <time>; \
                if neither masters nor this process were held up, raise ttl";
    assert_eq!(without_times(&without_ports(&error, &masters)), text);
    let sent = async || witness::releases(&witness::calls(&masters[0]).await) > 0;
    eventually("it was sent, and rolled back", SOON, sent).await;
    witness::eventually_no_keys(&masters, SOON).await;
    assert!(redlock.try_acquire("r").await.is_ok());
}
