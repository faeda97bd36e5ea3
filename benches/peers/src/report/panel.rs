//! Bars below each other, one for each contender, with a title above them. Their lengths are in
//! proportion to the figures; one that would be far too long is cut.

use super::svg::{text, wrapped};

/// Contenders other than quorumlock and its floors.
const OTHERS: [&str; 4] = ["multiplexed", "rslock", "redlock", "redsync"];

/// A bar is cut if it would be this many times as long as the longest of quorumlock.
const FAR: f64 = 15.0;
/// If one is cut: share of the room for those that are not, and how many times as long as the
/// longest of quorumlock this is at least.
const BESIDE_CUT: (f64, f64) = (0.8, 4.0);
/// Where the gap in a cut bar is, as a share of its length.
const GAP: f64 = 0.9;

const MARGIN: f64 = 14.0;
/// Heights of a line of a title, and of the space around both the title and the bars.
const TITLE: f64 = 17.0;
const SPACE: f64 = 14.0;

/// Measures of a panel in pixels, and of its text in letters.
pub(super) struct Layout {
    pub(super) width: f64,
    /// Names end here, and bars begin.
    pub(super) names: f64,
    pub(super) longest: f64,
    /// Height of a bar, with the space around it.
    pub(super) bar: f64,
    /// Most letters in a line of the title.
    pub(super) letters: usize,
}

pub(super) struct Panel {
    /// What the bars show, as a sentence.
    pub(super) title: String,
    /// In small letters below it: how to read it, and where the figures are.
    pub(super) hint: String,
    pub(super) bars: Vec<Bar>,
    /// The figure of a bar that fills the room, if that is not the longest.
    pub(super) whole: Option<f64>,
}

pub(super) struct Bar {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Infinite if the contender hangs; `None` if it has never produced one.
    pub(super) figure: Option<f64>,
    /// Lowest and highest of the rounds.
    pub(super) range: Option<(f64, f64)>,
    /// Text behind the bar.
    pub(super) label: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Own,
    Other,
    Floor,
}

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            name if name.starts_with("bare") => Self::Floor,
            name if OTHERS.iter().any(|other| name.starts_with(other)) => Self::Other,
            _ => Self::Own,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Other => "other",
            Self::Floor => "floor",
        }
    }
}

/// Fills rows from left to right. Panels that belong together share a row if they fit.
pub(super) fn arranged(groups: Vec<Vec<Panel>>, columns: usize) -> Vec<Vec<Panel>> {
    let mut rows: Vec<Vec<Panel>> = Vec::new();
    for mut group in groups {
        while !group.is_empty() {
            let rest = group.split_off(group.len().min(columns));
            match rows.last_mut() {
                Some(row) if row.len() + group.len() <= columns => row.append(&mut group),
                _ => rows.push(group),
            }
            group = rest;
        }
    }
    rows
}

/// Draws rows of panels from here down. Returns them and where they end.
pub(super) fn rows(rows: &[Vec<Panel>], layout: &Layout, mut top: f64) -> (String, f64) {
    let mut body = String::new();
    for row in rows {
        let lines = row.iter().map(|panel| panel.title(layout).len()).max().unwrap_or(0);
        let bars = row.iter().map(|panel| panel.bars.len()).max().unwrap_or(0);
        for (column, panel) in row.iter().enumerate() {
            let x = column as f64 * layout.width;
            body += &format!("<g transform=\"translate({x} {top})\">\n");
            body += &panel.draw(layout, lines);
            body += "</g>\n";
        }
        top += head(lines) + bars as f64 * layout.bar + SPACE;
    }
    (body, top)
}

/// Returns the height above the bars if the title has this many lines.
fn head(lines: usize) -> f64 {
    SPACE + (lines + 1) as f64 * TITLE + SPACE / 2.0
}

impl Panel {
    fn title(&self, layout: &Layout) -> Vec<String> {
        wrapped(&self.title, layout.letters)
    }

    /// Draws it below a title that has room for this many lines.
    fn draw(&self, layout: &Layout, lines: usize) -> String {
        let title = self.title(layout);
        let baseline = |line: usize| SPACE + (line as f64 + 0.8) * TITLE;
        let mut drawn = String::new();
        for (line, words) in title.iter().enumerate() {
            drawn += &text("title", (MARGIN, baseline(line)), words);
        }
        drawn += &text("hint", (MARGIN, baseline(title.len())), &self.hint);
        let scale = Scale::of(self);
        for (place, bar) in self.bars.iter().enumerate() {
            drawn += &bar.draw(layout, &scale, head(lines) + place as f64 * layout.bar);
        }
        drawn
    }

    /// Checks whether some bar is longer than it is drawn.
    pub(super) fn is_cut(&self) -> bool {
        Scale::of(self).is_cut
    }
}

impl Bar {
    fn draw(&self, layout: &Layout, scale: &Scale, top: f64) -> String {
        let Layout { names: left, longest, .. } = *layout;
        let (middle, high) = (top + layout.bar / 2.0, layout.bar - 5.0);
        let baseline = middle + 4.0;
        let mut drawn = text("name", (left - 8.0, baseline), &self.name);
        let Some(figure) = self.figure else {
            return drawn + &text("hint", (left, baseline), &self.label);
        };
        let place = |figure: f64| left + longest * scale.share(figure);
        let (class, wide) = match figure.is_infinite() {
            true => ("hangs", longest),
            false => (self.kind.class(), (place(figure) - left).max(1.0)),
        };
        let upper = middle - high / 2.0;
        drawn += &format!(
            "<rect class=\"{class}\" x=\"{left}\" y=\"{upper:.1}\" width=\"{wide:.1}\" \
             height=\"{high}\"/>\n"
        );
        let mut end = left + wide;
        if scale.cuts(figure) {
            let (x, lower) = (left + GAP * wide, upper + high);
            drawn += &format!(
                "<path class=\"gap\" d=\"M{:.1} {lower:.1}L{:.1} {upper:.1}\"/>\n",
                x - 3.0,
                x + 3.0
            );
        } else if let Some((lowest, highest)) = self.range {
            let (from, to) = (place(lowest), place(highest));
            drawn += &format!(
                "<line class=\"range\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" \
                 y2=\"{middle:.1}\"/>\n"
            );
            end = end.max(to);
        }
        drawn + &text("figure", (end + 6.0, baseline), &self.label)
    }
}

struct Scale {
    /// The figure whose bar fills the room, and the share of it that bars which are not cut have.
    full: f64,
    room: f64,
    /// The largest figure whose bar is not cut.
    limit: f64,
    is_cut: bool,
}

impl Scale {
    fn of(panel: &Panel) -> Self {
        let largest = |figures: &[f64]| figures.iter().copied().fold(0.0, f64::max);
        let own = panel.bars.iter().filter(|bar| bar.kind == Kind::Own);
        let own: Vec<f64> =
            own.filter_map(|bar| bar.figure).filter(|figure| figure.is_finite()).collect();
        let own = largest(&own);
        let limit = if own > 0.0 { FAR * own } else { f64::MAX };
        let is_cut = panel.bars.iter().any(|bar| bar.figure.is_some_and(|figure| figure > limit));
        let uncut = panel.bars.iter().flat_map(|bar| [bar.figure, bar.range.map(|range| range.1)]);
        let uncut: Vec<f64> = uncut.flatten().filter(|figure| *figure <= limit).collect();
        let longest = largest(&uncut).max(f64::MIN_POSITIVE);
        let (full, room) = match (panel.whole, is_cut) {
            (Some(whole), _) => (whole, 1.0),
            (None, true) => (longest.max(BESIDE_CUT.1 * own), BESIDE_CUT.0),
            (None, false) => (longest, 1.0),
        };
        Self { full, room, limit, is_cut }
    }

    fn cuts(&self, figure: f64) -> bool {
        figure > self.limit
    }

    /// Returns the length as a share of the longest bar.
    fn share(&self, figure: f64) -> f64 {
        if self.cuts(figure) { 1.0 } else { (self.room * figure / self.full).clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(figures: &[(&str, f64)]) -> Panel {
        let bar = |&(name, figure): &(&str, f64)| Bar {
            name: name.to_owned(),
            kind: Kind::of(name),
            figure: Some(figure),
            range: None,
            label: figure.to_string(),
        };
        let bars = figures.iter().map(bar).collect();
        Panel { title: "One two three".into(), hint: "less".into(), bars, whole: None }
    }

    #[test]
    fn lengths_are_in_proportion_and_what_is_far_longer_is_cut() {
        let near = panel(&[("quorumlock", 10.0), ("rslock", 40.0), ("bare sockets", 5.0)]);
        let scale = Scale::of(&near);
        assert!(!near.is_cut());
        assert_eq!([40.0, 10.0, 5.0].map(|bar| scale.share(bar)), [1.0, 0.25, 0.125]);
        let far = panel(&[("quorumlock", 10.0), ("rslock", 1000.0), ("redlock", f64::INFINITY)]);
        let scale = Scale::of(&far);
        assert!(far.is_cut() && scale.cuts(1000.0) && scale.cuts(f64::INFINITY));
        assert_eq!([10.0, 1000.0, f64::INFINITY].map(|bar| scale.share(bar)), [0.2, 1.0, 1.0]);
    }

    #[test]
    fn a_cut_bar_has_a_gap_and_its_figure() {
        let layout = Layout { width: 400.0, names: 100.0, longest: 200.0, bar: 20.0, letters: 8 };
        let row = vec![panel(&[("quorumlock", 10.0), ("rslock", 1000.0)])];
        let (drawn, end) = rows(&[row], &layout, 0.0);
        assert_eq!(drawn.matches("class=\"gap\"").count(), 1);
        assert!(drawn.contains(">1000</text>"), "{drawn}");
        assert_eq!(drawn.matches("class=\"title\"").count(), 2);
        assert_eq!(end, head(2) + 2.0 * layout.bar + SPACE);
    }
}
