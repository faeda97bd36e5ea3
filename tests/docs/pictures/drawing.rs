//! The places of things in the picture.

use super::reading::{Rect, bars_of_clients, bars_of_resources, height_of, rects};
use super::scenes::{broken, client, crowded, eventful, hold, ms, run, span};
use super::timeline::{Ended, Fault, Hold, Master, Span, State, Verdict, Violation};
use proptest::collection::vec;
use proptest::prelude::{Strategy, proptest};
use std::time::Duration;

/// Left end of the time axis.
const LEFT: f64 = 150.0;
const LONG: f64 = 1_030.0;

fn near(value: f64, other: f64) -> bool {
    (value - other).abs() < 0.02
}

/// Draws the only bar of the only client.
fn bar(hold: Hold) -> Rect {
    let bars = bars_of_clients(&run(vec![client("a", vec![hold])]).to_svg());
    assert_eq!(bars.len(), 1, "{bars:?}");
    bars[0].clone()
}

#[test]
fn a_bar_stands_where_its_time_is() {
    let bar = bar(hold("x", 2_000, 4_500));
    assert!(near(bar.x, LEFT + 0.2 * LONG) && near(bar.width, 0.25 * LONG), "{bar:?}");
    assert_eq!(bar.title, "x, a: 2.000 s to 4.500 s (2.5 s), released");
}

#[test]
fn time_before_the_run_and_after_it_is_cut_off() {
    let mut early = run(vec![client("a", vec![hold("x", 0, 6_000), hold("y", 0, 900)])]);
    early.span = span(1_000, 5_000);
    let bars = bars_of_clients(&early.to_svg());
    assert_eq!(bars.len(), 1, "what was over before is not there: {bars:?}");
    assert!(near(bars[0].x, LEFT) && near(bars[0].width, LONG), "{bars:?}");
}

#[test]
fn the_time_past_its_deadline_is_no_part_of_the_bar() {
    let mut late = hold("x", 2_000, 6_000);
    (late.deadline, late.ended) = (Some(ms(5_000)), Ended::Lapsed);
    let picture = run(vec![client("a", vec![late.clone()])]).to_svg();
    let bar = bar(late);
    assert!(near(bar.width, 0.3 * LONG), "{bar:?}");
    let over = rects(&picture, "over");
    assert!(over.iter().any(|over| near(over.x, bar.end()) && near(over.width, 0.1 * LONG)));
}

#[test]
fn keys_of_a_killed_client_stand_on_and_those_of_others_do_not() {
    for (ended, stand) in [(Ended::Killed, 2), (Ended::Released, 0)] {
        let mut hold = hold("x", 2_000, 3_000);
        (hold.deadline, hold.ended) = (Some(ms(7_000)), ended);
        let keys = rects(&run(vec![client("a", vec![hold])]).to_svg(), "keys");
        assert_eq!(keys.len(), stand, "with the resource and with the client");
        assert!(keys.iter().all(|keys| near(keys.width, 0.4 * LONG)), "{keys:?}");
    }
}

#[test]
fn what_a_client_holds_at_a_time_stands_one_below_the_other() {
    let holds = vec![hold("x", 0, 4_000), hold("y", 1_000, 2_000), hold("z", 4_000, 5_000)];
    let bars = bars_of_clients(&run(vec![client("a", holds)]).to_svg());
    assert!(bars[0].y < bars[1].y, "{bars:?}");
    assert!(near(bars[0].y, bars[2].y), "the first row is free again: {bars:?}");
}

#[test]
fn a_resource_has_its_colour_with_every_client() {
    let first = client("a", vec![hold("x", 0, 1_000), hold("y", 1_000, 2_000)]);
    let other = client("b", vec![hold("y", 3_000, 4_000)]);
    let bars = bars_of_clients(&run(vec![first, other]).to_svg());
    assert_ne!(bars[0].class, bars[1].class);
    assert_eq!(bars[1].class, bars[2].class);
}

#[test]
fn texts_are_no_markup() {
    let wild = "<script>alert('\"&\u{1}')</script>";
    let mut run = broken();
    run.title = wild.to_owned();
    run.clients[0].name = wild.to_owned();
    run.clients[0].holds[0].resource = wild.to_owned();
    run.masters[0].name = wild.to_owned();
    run.faults.push(Fault { at: ms(1), label: wild.to_owned(), on: Some(wild.to_owned()) });
    run.violations.push(Violation { span: span(1, 2), label: wild.to_owned() });
    run.verdict = Verdict::Bad(wild.to_owned());
    run.footer.push(wild.to_owned());
    let page = run.to_html();
    assert!(!page.contains("<script") && !page.contains('\u{1}'));
    let safe = "&lt;script&gt;alert(&#39;&quot;&amp;\u{fffd}&#39;)&lt;/script&gt;";
    assert!(page.matches(safe).count() >= 8, "{}", page.matches(safe).count());
}

#[test]
fn the_page_needs_nothing_else() {
    let page = broken().to_html();
    let namespace = "http://www.w3.org/2000/svg";
    assert_eq!(page.matches("http").count(), page.matches(namespace).count());
    assert_eq!(page.matches("url(").count(), page.matches("url(#tl-").count());
    // Programs other than browsers draw the picture, too, and know no variables.
    for outside in ["<script", "src=", "@import", "<link rel=\"stylesheet", "var("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_verdict_comes_first_in_colour_and_word() {
    for (run, class, word) in [(eventful(), "good", "✓ Kept"), (broken(), "bad", "✗ Broken")] {
        let page = run.to_html();
        let verdict = format!("<div id=\"verdict\" class=\"{class}\"><strong>{word}</strong>");
        let (before, _) = page.split_once(&verdict).expect("the verdict");
        assert!(!before.contains("<svg"), "the picture is below it");
        assert_eq!(rects(&run.to_svg(), class).len(), 1, "the picture alone has it, too");
    }
}

#[test]
fn every_state_of_a_master_has_its_pattern_and_its_word() {
    let picture = eventful().to_svg();
    let words = [
        ("up", "up"),
        ("warming", "warming up"),
        ("slow", "slow"),
        ("stopped", "paused"),
        ("cut", "cut off"),
        ("down", "down"),
    ];
    for (class, word) in words {
        let bands = rects(&picture, class);
        let text = format!(": {word}, ");
        assert!(bands.iter().any(|band| band.title.contains(&text)), "{class}: {bands:?}");
        assert!(bands.iter().any(|band| band.title.is_empty()), "{class} is in the legend");
        assert!(height_of(&picture, word).is_some(), "{word} is to be read");
    }
}

#[test]
fn the_legend_has_the_states_that_occur() {
    let mut run = run(Vec::new());
    let states = vec![(span(0, 4_000), State::JustStarted), (span(4_000, 10_000), State::Up)];
    run.masters = vec![Master { name: "a master".into(), states }];
    let picture = run.to_svg();
    assert_eq!(rects(&picture, "warming").len(), 2, "the band, and the legend");
    assert!(picture.contains("a master: just started, 0.000 s to 4.000 s"), "{picture}");
    for other in ["warming up", "slow", "paused", "down"] {
        assert!(height_of(&picture, other).is_none(), "{other} is in the legend");
    }
}

#[test]
fn a_fault_is_marked_on_the_row_of_its_victim() {
    let mut run = run(vec![client("a", Vec::new()), client("b", Vec::new())]);
    run.faults = vec![Fault { at: ms(5_000), label: "killed".into(), on: Some("b".into()) }];
    let picture = run.to_svg();
    let marks: Vec<f64> = picture
        .split("<use class=\"fault\"")
        .skip(1)
        .filter(|mark| mark.contains("<title>5.000 s, killed: b</title>"))
        .map(|mark| mark.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    let (a, b) = (height_of(&picture, "a"), height_of(&picture, "b"));
    assert_eq!(marks.len(), 2, "above, and on the row");
    assert!(marks[1] > a.unwrap() && marks[1] < b.unwrap(), "{marks:?} {a:?} {b:?}");
}

#[test]
fn a_second_and_ten_minutes_have_an_axis_that_can_be_read() {
    let scales = [
        (20, "0.002 s"),
        (1_000, "0.1 s"),
        (10_000, "1 s"),
        (90_000, "10 s"),
        (180_000, "1:15"),
        (600_000, "10:00"),
        (7_200_000, "40:00"),
    ];
    for (millis, label) in scales {
        let mut run = run(Vec::new());
        run.span = span(0, millis);
        let picture = run.to_svg();
        let ticks = picture.matches("class=\"tick\"").count();
        assert!((5..=13).contains(&ticks), "{ticks} for {millis} ms");
        assert!(height_of(&picture, label).is_some(), "{label} for {millis} ms: {picture}");
    }
}

#[test]
fn thin_bars_become_one_that_says_how_many_it_is() {
    let thin = (0..1_000).map(|n| hold("x", 5_000 + n, 5_001 + n)).collect();
    let mixed = (0..20).map(|n| hold(["y", "z"][n as usize % 2], 8_000 + n, 8_001 + n)).collect();
    let picture = run(vec![client("a", thin), client("b", mixed)]).to_svg();
    let bars = bars_of_clients(&picture);
    assert!(bars.len() < 200, "{}", bars.len());
    assert_eq!(bars.iter().map(|bar| bar.holds).sum::<usize>(), 1_020);
    assert!(bars.iter().any(|bar| bar.class.contains("mixed") && bar.title.contains(" of y, ")));
    let several: Vec<_> = bars.iter().filter(|bar| bar.holds > 1).collect();
    let stand: usize = several.iter().map(|bar| bar.holds).sum();
    let text = format!("{} bars stand for {stand} holds, too thin to tell", several.len());
    assert!(height_of(&picture, &text).is_some(), "{text}");
}

#[test]
fn ten_thousand_holds_fit_into_two_megabytes_without_omissions() {
    let page = crowded(10_000).to_html();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for bars in [bars_of_clients(&page), bars_of_resources(&page)] {
        assert_eq!(bars.iter().map(|bar| bar.holds).sum::<usize>(), 10_000);
    }
    let more = crowded(60_000).to_html();
    assert!(more.len() < 2_000_000, "{} bytes", more.len());
}

#[test]
fn the_order_in_which_things_are_listed_is_not_seen() {
    let mut run = broken();
    let picture = run.to_html();
    run.clients.iter_mut().for_each(|client| client.holds.reverse());
    run.faults.reverse();
    assert!(run.to_html() == picture, "another order, another picture");
}

#[test]
fn a_run_in_which_nothing_happened_has_a_picture() {
    let mut run = run(Vec::new());
    run.span = Span::new(Duration::ZERO, Duration::ZERO);
    assert!(run.to_html().contains("0 holds"));
}

fn any_holds() -> impl Strategy<Value = Vec<Hold>> {
    let parts = (0..5_u8, 0..12_000_u64, 0..3_000_u64, 0..4_000_u64);
    let hold = parts.prop_map(|(kind, from, long, deadline)| {
        let mut hold = hold(["x", "y", "z"][usize::from(kind % 3)], from, from + long);
        hold.deadline = (kind > 1).then(|| ms(from + deadline));
        hold.ended = [Ended::Released, Ended::Lapsed, Ended::Lost, Ended::Killed, Ended::Open]
            [usize::from(kind)];
        hold
    });
    vec(hold, 1..60)
}

proptest! {
    #[test]
    fn no_hold_is_missing_and_none_is_outside_of_the_axis(holds in any_holds()) {
        let seen = holds.iter().filter(|hold| hold.span.from <= ms(10_000)).count();
        let picture = run(vec![client("a", holds)]).to_svg();
        for bars in [bars_of_clients(&picture), bars_of_resources(&picture)] {
            assert_eq!(bars.iter().map(|bar| bar.holds).sum::<usize>(), seen);
        }
        for class in ["hold", "over", "keys", "overlap"] {
            let drawn = rects(&picture, class).into_iter().filter(|rect| !rect.title.is_empty());
            for rect in drawn {
                let within = rect.x >= LEFT - 0.01 && rect.end() <= LEFT + LONG + 2.01;
                assert!(within && rect.width >= 0.0, "{rect:?}");
            }
        }
    }
}
