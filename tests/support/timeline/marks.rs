//! Marks across and below the tracks: violations, and the legend.

use super::model::{Ended, State};
use super::scale::WIDTH;
use super::svg::{Canvas, MOST_OVERLAPS};
use super::text::{count, shortened, width};
use super::tracks;
use super::tracks::masters::{STATES, named};

/// Limit on columns; more would hide what they are about.
const MOST_VIOLATIONS: usize = 200;
const SIZE: f64 = 10.0;

/// Draws a red column behind everything, as wide as the violation lasted, with a mark that says
/// what it is.
pub(super) fn violations(canvas: &mut Canvas<'_>, (top, end): (f64, f64)) {
    let violations = canvas.timeline.violations.iter().take(MOST_VIOLATIONS);
    for violation in violations {
        let Some((from, to)) = canvas.scale.ends(violation.span) else { continue };
        let title = format!("{}: {}", canvas.when(violation.span.from), violation.label);
        let (wide, middle) = ((to - from).max(1.5), f64::midpoint(from, to));
        canvas.rect("violation", (from, top), (wide, end - top), &title);
        canvas.mark("broken", (middle, top), &title);
    }
}

/// One entry: what is drawn for this class or mark, and its meaning.
enum Entry {
    Box(String, String),
    Mark(&'static str, String),
}

pub(super) fn legend(canvas: &mut Canvas<'_>) {
    canvas.y += 22.0;
    let mut entries = resources(canvas);
    if !entries.is_empty() {
        line(canvas, "resources", std::mem::take(&mut entries));
    }
    entries.extend(ends(canvas));
    if !entries.is_empty() {
        line(canvas, "a hold", std::mem::take(&mut entries));
    }
    entries.extend(states(canvas));
    if !entries.is_empty() {
        line(canvas, "a master", std::mem::take(&mut entries));
    }
    entries.push(Entry::Mark("fault", "a fault".to_owned()));
    let all = canvas.overlaps.len() < MOST_OVERLAPS;
    let text = if all {
        "two holders".to_owned()
    } else {
        format!("the first {MOST_OVERLAPS} times of two holders")
    };
    entries.push(Entry::Box("overlap".to_owned(), text));
    entries.push(Entry::Mark("broken", "a violation, found by the checker".to_owned()));
    line(canvas, "marks", entries);
}

fn resources(canvas: &Canvas<'_>) -> Vec<Entry> {
    const MOST: usize = 16;
    let colours = tracks::resources::colours(canvas);
    let left = colours.len().saturating_sub(MOST);
    let shown = colours.into_iter().take(MOST);
    let mut entries: Vec<Entry> = shown
        .map(|(name, number)| Entry::Box(tracks::colour(number), shortened(name, SIZE, 150.0)))
        .collect();
    if left > 0 {
        entries.push(Entry::Box("mixed".to_owned(), format!("and {left} more")));
    }
    entries
}

/// Lists only what occurs in this picture.
fn ends(canvas: &Canvas<'_>) -> Vec<Entry> {
    let holds = || canvas.timeline.clients.iter().flat_map(|client| &client.holds);
    let any = |ended| holds().any(|hold| hold.ended == ended);
    let mut entries = Vec::new();
    let marks = [
        (Ended::Lapsed, "lapsed", "lapsed: its deadline passed"),
        (Ended::Lost, "lost", "lost before its deadline"),
        (Ended::Killed, "killed", "its client was killed, its keys stand for a while"),
    ];
    for (ended, mark, text) in marks {
        if any(ended) {
            entries.push(Entry::Mark(mark, text.to_owned()));
        }
    }
    if holds().any(|hold| hold.valid().to < hold.span.to) {
        entries.push(Entry::Box("over mixed".to_owned(), "past its deadline".to_owned()));
    }
    if canvas.timeline.clients.iter().any(|client| !client.paused.is_empty()) {
        entries.push(Entry::Box("paused".to_owned(), "its client was paused".to_owned()));
    }
    let (bars, thin) = canvas.merged;
    if bars > 0 {
        let text = format!("{} stand for {thin} holds, too thin to tell", count(bars, "bar"));
        entries.push(Entry::Box("mixed".to_owned(), text));
    }
    entries
}

/// Lists only what occurs in this picture.
fn states(canvas: &Canvas<'_>) -> Vec<Entry> {
    let occurs = |state: &State| {
        let mut states = canvas.timeline.masters.iter().flat_map(|master| &master.states);
        states.any(|(_, seen)| seen == state)
    };
    let entry = |state| {
        let (class, word) = named(state);
        let class = if state == State::Up { "state up" } else { class };
        Entry::Box(class.to_owned(), word.to_owned())
    };
    STATES.into_iter().filter(occurs).map(entry).collect()
}

fn line(canvas: &mut Canvas<'_>, name: &str, entries: Vec<Entry>) {
    const LEFT: f64 = 100.0;
    let mut x = LEFT;
    canvas.text("note", (16.0, canvas.y), name);
    for entry in entries {
        let text = match &entry {
            Entry::Box(_, text) | Entry::Mark(_, text) => text.clone(),
        };
        let wide = 24.0 + width(&text, SIZE) + 14.0;
        if x + wide > WIDTH && x > LEFT {
            x = LEFT;
            canvas.y += 16.0;
        }
        match entry {
            Entry::Box(class, _) if class == "state up" => {
                canvas.rect(&class, (x, canvas.y - 5.0), (18.0, 3.0), "");
            }
            Entry::Box(class, _) => {
                canvas.rect(&format!("key {class}"), (x, canvas.y - 9.0), (18.0, 11.0), "");
            }
            // The middle of this mark is its tip.
            Entry::Mark("broken", _) => canvas.mark("broken", (x + 9.0, canvas.y + 1.0), ""),
            Entry::Mark(mark, _) => canvas.mark(mark, (x + 9.0, canvas.y - 4.0), ""),
        }
        canvas.text("key-text", (x + 23.0, canvas.y), &text);
        x += wide;
    }
    canvas.y += 18.0;
}
