//! The picture: its tracks one below the other, and the axis through all of them.

use super::model::{Timeline, Verdict};
use super::overlaps::{Overlap, overlaps};
use super::scale::{LEFT, RIGHT, Scale, WIDTH};
use super::text::{escaped, px, shortened, width};
use super::{marks, style, text, tracks};

/// Limit on bars; more would make a big file and show nothing more.
const MOST_BARS: usize = 5_000;
/// Limit on overlaps; the page has the number of all of them.
pub(super) const MOST_OVERLAPS: usize = 500;
/// Anything thinner gets no bar of its own, at first.
const THIN: f64 = 0.75;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Shown,
    /// The page has it.
    Left,
}

/// The canvas that the tracks draw on, from the top down.
#[derive(Debug)]
pub(super) struct Canvas<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) scale: Scale,
    /// The overlaps that are drawn.
    pub(super) overlaps: Vec<Overlap>,
    /// Number of bars that represent several holds, and number of these holds.
    pub(super) merged: (usize, usize),
    pub(super) thin: f64,
    /// Top of the next track.
    pub(super) y: f64,
    body: String,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let scale = Scale::new(timeline.span);
        let mut thin = THIN;
        while tracks::bars(timeline, scale, thin) > MOST_BARS && thin < WIDTH {
            thin *= 2.0;
        }
        let mut overlaps = overlaps(timeline);
        overlaps.truncate(MOST_OVERLAPS);
        Self { timeline, scale, overlaps, merged: (0, 0), thin, y: 0.0, body: String::new() }
    }

    pub(super) fn add(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    /// Draws a rectangle; `title` is its tooltip.
    pub(super) fn rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), title: &str) {
        let (x, y, wide, high) = (px(corner.0), px(corner.1), px(size.0), px(size.1));
        let head = format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" ");
        let size = format!("width=\"{wide}\" height=\"{high}\"");
        if title.is_empty() {
            self.add(&format!("{head}{size}/>"));
        } else {
            self.add(&format!("{head}{size}><title>{}</title></rect>", escaped(title)));
        }
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), text: &str) {
        let (x, y) = (px(at.0), px(at.1));
        self.add(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)));
    }

    /// Draws one of the marks of [`style::DEFINITIONS`], with its middle here.
    pub(super) fn mark(&mut self, name: &str, at: (f64, f64), title: &str) {
        let (x, y) = (px(at.0), px(at.1));
        let head = format!("<use class=\"{name}\" href=\"#tl-{name}\" x=\"{x}\" y=\"{y}\"");
        if title.is_empty() {
            self.add(&format!("{head}/>"));
        } else {
            self.add(&format!("{head}><title>{}</title></use>", escaped(title)));
        }
    }

    /// Writes the name of a row to the left of it, shortened to the available room.
    pub(super) fn name(&mut self, name: &str, middle: f64) {
        let short = shortened(name, 11.0, LEFT - 24.0);
        let (x, y) = (px(LEFT - 10.0), px(middle + 4.0));
        let whole = format!("<title>{}</title>", escaped(name));
        let title = if short == name { "" } else { &whole };
        self.add(&format!(
            "<text class=\"name\" x=\"{x}\" y=\"{y}\">{}{title}</text>",
            escaped(&short)
        ));
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.y += 20.0;
        self.text("heading", (16.0, self.y), text);
        self.y += 6.0;
    }

    pub(super) fn separator(&mut self) {
        self.rect("rule", (LEFT, self.y), (RIGHT - LEFT, 1.0), "");
        self.y += 1.0;
    }

    pub(super) fn when(&self, at: std::time::Duration) -> String {
        text::instant(at, self.scale.whole())
    }
}

pub(super) fn picture(timeline: &Timeline, header: Header) -> String {
    let mut canvas = Canvas::new(timeline);
    if header == Header::Shown {
        top(&mut canvas);
    }
    canvas.y += 24.0;
    let axis = canvas.y;
    tracks::faults::draw(&mut canvas);
    tracks::resources::draw(&mut canvas);
    tracks::clients::draw(&mut canvas);
    tracks::masters::draw(&mut canvas);
    let end = canvas.y + 8.0;
    canvas.y = end;
    let tracks = std::mem::take(&mut canvas.body);
    grid(&mut canvas, (axis, end));
    marks::violations(&mut canvas, (axis, end));
    canvas.add(&tracks);
    canvas.y = end;
    marks::legend(&mut canvas);
    let high = px(canvas.y + 12.0);
    let title = escaped(&timeline.title);
    format!(
        "<svg class=\"tl\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" \
         width=\"{wide}\" height=\"{high}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>{css}</style>\n{definitions}\n\
         <rect class=\"paper\" width=\"{wide}\" height=\"{high}\"/>\n{body}</svg>\n",
        wide = px(WIDTH),
        css = style::PICTURE,
        definitions = style::DEFINITIONS,
        body = canvas.body,
    )
}

/// Returns `Kept` or `Broken`, so that the verdict does not depend on the colour.
pub(super) fn verdict(verdict: &Verdict) -> (&'static str, &'static str, &str) {
    match verdict {
        Verdict::Good(text) => ("good", "Kept", text),
        Verdict::Bad(text) => ("bad", "Broken", text),
    }
}

fn top(canvas: &mut Canvas<'_>) {
    let (class, word, text) = verdict(&canvas.timeline.verdict);
    let wide = width(word, 13.0) + 44.0;
    canvas.text("title", (16.0, 30.0), &canvas.timeline.title);
    canvas.rect(&format!("verdict {class}"), (16.0, 42.0), (wide, 24.0), "");
    canvas.mark(if class == "good" { "check" } else { "cross" }, (32.0, 54.0), "");
    canvas.text("word", (46.0, 58.5), word);
    let room = WIDTH - wide - 48.0;
    canvas.text("text", (wide + 28.0, 58.5), &shortened(text, 13.0, room));
    canvas.y = 74.0;
}

fn grid(canvas: &mut Canvas<'_>, (top, end): (f64, f64)) {
    let mut free_from = 0.0;
    for (x, label) in canvas.scale.ticks() {
        canvas.rect("grid", (x - 0.5, top), (1.0, end - top), "");
        let half = width(&label, 11.0) / 2.0;
        if x - half >= free_from && x + half <= WIDTH {
            canvas.text("tick", (x, top - 6.0), &label);
            free_from = x + half + 8.0;
        }
    }
}
