//! Fencing tokens rise from win to win whatever the clocks say: with client clocks that differ,
//! master clocks that are years off, and masters that restart without their fences.

use crate::support::prelude::*;
use quorumlock::embedded::{Masters, Memory};
use quorumlock::{FencingToken, FencingWindow, Redlock, RedlockBuilder, RestartGuard};
use std::time::{Duration, SystemTime};

const YEAR: Duration = Duration::from_secs(31_557_600);
/// Distance from its clock at which a master still accepts a token, each way.
const WINDOW: Duration = Duration::from_millis(500);
/// Lead of one client's clock.
const FAST: Duration = Duration::from_millis(450);

fn builder(masters: &Masters) -> RedlockBuilder {
    let builder = masters.builder().ttl(800 * MS).max_ttl(800 * MS).acquire_timeout(LONG);
    builder.fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW })
}

/// Wins once with a client, and releases at once.
async fn win(redlock: &Redlock, resource: &str) -> FencingToken {
    let guard = redlock.acquire(resource).fenced().await.unwrap();
    let token = guard.fencing_token();
    guard.release().await.unwrap();
    token
}

fn set_ahead(masters: &Masters, by: Duration) {
    masters.iter().for_each(|master| master.set_clock(move || SystemTime::now() + by));
}

/// Makes a client whose clock is ahead. One process has only one clock, but a client takes the
/// masters' clocks from a refusal. These clocks are then set right again without its knowledge.
async fn with_a_fast_clock(masters: &Masters, client: RedlockBuilder) -> Redlock {
    let redlock = client.connect().await.unwrap();
    set_ahead(masters, FAST);
    let other = builder(masters).connect().await.unwrap();
    let theirs = other.acquire("lesson").await.unwrap();
    assert!(redlock.try_acquire("lesson").fenced().await.unwrap_err().is_contended());
    theirs.release().await.unwrap();
    set_ahead(masters, Duration::ZERO);
    redlock
}

/// Returns how far the first token is ahead of the second.
fn ahead(first: FencingToken, second: FencingToken) -> Duration {
    Duration::from_micros(first.as_u64().saturating_sub(second.as_u64()))
}

#[tokio::test]
async fn tokens_rise_over_clients_whose_clocks_are_apart() {
    let masters = Masters::start_in_memory(5).unwrap();
    let fast = with_a_fast_clock(&masters, builder(&masters)).await;
    let mut last = None;
    for round in 0..40 {
        let new = builder(&masters).connect().await.unwrap();
        // Where no store compares them, the tokens show the difference of the clocks.
        let (theirs, ours) = (win(&fast, &format!("a{round}")).await, win(&new, "apart").await);
        if round == 0 {
            assert!(ahead(theirs, ours) > FAST / 2, "{theirs:?} and then {ours:?}");
        }
        for client in [&fast, &new, &fast] {
            // Each time, another two masters are too slow to wait for.
            let slow = [round % 5, (round + 2) % 5];
            slow.iter().for_each(|&node| masters[node].set_latency(20 * MS));
            let token = Some(win(client, "r").await);
            slow.iter().for_each(|&node| masters[node].set_latency(Duration::ZERO));
            assert!(token > last, "round {round}: {token:?} after {last:?}");
            last = token;
        }
    }
}

/// Masters that are years away from their clients, and agree among themselves.
#[tokio::test]
async fn clocks_that_are_years_off_starve_no_client_and_break_nothing() {
    for ahead in [true, false] {
        let masters = Masters::start_in_memory(3).unwrap();
        masters.iter().for_each(|master| match ahead {
            true => master.set_clock(|| SystemTime::now() + 10 * YEAR),
            false => master.set_clock(|| SystemTime::now() - 10 * YEAR),
        });
        let clients = [
            builder(&masters).restart_guard(RestartGuard::Off).connect().await.unwrap(),
            builder(&masters).restart_guard(RestartGuard::Off).connect().await.unwrap(),
        ];
        let mut last = None;
        for round in 0..20 {
            let token = Some(win(&clients[round % 2], "r").await);
            assert!(token > last, "{token:?} after {last:?}");
            last = token;
            let unfenced = clients[round % 2].try_acquire("r").await.unwrap();
            assert!(clients[(round + 1) % 2].try_acquire("r").await.unwrap_err().is_contended());
            unfenced.release().await.unwrap();
        }
    }
}

/// A fast client wins, a quorum restarts without its fences, and then a slow client wins. Returns
/// both tokens.
async fn over_restarts(client: fn(&Masters) -> RedlockBuilder) -> [FencingToken; 2] {
    let masters = Masters::start_in_memory(3).unwrap();
    let fast = with_a_fast_clock(&masters, client(&masters)).await;
    let before = win(&fast, "r").await;
    for node in [0, 1] {
        masters[node].restart(Memory::Lost).unwrap();
    }
    let slow = client(&masters).connect().await.unwrap();
    [before, win(&slow, "r").await]
}

#[tokio::test]
async fn tokens_rise_over_masters_that_restart_without_their_fences() {
    for _ in 0..3 {
        let [before, after] = over_restarts(builder).await;
        assert!(after > before, "{after:?} after {before:?}");
    }
}

/// The same restarts: the restart guard keeps the order, and the test above can fail.
#[tokio::test]
async fn without_the_restart_guard_a_token_goes_down() {
    let [before, after] =
        over_restarts(|masters| builder(masters).restart_guard(RestartGuard::Off)).await;
    assert!(after < before, "{after:?} after {before:?}");
}
