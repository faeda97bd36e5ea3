//! One table for each workload.

use super::{Cell, Line, Summary, ratios, tell};

const HEAD: &str = "# quorumlock beside others

What `make bench` writes. The redis-servers share one machine with the clients: ratios count,
absolute times do not. All contenders take turns in every round, in an order that changes, and floors
stand next to those that are compared with them. Each cell is the median of the rounds, in brackets
the lowest and the highest, and behind it the ratio to the table's first line: the median of the
rounds' ratios. Every crate has its defaults; where one attempt is measured, it is a single try.
CPU us/cycle is the client's, beside it stands that of all masters together.
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
        line.cells.iter().map(|one| one.as_ref().map_or("-".into(), cell)).collect();
    format!("| {}{notes} | {} |\n", line.name, cells.join(" | "))
}

fn cell(cell: &Cell) -> String {
    let Cell { median, lowest, highest, beside } = cell;
    if lowest.is_infinite() {
        return tell(*median);
    }
    let first = beside.first().and_then(Option::as_ref);
    let ratio = first.map(|ratio| format!(" {}x", tell(ratio.median))).unwrap_or_default();
    format!("{} ({}..{}){ratio}", tell(*median), tell(*lowest), tell(*highest))
}

fn sentence(about: &str) -> String {
    let mut letters = about.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
