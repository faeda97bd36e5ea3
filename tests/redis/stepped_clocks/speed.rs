//! A clock that stands still or runs at twice the speed of ours is a finding.

use super::world::SOON;
use crate::support::prelude::*;
use quorumlock::preflight::FindingKind;

#[tokio::test]
async fn a_clock_that_stands_still_or_runs_twice_as_fast_makes_its_master_unfit() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    masters[0].set_clock_speed(1e-9);
    masters[1].set_clock_speed(2.0);
    let found = async || {
        let preflight = masters.builder().preflight().await.unwrap();
        let of_speed = |kind: &FindingKind| matches!(kind, FindingKind::ClockSpeed { .. });
        let speeds = preflight.into_iter().map(|node| {
            let mut kinds = node.findings.iter().map(|finding| &finding.kind);
            assert!(!node.is_ok() || !kinds.clone().any(of_speed), "{node}");
            kinds.find(|kind| of_speed(kind)).map(ToString::to_string)
        });
        let [still, twice, None] = &speeds.collect::<Vec<_>>()[..] else {
            panic!("a right clock is none: {preflight}")
        };
        assert!(still.as_ref().is_some_and(|text| text.starts_with("its clock stood still for ")));
        twice.is_some()
    };
    // Answers that a busy machine holds up for longer than the questions are apart explain twice the speed.
    eventually("twice the speed is found", SOON, found).await;
}
