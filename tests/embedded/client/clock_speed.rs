//! A preflight compares the speed of each master's clock with that of ours, at any distance.

use super::prelude::*;
use quorumlock::preflight::{FindingKind, NodePreflight};
use std::time::{Duration, SystemTime};

/// Gives the master a clock that shows the right time now, and runs at this share of the speed of ours.
async fn set_speed(master: &Master, percent: u32) {
    let time = witness::ask::<(u64, u64)>(master, &redis::cmd("TIME")).await.unwrap();
    let since = Duration::from_secs(time.0) + Duration::from_micros(time.1);
    let began = Instant::now();
    master.set_clock(move || SystemTime::UNIX_EPOCH + since + began.elapsed() * percent / 100);
}

/// Returns the speed of a clock that is found wrong, in percent.
fn speed(node: &NodePreflight) -> Option<u128> {
    node.findings.iter().find_map(|finding| match finding.kind {
        FindingKind::ClockSpeed { ours, theirs } => {
            assert!(finding.is_failure(), "{finding}");
            Some(theirs.as_micros() * 100 / ours.as_micros())
        }
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn a_clock_of_another_speed_makes_its_master_unfit_at_any_distance() {
    for latency in [Duration::ZERO, MS, 50 * MS, 300 * MS] {
        let masters = Masters::start(5);
        for (master, percent) in masters.iter().zip([100, 0, 200, 50, 101]) {
            set_speed(master, percent).await;
            master.set_latency(latency);
        }
        let began = Instant::now();
        let preflight = masters.builder().operation_timeout(SECOND).preflight().await.unwrap();
        let speeds: Vec<_> = preflight.into_iter().map(speed).collect();
        assert_eq!(speeds, [None, Some(0), Some(200), Some(50), None], "{latency:?}: {preflight}");
        // 20 ms, if the rest of the conversation takes less.
        assert!(latency > MS || began.elapsed() < 40 * MS, "{:?}", began.elapsed());
    }
}
