//! One table for each workload.

use super::{Cell, Line, Summary, formatted, ratios};

const HEAD: &str = "# quorumlock next to other ways to lock

`make bench` writes this file, and draws most of it as bars: [results.svg](results.svg).

The redis-servers share one machine with the clients, so compare ratios, not absolute times. All
contenders take turns in every round, in an order that changes, and each floor has its turn next to the
contenders that are compared with it. A cell is the median of the rounds, with the lowest and the highest
in brackets, and then the ratio to the first line of the table: the median of the rounds' ratios. Every
crate runs with its defaults; where one attempt is measured, it is a single try. CPU us/cycle is what the
client spends, masters' CPU us/cycle what all masters spend together.
";

pub(super) fn text(summaries: &[Summary], how: &str) -> String {
    let mut text = format!("{HEAD}\n{how}\n{}", ratios::table(summaries));
    for summary in summaries {
        text += &format!("\n## {}\n\n{}.\n\n", summary.name, sentence(&summary.about));
        text += &format!("| | {} |\n", summary.metrics.join(" | "));
        text += &format!("|---{}|\n", "|--:".repeat(summary.metrics.len()));
        for line in &summary.lines {
            text += &row(line);
        }
    }
    text
}

fn row(line: &Line) -> String {
    let notes = line.notes.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let cells: Vec<_> =
        line.cells.iter().map(|entry| entry.as_ref().map_or("-".into(), cell)).collect();
    format!("| {}{notes} | {} |\n", line.name, cells.join(" | "))
}

fn cell(cell: &Cell) -> String {
    let Cell { median, lowest, highest, ratios } = cell;
    if lowest.is_infinite() {
        return formatted(*median);
    }
    let first = ratios.first().and_then(Option::as_ref);
    let ratio = first.map(|ratio| format!(" {}x", formatted(ratio.median))).unwrap_or_default();
    format!("{} ({}..{}){ratio}", formatted(*median), formatted(*lowest), formatted(*highest))
}

fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
