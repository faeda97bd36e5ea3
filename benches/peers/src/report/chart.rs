//! `results.svg`: most of the figures, as bars.

use super::captions::{self, Caption};
use super::panel::{Bar, Kind, Layout, Panel, arranged, rows};
use super::svg::{sheet, text};
use super::{Line, Summary, formatted, sweeps};

const TITLE: &str = "quorumlock next to other ways to lock";

const ABOUT: [&str; 3] = [
    "A bar is the median of the rounds, and the line at its end reaches from the lowest to the highest of them. \
     All share one machine with the masters: compare lengths, not absolute times.",
    "Dashed bars are bare sockets, which send the same commands and do nothing else: roughly what the kernel \
     and the masters allow. A bar with a gap is cut, because it would be far too long.",
    "The small print above the bars names the table and the column in results.md. \
     * marks a contender that other processes on the machine disturbed in some of its rounds.",
];

const COLUMNS: usize = 3;

const LAYOUT: Layout =
    Layout { width: 420.0, names: 222.0, longest: 140.0, bar: 20.0, letters: 50 };

pub(super) fn drawing(summaries: &[Summary]) -> String {
    let sweeps = sweeps::all(summaries);
    let groups = summaries.iter().chain(&sweeps).map(|summary| {
        let captions = captions::of(summary).into_iter();
        captions.filter_map(|caption| panel(summary, caption)).collect()
    });
    let mut body = text("heading", (14.0, 30.0), TITLE);
    for (line, words) in ABOUT.iter().enumerate() {
        body += &text("", (14.0, 52.0 + 17.0 * line as f64), words);
    }
    let (panels, end) = rows(&arranged(groups.collect(), COLUMNS), &LAYOUT, 96.0);
    let size = (COLUMNS as f64 * LAYOUT.width, end + 10.0);
    sheet(
        TITLE,
        "Bars for each way to lock; results.md has the same figures as tables.",
        size,
        &(body + &panels),
    )
}

fn panel(summary: &Summary, caption: &Caption) -> Option<Panel> {
    let at = summary.column(caption.metric)?;
    let bars = summary.lines.iter().map(|line| bar(line, at)).collect();
    let (title, whole) = (caption.title(summary), captions::whole(caption.metric));
    let mut hint = caption.hint(summary);
    if summary.lines.iter().any(Line::is_disturbed) {
        hint += ", * disturbed";
    }
    Some(Panel { title, hint, bars, whole })
}

fn bar(line: &Line, at: usize) -> Bar {
    let (name, kind, cell) = (line.name.clone(), Kind::of(&line.name), line.cells[at].as_ref());
    let label = match cell {
        Some(cell) if line.is_disturbed() => format!("{}*", formatted(cell.median)),
        Some(cell) => formatted(cell.median),
        None => line.without_figure(),
    };
    let (figure, range) =
        (cell.map(|cell| cell.median), cell.map(|cell| (cell.lowest, cell.highest)));
    Bar { name, kind, figure, range, label }
}
