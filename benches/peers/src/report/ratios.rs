//! The ratio of this crate to each floor, in one table.

use super::sweeps::floor;
use super::{Cell, Line, Ratio, Summary};

/// Title of the table.
pub(super) const NAME: &str = "Beside the floors";

/// Metrics whose ratios are shown.
const METRICS: [&str; 2] = ["cycles/s", "acquire p50 us"];

const HEAD: &str = "
Ratios to bare sockets that release by the script in full (EVAL), that release as quorumlock does on that
server (EVALSHA, or DELIFEQ where the server has it), and that also send the PUBLISH with which quorumlock
notifies other processes: there, the masters do exactly the same work. Each is the median of the rounds'
ratios, with the lowest and the highest in brackets.

| | | | EVAL | the same release | the same release + PUBLISH |
|---|---|---|--:|--:|--:|
";

pub(super) fn table(summaries: &[Summary]) -> String {
    let compared = summaries.iter().filter(|summary| summary.yardsticks.len() > 1);
    let rows: String = compared.flat_map(rows).collect();
    if rows.is_empty() { rows } else { format!("\n## {NAME}\n{HEAD}{rows}") }
}

fn rows(summary: &Summary) -> impl Iterator<Item = String> {
    let metrics = summary.metrics.iter().enumerate();
    let metrics = metrics.filter(|(_, metric)| METRICS.contains(&metric.as_str()));
    metrics.flat_map(move |(at, metric)| {
        let ours = summary.lines.iter().filter(|line| line.name.starts_with("quorumlock"));
        ours.filter_map(move |line| Some(row(summary, line, metric, line.cells[at].as_ref()?)))
    })
}

fn row(summary: &Summary, line: &Line, metric: &str, cell: &Cell) -> String {
    let mut ratios: [Option<Ratio>; 3] = [None; 3];
    for (name, ratio) in summary.yardsticks.iter().zip(&cell.ratios) {
        ratios[column(&floor(name))] = *ratio;
    }
    let text = |ratio: Option<Ratio>| ratio.map_or("-".to_owned(), |ratio| ratio.to_string());
    let ratios = ratios.map(text).join(" | ");
    let notes = line.notes.as_ref().map(|notes| format!(" ({notes})")).unwrap_or_default();
    format!("| {} | {}{notes} | {metric} | {ratios} |\n", summary.name, line.name)
}

/// Returns the place among the ratios of a floor that releases in this way.
pub(super) fn column(release: &str) -> usize {
    match release {
        "EVAL" => 0,
        other if other.ends_with("PUBLISH") => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders;

    #[test]
    fn each_ratio_stands_under_its_floor_whichever_took_part() {
        let ratio = |median| Some(Ratio { median, lowest: median, highest: median });
        let cell =
            Cell { median: 9.0, lowest: 9.0, highest: 9.0, ratios: vec![ratio(1.1), ratio(0.7)] };
        let name = "quorumlock, one thread".to_owned();
        let summary = Summary {
            name: "W2-8-tasks".to_owned(),
            about: String::new(),
            metrics: vec!["cycles/s".to_owned()],
            yardsticks: [contenders::FLOOR, "bare sockets, DELIFEQ + PUBLISH"]
                .map(str::to_owned)
                .into(),
            lines: vec![Line { name, cells: vec![Some(cell)], notes: None }],
        };
        let row = "| W2-8-tasks | quorumlock, one thread | cycles/s | 1.10 (1.10..1.10) | - | \
                   0.70 (0.70..0.70) |\n";
        assert!(table(&[summary]).ends_with(row));
        assert_eq!(table(&[]), "");
    }
}
