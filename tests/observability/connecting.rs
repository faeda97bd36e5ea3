//! A master that a new client proceeds without is reported while it connects: by an event and a
//! metric.

use crate::capture::Capture;
use crate::scenario::{PATIENCE, client, exposed, name, recorder, with_provider};
use crate::support::poll::eventually;
use quorumlock::embedded::Masters;
use quorumlock::{ConnectError, NodeStanding};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn an_unfit_master_at_the_connect_is_an_error_event_and_a_gauge() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (capture, _capturing) = Capture::set();
    let masters = Masters::start_in_memory(3).unwrap();
    masters[1].deny(&["eval"]).unwrap();
    let redlock = client(&masters).connect().await.unwrap();
    let status = redlock.status().await.unwrap();
    let NodeStanding::Rejected(cause) = &status.nodes()[1].standing else { panic!("{status}") };
    let reports = capture.named("unfit");
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].event.level, "ERROR");
    assert_eq!(reports[0].field("node"), name(&masters, 1) + ":6379");
    assert_eq!((reports[0].field("standing"), reports[0].field("cause")), ("rejected", &**cause));
    let standing =
        |word: &str| exposed(&handle).sum("quorumlock_node_standing", &[("standing", word)]);
    let are = |number: f64, expected: f64| (number - expected).abs() < 1e-6;
    assert!(are(standing("rejected"), 1.0) && are(standing("voting"), 2.0));

    // Another client has other settings: the newcomer is refused, with a report for each master.
    let other = client(&masters).max_ttl(Duration::from_secs(60)).connect().await;
    assert!(matches!(other, Err(ConnectError::Disagreement(_))), "{other:?}");
    let reports = capture.named("unfit");
    let disagree = reports.iter().filter(|report| report.field("standing") == "disagrees").count();
    assert_eq!(disagree, 2, "{reports:?}");
}

#[tokio::test]
async fn credentials_that_cannot_be_renewed_are_a_gauge_until_they_are_or_the_client_ends() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let masters = Masters::start_in_memory(3).unwrap();
    let (redlock, fails) = with_provider(&masters).await;
    let counted = async |expected: f64| {
        let not_renewed = || exposed(&handle).sum("quorumlock_credentials_not_renewed", &[]);
        let is_counted = async || (not_renewed() - expected).abs() < 1e-6;
        eventually(&format!("{expected} masters are counted"), PATIENCE, is_counted).await;
    };
    counted(0.0).await;
    for _ in 0..2 {
        fails.store(true, Ordering::SeqCst);
        counted(3.0).await;
        fails.store(false, Ordering::SeqCst);
        counted(0.0).await;
    }
    fails.store(true, Ordering::SeqCst);
    counted(3.0).await;
    redlock.shutdown().await.unwrap();
    counted(0.0).await;
}
