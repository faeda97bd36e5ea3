//! A lane for each client, with as many rows as locks that it held at a time.

use super::super::model::{Client, Hold};
use super::super::rows::{Bar, bars, stacked};
use super::super::svg::Canvas;
use super::super::text::length;
use super::bar::{self, Colours, HIGH};
use super::resources::colours;

const PITCH: f64 = HIGH + 2.0;

pub(in super::super) fn draw(canvas: &mut Canvas<'_>) {
    if canvas.timeline.clients.is_empty() {
        return;
    }
    let colours = colours(canvas);
    canvas.heading("clients");
    for client in &canvas.timeline.clients {
        lane(canvas, &colours, client);
    }
}

fn lane(canvas: &mut Canvas<'_>, colours: &Colours<'_>, client: &Client) {
    canvas.separator();
    let placed = stacked(&client.holds);
    let thinned: Vec<Bar<'_>> = bars(&placed, canvas.scale, canvas.thin);
    let rows = placed.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
    let top = canvas.y + 3.0;
    let y = |row: usize| top + PITCH * f64::from(u32::try_from(row).unwrap_or(u32::MAX));
    let end = y(rows);
    canvas.name(&client.name, (top + end) / 2.0 - 1.0);
    for bar in &thinned {
        let resource = |hold: &Hold| hold.resource.clone();
        if bar.holds.len() > 1 {
            canvas.merged.0 += 1;
            canvas.merged.1 += bar.holds.len();
        }
        bar::draw(canvas, colours, bar, y(bar.row), resource, |_| client.name.clone());
    }
    for (row, hold) in &placed {
        bar::overlapped(canvas, hold, y(*row));
    }
    for span in &client.paused {
        let Some((from, to)) = canvas.scale.ends(*span) else { continue };
        let title = format!("{} paused for {}", client.name, length(span.length()));
        canvas.rect("paused", (from, top - 2.0), ((to - from).max(1.0), end - top + 2.0), &title);
    }
    super::faults::on_row(canvas, &client.name, top - 2.0);
    canvas.y = end + 1.0;
}
