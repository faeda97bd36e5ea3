//! The dining philosophers: each needs two forks at once, and has them in the end, whoever else is hungry.

use futures::future::join_all;
use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

const MS: Duration = Duration::from_millis(1);
const SEATS: usize = 6;

/// Eats with the fork on either side until `end`. Returns how often, and the longest wait.
async fn dine(redlock: Redlock, seat: usize, end: Instant) -> (usize, Duration) {
    let (left, right) = (format!("fork {seat}"), format!("fork {}", (seat + 1) % SEATS));
    let (mut meals, mut longest) = (0, Duration::ZERO);
    while Instant::now() < end {
        let began = Instant::now();
        let forks = redlock.acquire_all([left.as_str(), right.as_str()]).await.unwrap();
        longest = longest.max(began.elapsed());
        sleep(20 * MS).await;
        forks.release().await.unwrap();
        meals += 1;
    }
    (meals, longest)
}

#[tokio::test(start_paused = true)]
async fn every_philosopher_eats_again_and_again() {
    let masters = Masters::start_in_virtual_time(5).unwrap();
    masters.iter().for_each(|master| master.set_latency(MS));
    let end = Instant::now() + 8_000 * MS;
    // Two at each seat, of four clients.
    let mut guests = Vec::new();
    for client in 0..4 {
        let redlock = masters.builder().connect().await.unwrap();
        guests.extend((0..3).map(|guest| dine(redlock.clone(), (3 * client + guest) % SEATS, end)));
    }
    let dined = join_all(guests).await;
    sleep_until(end).await;
    let fewest = dined.iter().map(|(meals, _)| *meals).min().unwrap();
    let longest = dined.iter().map(|(_, wait)| *wait).max().unwrap();
    assert!(fewest >= 20 && longest < 3_000 * MS, "{dined:?}");
}
