//! The window of open rounds: how it follows the delay of the answers.

use crate::pace::Window;
use crate::quorum::Instant;
use crate::quorum::tests::{at, ms};
use std::time::Duration;

const TIMEOUT: Duration = ms(200);

/// Begins rounds until there is no more room.
fn fill(window: &mut Window) {
    while window.has_room() {
        window.begin();
    }
}

/// Lets all rounds of a full window be answered after `took`, from `now` on, and others begin in their place.
fn trip(window: &mut Window, now: &mut Instant, took: Duration) {
    fill(window);
    let (started, open) = (*now, window.open);
    *now = now.after(took);
    for _ in 0..open {
        window.answered(*now, started, TIMEOUT);
        window.end();
    }
}

/// Plays masters that answer after 1 ms, and so many rounds in a millisecond, once one round was open alone.
fn settled(per_ms: usize) -> usize {
    let (mut window, mut now) = (Window::new(at(0)), at(0));
    window.answered(at(1), at(0), TIMEOUT);
    for _ in 0..200 {
        fill(&mut window);
        let took = ms(1) + ms(1) * u32::try_from(window.open / per_ms).unwrap();
        trip(&mut window, &mut now, took);
    }
    window.limit
}

#[test]
fn a_window_settles_where_rounds_wait_for_an_eighth_of_their_timeout_at_most() {
    for per_ms in [2, 4, 20, 100, 1_000] {
        let waits = settled(per_ms) / per_ms;
        assert!((10..=25).contains(&waits), "{per_ms} in a millisecond: {waits} ms");
    }
}

#[test]
fn a_full_window_widens_while_answers_are_early_and_another_does_not() {
    let (mut window, mut now) = (Window::new(at(0)), at(0));
    let first = window.limit;
    trip(&mut window, &mut now, ms(150));
    assert!((first * 5 / 4..=first * 2).contains(&window.limit), "{window:?}");
    let limit = window.limit;
    for _ in 0..1_000 {
        window.begin();
        now = now.after(ms(150));
        window.answered(now, now, TIMEOUT);
        window.end();
    }
    assert_eq!(window.limit, limit, "it is not in use");
}

#[test]
fn rounds_that_were_open_together_narrow_a_window_once() {
    let mut window = Window::new(at(0));
    let first = window.limit;
    (0..100).for_each(|_| window.unanswered(at(200), at(0)));
    assert_eq!(window.limit, first / 2);
    window.unanswered(at(300), at(199));
    assert_eq!(window.limit, first / 2, "it began before the cut");
    window.unanswered(at(400), at(200));
    assert_eq!(window.limit, first / 4);
}

#[test]
fn a_decrease_is_in_proportion_and_never_below_the_half() {
    for (took, kept) in [(26, 512), (27, 497), (40, 364), (60, 275), (90, 256), (199, 256)] {
        let mut window = Window::new(at(0));
        window.answered(at(1), at(0), TIMEOUT);
        window.answered(at(1 + took), at(1), TIMEOUT);
        assert!(window.limit.abs_diff(kept) < 16, "{took} ms: {} of 512", window.limit);
    }
}

#[test]
fn a_window_is_never_closed() {
    let (mut window, mut now) = (Window::new(at(0)), at(0));
    for _ in 0..100 {
        window.unanswered(now.after(TIMEOUT), now);
        now = now.after(TIMEOUT);
    }
    assert!(window.has_room() && window.limit == 32, "{window:?}");
    fill(&mut window);
    assert_eq!(window.open, 32, "no round begins beyond the limit");
    (0..32).for_each(|_| _ = window.end());
    trip(&mut window, &mut now, ms(1));
    assert!(window.limit > 32);
}

#[test]
fn masters_that_are_farther_away_than_before_have_a_wide_window_again() {
    let (mut window, mut now) = (Window::new(at(0)), at(0));
    (0..4).for_each(|_| trip(&mut window, &mut now, ms(1)));
    let wide = window.limit;
    assert!(wide > 1_000);
    (0..40).for_each(|_| trip(&mut window, &mut now, ms(100)));
    assert!(window.limit > wide, "{window:?}");
}

#[test]
fn each_end_says_whether_a_round_was_open() {
    let mut window = Window::new(at(0));
    window.begin();
    assert!(window.end() && !window.end());
    assert_eq!(window.open, 0);
}

#[test]
fn an_answer_in_time_ends_a_silence() {
    let mut window = Window::new(at(0));
    assert!(!window.is_unanswered);
    window.unanswered(at(200), at(0));
    assert!(window.is_unanswered);
    window.answered(at(300), at(299), TIMEOUT);
    assert!(!window.is_unanswered);
}

#[test]
fn a_round_waits_a_trip_for_each_full_window_ahead() {
    let mut window = Window::new(at(0));
    assert_eq!(window.wait_behind(5_000), None, "before an answer");
    window.answered(at(10), at(0), TIMEOUT);
    let limit = window.limit;
    let waits = [0, limit - 1, limit, 2 * limit].map(|ahead| window.wait_behind(ahead));
    assert_eq!(waits, [0, 0, 10, 20].map(|millis| Some(ms(millis))));
}

#[test]
fn rounds_may_wait_for_an_eighth_of_what_the_least_delay_leaves() {
    let mut window = Window::new(at(0));
    assert_eq!(window.allowance(TIMEOUT), ms(25), "before an answer");
    for (took, allowed) in [(40, 20), (80, 20), (20, 22), (0, 25)] {
        window.answered(at(100 + took), at(100), TIMEOUT);
        assert_eq!(window.allowance(TIMEOUT).as_millis(), allowed, "after {took} ms");
    }
}

#[test]
fn a_delay_is_the_least_for_two_periods_at_most() {
    const PERIOD: u64 = 300_000;
    let mut window = Window::new(at(0));
    window.answered(at(10), at(0), TIMEOUT);
    let periods = [PERIOD - 1, PERIOD, 2 * PERIOD - 1, 2 * PERIOD].map(|now| {
        window.answered(at(now), at(now - 20), TIMEOUT);
        window.allowance(ms(180))
    });
    // An eighth of what 10 ms leave of the timeout, and of what 20 ms leave.
    assert_eq!(periods, [21_250, 21_250, 21_250, 20_000].map(Duration::from_micros));
}

#[test]
fn an_answer_that_is_as_late_as_allowed_narrows_nothing() {
    let timeout = ms(208);
    let mut window = Window::new(at(0));
    window.answered(at(8), at(0), timeout);
    window.answered(at(41), at(8), timeout);
    // A cut counts for all that began before it.
    window.unanswered(at(200), at(40));
    assert_eq!(window.limit, 256);
}

#[test]
fn a_window_that_is_half_in_use_stays() {
    for (open, limit) in [(256, 512), (257, 513)] {
        let mut window = Window::new(at(0));
        (0..open).for_each(|_| window.begin());
        window.answered(at(1), at(0), TIMEOUT);
        assert_eq!(window.limit, limit, "{open} of 512 are open");
    }
}

#[test]
fn a_delay_is_forgotten_once_few_rounds_have_been_late_for_four_timeouts() {
    let mut window = Window::new(at(0));
    window.answered(at(1), at(0), TIMEOUT);
    for now in [10, 20, 30, 40] {
        window.unanswered(at(now), at(now - 10));
    }
    assert_eq!(window.limit, 32);
    for (started, allowed) in [(40, 24_875), (839, 24_875), (840, 12_500)] {
        window.answered(at(started + 100), at(started), TIMEOUT);
        assert_eq!(window.allowance(TIMEOUT), Duration::from_micros(allowed), "from {started} ms");
    }
}
