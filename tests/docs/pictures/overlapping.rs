//! Two holders at a time are found, and shown in red.

use super::reading::rects;
use super::scenes::{broken, client, eventful, hold, ms, run, span};
use super::timeline::{Client, Hold, Verdict, overlaps};
use proptest::collection::vec;
use proptest::prelude::{Strategy, proptest};

fn two(first: Hold, other: Hold) -> Vec<Client> {
    vec![client("a", vec![first]), client("b", vec![other])]
}

#[test]
fn what_two_clients_hold_at_a_time_is_an_overlap() {
    let found = overlaps(&run(two(hold("x", 1_000, 3_000), hold("x", 2_500, 4_000))));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].span, span(2_500, 3_000));
    assert_eq!(found[0].clients, ("a".to_owned(), "b".to_owned()));
}

#[test]
fn it_is_red_in_the_row_of_its_resource_and_with_both_clients() {
    let picture = run(two(hold("x", 1_000, 3_000), hold("x", 2_500, 4_000))).to_svg();
    let bars = rects(&picture, "hold");
    let red = rects(&picture, "overlap");
    let red: Vec<_> = red.iter().filter(|rect| !rect.title.is_empty()).collect();
    assert_eq!(red.len(), 4, "two in the row of the resource, one with each client: {red:?}");
    for rect in &red {
        assert!((rect.x - bars[1].x).abs() < 0.1, "{rect:?} begins with the second: {bars:?}");
        assert!((rect.end() - bars[0].end()).abs() < 0.1, "{rect:?} ends with the first: {bars:?}");
        assert!(rect.title.contains("x had two holders for 500 ms: a and b"), "{rect:?}");
    }
}

#[test]
fn one_after_the_other_is_none() {
    let touching = two(hold("x", 1_000, 3_000), hold("x", 3_000, 4_000));
    assert_eq!(overlaps(&run(touching)), []);
    let other_resource = two(hold("x", 1_000, 3_000), hold("y", 1_000, 3_000));
    assert_eq!(overlaps(&run(other_resource)), []);
}

#[test]
fn a_client_past_its_deadline_holds_nothing() {
    let late = |deadline| {
        let mut late = hold("x", 1_000, 3_000);
        late.deadline = Some(ms(deadline));
        run(two(late, hold("x", 2_500, 4_000)))
    };
    assert_eq!(overlaps(&late(2_500)), []);
    assert_eq!(overlaps(&late(2_501)).len(), 1);
    // A deadline does not keep a released lock alive either.
    assert_eq!(overlaps(&late(9_000))[0].span, span(2_500, 3_000));
}

#[test]
fn an_overlap_that_the_verdict_does_not_know_of_is_reported() {
    let mut run = broken();
    assert!(run.to_html().contains("<b>two holders at a time: 2 overlaps</b>"));
    run.verdict = Verdict::Good("all is well".to_owned());
    assert!(
        run.to_html().contains("<b>two holders at a time: 2 overlaps, against the verdict</b>")
    );
    assert!(!eventful().to_html().contains("<b>"));
}

/// Makes holds of two resources, with random deadlines.
fn some_holds() -> impl Strategy<Value = Vec<Hold>> {
    let parts = (0..2_u8, 0..60_u64, 0..12_u64, 0..20_u64);
    let hold = parts.prop_map(|(resource, from, long, deadline)| {
        let mut hold = hold(["x", "y"][usize::from(resource)], from * 100, (from + long) * 100);
        hold.deadline = (deadline < 12).then(|| ms((from + deadline) * 100));
        hold
    });
    vec(hold, 0..30)
}

proptest! {
    #[test]
    fn each_hold_that_begins_within_an_earlier_one_is_found(holds in some_holds()) {
        let mut valid: Vec<_> = holds.iter().map(|hold| (&hold.resource, hold.valid())).collect();
        valid.retain(|(_, span)| span.from < span.to);
        valid.sort();
        let within = |(n, (resource, span)): (usize, &(&String, _))| {
            valid[..n].iter().any(|(other, before)| other == resource && before.common(*span).is_some())
        };
        let expected = valid.iter().enumerate().filter(|entry| within(*entry)).count();
        let clients = holds.into_iter().enumerate().map(|(n, hold)| client(&format!("c{n}"), vec![hold]));
        assert_eq!(overlaps(&run(clients.collect())).len(), expected);
    }
}
