//! Faults and the clients and masters they affected. Each has a mark here and on the affected row,
//! and its text where there is room.

use super::super::model::Fault;
use super::super::scale::WIDTH;
use super::super::svg::Canvas;
use super::super::text::width;

/// Number of text lines, one below the other.
const LINES: usize = 4;
const LINE: f64 = 12.0;
const SIZE: f64 = 10.0;

pub(in super::super) fn draw(canvas: &mut Canvas<'_>) {
    let faults = seen(canvas);
    if faults.is_empty() {
        return;
    }
    canvas.y += 4.0;
    let top = canvas.y;
    canvas.name("faults", top + 8.0);
    let mut free_from = [0.0_f64; LINES];
    let mut unlabelled = Vec::new();
    for fault in faults {
        let x = canvas.scale.x(fault.at);
        let text = caption(fault);
        let end = x + 8.0 + width(&text, SIZE);
        let free = free_from.iter().position(|free| *free <= x - 6.0);
        let Some(line) = free.filter(|_| end <= WIDTH) else {
            unlabelled.push(fault);
            continue;
        };
        let y = top + LINE * lines(line);
        canvas.mark("fault", (x, y + 7.0), &title(canvas, fault));
        canvas.text("fault-text", (x + 7.0, y + 10.5), &text);
        free_from[line] = end;
    }
    let used = free_from.iter().rposition(|free| *free > 0.0).map_or(0, |last| last + 1);
    canvas.y = top + LINE * lines(used);
    if !unlabelled.is_empty() {
        let middle = canvas.y + 7.0;
        for fault in &unlabelled {
            canvas.mark("fault", (canvas.scale.x(fault.at), middle), &title(canvas, fault));
        }
        canvas.name(&format!("{} more", unlabelled.len()), middle);
        canvas.y += LINE;
    }
    canvas.y += 4.0;
}

/// Returns those within the time of the picture, in order.
fn seen<'a>(canvas: &Canvas<'a>) -> Vec<&'a Fault> {
    let mut faults: Vec<&Fault> = canvas.timeline.faults.iter().collect();
    faults.retain(|fault| canvas.scale.shows(fault.at));
    faults.sort_by_key(|fault| (fault.at, &fault.label, &fault.on));
    faults
}

fn lines(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or_default())
}

fn caption(fault: &Fault) -> String {
    match &fault.on {
        Some(on) => format!("{}: {on}", fault.label),
        None => fault.label.clone(),
    }
}

fn title(canvas: &Canvas<'_>, fault: &Fault) -> String {
    format!("{}, {}", canvas.when(fault.at), caption(fault))
}

/// Draws the marks of the faults of this client or master, at the upper edge of its row.
pub(super) fn on_row(canvas: &mut Canvas<'_>, name: &str, top: f64) {
    for fault in seen(canvas).into_iter().filter(|fault| fault.on.as_deref() == Some(name)) {
        let x = canvas.scale.x(fault.at);
        canvas.mark("fault", (x, top), &title(canvas, fault));
    }
}
