//! A row for each resource, in which the bars follow each other.

use super::super::model::Hold;
use super::super::overlaps::by_resource;
use super::super::rows::{Bar, bars};
use super::super::svg::Canvas;
use super::bar::{self, Colours, HIGH};

/// Most rows. Resources that had two holders at a time come first.
pub(in super::super) const MOST: usize = 24;

/// Returns every resource with the number of its colour.
pub(in super::super) fn colours<'a>(canvas: &Canvas<'a>) -> Colours<'a> {
    by_resource(canvas.timeline).into_keys().enumerate().map(|(n, name)| (name, n)).collect()
}

pub(in super::super) fn draw(canvas: &mut Canvas<'_>) {
    let colours = colours(canvas);
    let mut rows: Vec<_> = by_resource(canvas.timeline).into_iter().collect();
    let total = rows.len();
    let sound = |name: &str| canvas.overlaps.iter().all(|overlap| overlap.resource != name);
    rows.sort_by_key(|(name, _)| sound(name));
    rows.truncate(MOST);
    rows.sort_by_key(|(name, _)| *name);
    if rows.is_empty() {
        return;
    }
    canvas.heading("resources");
    for (name, holds) in rows {
        row(canvas, &colours, name, &holds);
    }
    if total > MOST {
        canvas.y += 12.0;
        let left = format!("and {} more, below by client", total - MOST);
        canvas.text("note", (super::super::scale::LEFT, canvas.y), &left);
    }
}

fn row(canvas: &mut Canvas<'_>, colours: &Colours<'_>, name: &str, holds: &[(&str, &Hold)]) {
    canvas.separator();
    let top = canvas.y + 3.0;
    canvas.name(name, top + HIGH / 2.0);
    let client = |hold: &Hold| {
        let found = holds.iter().find(|(_, other)| std::ptr::eq(*other, hold));
        found.map(|(client, _)| (*client).to_owned()).unwrap_or_default()
    };
    let mut placed: Vec<(usize, &Hold)> = holds.iter().map(|(_, hold)| (0, *hold)).collect();
    placed.sort_by_key(|(_, hold)| hold.span);
    let thinned: Vec<Bar<'_>> = bars(&placed, canvas.scale, canvas.thin);
    for bar in &thinned {
        bar::draw(canvas, colours, bar, top, client, client);
    }
    for (_, hold) in &placed {
        bar::overlapped(canvas, hold, top);
    }
    canvas.y = top + HIGH + 3.0;
}
