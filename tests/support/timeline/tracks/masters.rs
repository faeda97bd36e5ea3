//! A band for each master. A quiet line means that all is well.

use super::super::model::{Master, State};
use super::super::svg::Canvas;
use super::super::text::{length, width};

const HIGH: f64 = 13.0;

pub(in super::super) const STATES: [State; 7] = [
    State::Up,
    State::WarmingUp,
    State::JustStarted,
    State::Slow,
    State::Paused,
    State::Cut,
    State::Down,
];

/// Returns its class and its word.
pub(in super::super) fn named(state: State) -> (&'static str, &'static str) {
    match state {
        State::Up => ("up", "up"),
        State::WarmingUp => ("warming", "warming up"),
        State::JustStarted => ("warming", "just started"),
        State::Slow => ("slow", "slow"),
        State::Paused => ("stopped", "paused"),
        State::Cut => ("cut", "cut off"),
        State::Down => ("down", "down"),
    }
}

pub(in super::super) fn draw(canvas: &mut Canvas<'_>) {
    if canvas.timeline.masters.is_empty() {
        return;
    }
    canvas.heading("masters");
    for master in &canvas.timeline.masters {
        band(canvas, master);
    }
}

fn band(canvas: &mut Canvas<'_>, master: &Master) {
    canvas.separator();
    let top = canvas.y + 3.0;
    canvas.name(&master.name, top + HIGH / 2.0);
    for (span, state) in &master.states {
        let Some((from, to)) = canvas.scale.ends(*span) else { continue };
        let (class, word) = named(*state);
        let (start, end) = (canvas.when(span.from), canvas.when(span.to));
        let long = length(span.length());
        let title = format!("{}: {word}, {start} to {end} ({long})", master.name);
        let wide = (to - from).max(1.0);
        let (y, high) =
            if *state == State::Up { (top + HIGH / 2.0 - 1.5, 3.0) } else { (top, HIGH) };
        canvas.rect(&format!("state {class}"), (from, y), (wide, high), &title);
        if *state != State::Up && width(word, 9.0) + 8.0 <= wide {
            let plate = width(word, 9.0) + 4.0;
            canvas.rect("plate", (from + 2.0, top + 2.0), (plate, HIGH - 4.0), "");
            canvas.text("on-plate", (from + 4.0, top + HIGH - 3.5), word);
        }
    }
    super::faults::on_row(canvas, &master.name, top - 1.0);
    canvas.y = top + HIGH + 3.0;
}
