//! Bars side by side, with a line for each contender.

use super::{Cell, Line, Summary, tell};

/// Contenders other than quorumlock.
const OTHERS: [&str; 5] = ["bare", "multiplexed", "rslock", "redlock", "redsync"];

pub(super) const WIDTH: f64 = 400.0;
/// Start of the bars, and length of the longest.
const BARS: (f64, f64) = (190.0, 140.0);
const BAR: f64 = 20.0;
const HEAD: f64 = 52.0;
/// Ratio of the longest to the shortest bar from which lengths are logarithmic.
const FAR: f64 = 30.0;
/// Below the bars: line height and length in letters of the text that explains them.
const SENTENCE: (f64, usize) = (14.0, 64);

/// Explanation of a picture: which direction is better, and what it shows.
pub(super) struct Caption {
    pub(super) hint: &'static str,
    pub(super) says: &'static str,
}

pub(super) fn height(summary: &Summary, caption: &Caption) -> f64 {
    let (line, letters) = SENTENCE;
    HEAD + summary.lines.len() as f64 * BAR
        + (wrapped(caption.says, letters).len() + 1) as f64 * line
}

pub(super) fn panel(summary: &Summary, metric: &str, caption: &Caption) -> String {
    let Caption { hint, says } = caption;
    let at = summary.metrics.iter().position(|one| *one == metric).unwrap_or(0);
    let whole = match metric {
        share if share.contains('%') => Some(100.0),
        "fewest/most" => Some(1.0),
        _ => None,
    };
    let scale = Scale::of(summary.lines.iter().filter_map(|line| line.cells[at].as_ref()), whole);
    let scaled = if scale.logarithmic { ", logarithmic" } else { "" };
    let marked = if summary.lines.iter().any(is_marked) { ", * disturbed" } else { "" };
    let about = escape(&summary.about);
    let mut text = format!(
        "<text class=\"title\" x=\"12\" y=\"18\">{}: {metric}<title>{about}</title></text>\n\
         <text class=\"hint\" x=\"12\" y=\"34\">{hint}{scaled}{marked}</text>\n",
        summary.name
    );
    for (place, line) in summary.lines.iter().enumerate() {
        text += &bar(line, at, &scale, HEAD - 8.0 + place as f64 * BAR);
    }
    let (height, letters) = SENTENCE;
    let below = HEAD + summary.lines.len() as f64 * BAR;
    for (place, words) in wrapped(says, letters).iter().enumerate() {
        let y = below + (place as f64 + 0.5) * height;
        text += &format!("<text class=\"says\" x=\"12\" y=\"{y:.0}\">{}</text>\n", escape(words));
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
         y2=\"{middle:.0}\"/>\n<text x=\"{:.1}\" y=\"{baseline:.0}\">{}{}</text>\n",
        BAR - 4.0,
        place(*median).max(to) + 6.0,
        tell(*median),
        if is_marked(line) { "*" } else { "" }
    )
}

/// Checks whether other processes disturbed some of its rounds.
fn is_marked(line: &Line) -> bool {
    line.notes.as_ref().is_some_and(|notes| notes.contains(super::DISTURBED))
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
        // The shortest bar must still be visible.
        Self { lowest: lowest / 2.0, highest: whole.unwrap_or(highest), logarithmic }
    }

    /// Returns the length as a share of the longest bar.
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

/// Wraps the text into lines of at most this many letters, where words allow it.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= letters => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
        assert!(wrapped("", 3).is_empty());
    }
}
