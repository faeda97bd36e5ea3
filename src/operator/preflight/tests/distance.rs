//! Masters so far away that an option is too short for them.

use super::*;

/// Returns the findings at a master with this round trip, with the defaults.
fn at_a_distance(millis: u64) -> Vec<Finding> {
    let reply = Reply::Array(vec![text("1700000000"), text("0")]);
    let (asked_at, round_trip) =
        (Duration::from_secs(1_700_000_000), Duration::from_millis(millis));
    let mut heard = heard([]);
    heard.times.push(TimeSample { asked: NOW, asked_at, round_trip, reply });
    let mut found = judged(&heard).findings;
    found.retain(|finding| matches!(finding.kind, FindingKind::TooShort { .. }));
    found
}

#[test]
fn a_round_trip_that_fits_the_options_is_no_finding() {
    assert_eq!(at_a_distance(0), []);
    assert_eq!(at_a_distance(100), []);
}

#[test]
fn each_option_that_a_round_trip_does_not_fit_is_named_with_a_value_that_does() {
    let texts = |millis| at_a_distance(millis).iter().map(Finding::to_string).collect::<Vec<_>>();
    assert_eq!(
        texts(110),
        [
            "warning: its round trip is long for operation_timeout (200 ms): raise operation_timeout to \
          300 ms or more, if it cannot stand nearer"
        ]
    );
    assert_eq!(
        texts(310),
        [
            "failure: its round trip is long for operation_timeout (200 ms): raise operation_timeout \
             to 700 ms or more, if it cannot stand nearer",
            "warning: its round trip is long for connect_timeout (500 ms): raise connect_timeout to \
             1.3 s or more, if it cannot stand nearer"
        ]
    );
    let named: Vec<_> = at_a_distance(1_000).into_iter().map(|found| found.kind).collect();
    let ttl = FindingKind::TooShort {
        option: "ttl",
        is: Duration::from_secs(10),
        needs: Duration::from_secs(20),
        never_votes: true,
    };
    assert!(named.contains(&ttl), "{named:?}");
}
