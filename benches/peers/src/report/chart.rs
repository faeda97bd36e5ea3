//! Bars, side by side for each workload.

use super::{Cell, Line, Summary, tell};

/// Which metric of which workload (of all whose name begins so), and how to read it.
const DRAWN: [(&str, &str, &str); 11] = [
    ("W1", "acquire p50 us", "less is better"),
    ("W2", "cycles/s", "more is better"),
    ("W7", "acquire p50 us", "less is better"),
    ("W3", "stopped/healthy", "1 is best"),
    ("W4", "killed, won %", "more is better"),
    ("W6", "failure after ms", "less is better"),
    ("W8", "bytes/lock", "less is better"),
    ("W8", "bytes/waiter", "less is better"),
    ("W5", "of ideal %", "more is better"),
    ("W5", "fewest/most", "1 is best"),
    ("W5", "commands/section", "less is better"),
];

/// Whoever is not quorumlock.
const OTHERS: [&str; 5] = ["bare", "multiplexed", "rslock", "redlock", "redsync"];

const COLUMNS: usize = 3;
const WIDTH: f64 = 400.0;
/// Where bars begin, and how long the longest is.
const BARS: (f64, f64) = (160.0, 170.0);
const BAR: f64 = 20.0;
const HEAD: f64 = 52.0;
/// From so many times the shortest on, lengths are logarithms.
const FAR: f64 = 30.0;

const STYLE: &str = "text { font: 12px sans-serif; fill: #24292f } \
                     .name { text-anchor: end; font-size: 11px } \
                     .title { font-weight: bold } .hint { fill: #6e7781; font-size: 11px } \
                     .own { fill: #2f6fb5 } .other { fill: #b4bcc6 } .hangs { fill: #e3b5ae } \
                     .range { stroke: #24292f; stroke-width: 1.5 }";

pub(super) fn drawing(summaries: &[Summary]) -> String {
    let (mut body, mut top, mut column, mut tallest) = (String::new(), 10.0, 0, 0.0_f64);
    for summary in summaries {
        let of_it = |(workload, metric, _): &&(&str, &str, &str)| {
            summary.name.starts_with(workload) && summary.metrics.contains(metric)
        };
        let drawn: Vec<_> = DRAWN.iter().filter(of_it).collect();
        for (place, (_, metric, hint)) in drawn.iter().enumerate() {
            let whole_does_not_fit = place == 0 && column + drawn.len() > COLUMNS;
            if column == COLUMNS || whole_does_not_fit {
                (top, column, tallest) = (top + tallest, 0, 0.0);
            }
            let (x, height) = (column as f64 * WIDTH, HEAD + summary.lines.len() as f64 * BAR);
            body += &format!("<g transform=\"translate({x} {top})\">\n");
            body += &panel(summary, metric, hint);
            body += "</g>\n";
            (column, tallest) = (column + 1, tallest.max(height));
        }
    }
    let (width, height) = (COLUMNS as f64 * WIDTH, top + tallest);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

fn panel(summary: &Summary, metric: &str, hint: &str) -> String {
    let at = summary.metrics.iter().position(|one| *one == metric).unwrap_or(0);
    let whole = match metric {
        share if share.contains('%') => Some(100.0),
        "fewest/most" => Some(1.0),
        _ => None,
    };
    let scale = Scale::of(summary.lines.iter().filter_map(|line| line.cells[at].as_ref()), whole);
    let scaled = if scale.logarithmic { ", logarithmic" } else { "" };
    let about = escape(&summary.about);
    let mut text = format!(
        "<text class=\"title\" x=\"12\" y=\"18\">{}: {metric}<title>{about}</title></text>\n\
         <text class=\"hint\" x=\"12\" y=\"34\">{hint}{scaled}</text>\n",
        summary.name
    );
    for (place, line) in summary.lines.iter().enumerate() {
        text += &bar(line, at, &scale, HEAD - 8.0 + place as f64 * BAR);
    }
    text
}

fn bar(line: &Line, at: usize, scale: &Scale, y: f64) -> String {
    let (left, longest) = BARS;
    let middle = y + BAR / 2.0 - 2.0;
    let baseline = middle + 4.0;
    let name = format!(
        "<text class=\"name\" x=\"{}\" y=\"{baseline:.0}\">{}</text>\n",
        left - 8.0,
        line.name
    );
    let Some(Cell { median, lowest, highest, .. }) = &line.cells[at] else {
        let why = line.notes.as_deref().map_or("-".to_owned(), escape);
        return format!(
            "{name}<text class=\"hint\" x=\"{left}\" y=\"{baseline:.0}\">{why}</text>\n"
        );
    };
    let class = match line.name.as_str() {
        _ if median.is_infinite() => "hangs",
        name if OTHERS.iter().any(|other| name.starts_with(other)) => "other",
        _ => "own",
    };
    let place = |figure: f64| left + longest * scale.share(figure);
    let (from, to) = (place(*lowest), place(*highest));
    let width = (place(*median) - left).max(1.0);
    format!(
        "{name}<rect class=\"{class}\" x=\"{left}\" y=\"{y:.0}\" width=\"{width:.1}\" \
         height=\"{}\"/>\n<line class=\"range\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.0}\" \
         y2=\"{middle:.0}\"/>\n<text x=\"{:.1}\" y=\"{baseline:.0}\">{}</text>\n",
        BAR - 4.0,
        place(*median).max(to) + 6.0,
        tell(*median)
    )
}

struct Scale {
    lowest: f64,
    highest: f64,
    logarithmic: bool,
}

impl Scale {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>, whole: Option<f64>) -> Self {
        let figures = cells.flat_map(|cell| [cell.lowest, cell.median, cell.highest]);
        let figures: Vec<_> = figures.filter(|one| one.is_finite() && *one > 0.0).collect();
        let lowest = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = figures.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let logarithmic = whole.is_none() && highest / lowest > FAR;
        // The shortest bar is still to be seen.
        Self { lowest: lowest / 2.0, highest: whole.unwrap_or(highest), logarithmic }
    }

    /// Of the longest bar.
    fn share(&self, figure: f64) -> f64 {
        let share = if self.logarithmic {
            (figure / self.lowest).ln() / (self.highest / self.lowest).ln()
        } else {
            figure / self.highest
        };
        share.clamp(0.0, 1.0)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
