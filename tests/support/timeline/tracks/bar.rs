//! A hold, or several that are too thin to tell apart, as drawn in a row.

use super::super::model::{Ended, Hold, Span};
use super::super::rows::Bar;
use super::super::scale::RIGHT;
use super::super::svg::Canvas;
use super::super::text::{count, length, px, width};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const HIGH: f64 = 11.0;
/// Number of colours.
const COLOURS: usize = 8;

/// The colour of each resource, in the order of their names.
pub(super) type Colours<'a> = BTreeMap<&'a str, usize>;

pub(in super::super) fn colour(index: usize) -> String {
    format!("r{}", index % COLOURS)
}

/// Draws it at this height, with `label` in it if there is room.
pub(super) fn draw(
    canvas: &mut Canvas<'_>,
    colours: &Colours<'_>,
    bar: &Bar<'_>,
    top: f64,
    label: impl Fn(&Hold) -> String,
    whose: impl Fn(&Hold) -> String,
) {
    let [hold] = bar.holds.as_slice() else {
        return many(canvas, colours, bar, top);
    };
    let colour = colour(colours.get(hold.resource.as_str()).copied().unwrap_or_default());
    let (from, to) = bar.x;
    let title = title(canvas, hold, &whose(hold));
    // The part past the deadline is hatched: it was held by a client that did not know.
    let lapsed = canvas.scale.x(hold.valid().to).clamp(from, to);
    if lapsed < to {
        canvas.rect(&format!("over {colour}"), (lapsed, top), (to - lapsed, HIGH), &title);
    }
    let keys = hold.deadline.filter(|_| hold.ended == Ended::Killed);
    if let Some(x) = keys.map(|expire| canvas.scale.x(expire)).filter(|x| *x > to) {
        let title = format!("{}: its keys stand until they expire", hold.resource);
        canvas.rect(&format!("keys {colour}"), (to, top + HIGH / 2.0), (x - to, 1.5), &title);
    }
    let wide = (lapsed - from).max(canvas.thin.min(1.0)).min(RIGHT - from + 1.0);
    canvas.rect(&format!("hold {colour}"), (from, top), (wide, HIGH), &title);
    let label = label(hold);
    if width(&label, 9.0) + 12.0 <= wide {
        canvas.text("in-bar", (from + 4.0, top + HIGH - 2.5), &label);
    }
    if to - from >= 4.0 {
        mark_of_the_end(canvas, hold, (to, top + HIGH / 2.0));
    }
}

fn mark_of_the_end(canvas: &mut Canvas<'_>, hold: &Hold, at: (f64, f64)) {
    let name = match hold.ended {
        Ended::Released | Ended::Open => return,
        Ended::Lapsed => "lapsed",
        Ended::Lost => "lost",
        Ended::Killed => "killed",
    };
    canvas.mark(name, at, "");
}

/// Draws several holds as one bar, in grey if they are of more than one resource.
fn many(canvas: &mut Canvas<'_>, colours: &Colours<'_>, bar: &Bar<'_>, top: f64) {
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for hold in &bar.holds {
        *of.entry(&hold.resource).or_default() += 1;
    }
    let colour = match of.keys().next() {
        Some(only) if of.len() == 1 => colour(colours.get(only).copied().unwrap_or_default()),
        _ => "mixed".to_owned(),
    };
    let total = bar.holds.len();
    let span = bar
        .holds
        .iter()
        .map(|hold| hold.span)
        .reduce(|all, span| Span::new(all.from.min(span.from), all.to.max(span.to)));
    let span = span.unwrap_or(Span::new(Duration::ZERO, Duration::ZERO));
    let each: Vec<String> = of.iter().map(|(name, times)| format!("{times} of {name}")).collect();
    let (from, to) = (canvas.when(span.from), canvas.when(span.to));
    let title = format!("{}, {from} to {to}: {}", count(total, "hold"), few(&each));
    let (wide, x) = ((bar.x.1 - bar.x.0).max(canvas.thin.min(1.0)), bar.x.0);
    canvas.add(&format!(
        "<rect class=\"hold {colour}\" data-n=\"{total}\" x=\"{}\" y=\"{}\" width=\"{}\" \
         height=\"{HIGH}\"><title>{}</title></rect>",
        px(x),
        px(top),
        px(wide),
        super::super::text::escaped(&title),
    ));
}

fn few(all: &[String]) -> String {
    const FEW: usize = 4;
    let shown = all.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > FEW { format!("{shown} and {} more", all.len() - FEW) } else { shown }
}

fn title(canvas: &Canvas<'_>, hold: &Hold, client: &str) -> String {
    let ended = match hold.ended {
        Ended::Released => "released",
        Ended::Lapsed => "lapsed",
        Ended::Lost => "lost",
        Ended::Killed => "its client was killed",
        Ended::Open => "held at the end of the run",
    };
    let (from, to) = (canvas.when(hold.span.from), canvas.when(hold.span.to));
    let mut text = format!("{}, {client}: {from} to {to} ", hold.resource);
    text.push_str(&format!("({}), {ended}", length(hold.span.length())));
    if let Some(token) = hold.fencing_token {
        text.push_str(&format!(", fencing token {token}"));
    }
    text
}

/// Marks the parts of it that another client held as well.
pub(super) fn overlapped(canvas: &mut Canvas<'_>, hold: &Hold, top: f64) {
    let theirs = canvas.overlaps.iter().filter(|overlap| overlap.resource == hold.resource);
    let common: Vec<_> = theirs
        .filter_map(|both| both.span.common(hold.valid()).map(|span| (span, both.clients.clone())))
        .collect();
    for (span, (client, other)) in common {
        let Some((from, to)) = canvas.scale.ends(span) else { continue };
        let wide = (to - from).max(2.0);
        let (resource, length) = (&hold.resource, length(span.length()));
        let title = format!("{resource} had two holders for {length}: {client} and {other}");
        canvas.rect("overlap", (from, top - 1.0), (wide, HIGH + 2.0), &title);
    }
}
