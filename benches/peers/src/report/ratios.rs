//! The ratio of this crate to each floor, in one table.

use super::sweeps::floor;
use super::{Cell, Line, Ratio, Summary};

/// Metrics whose ratios are shown.
const METRICS: [&str; 2] = ["cycles/s", "acquire p50 us"];

const HEAD: &str = "
## Beside the floors

Ratios to bare sockets that release by the script in full (EVAL), that release as quorumlock does there
(EVALSHA, or DELIFEQ where the server has it), and that also send the PUBLISH with which quorumlock tells
other processes: with that the masters do the very same. Medians of the rounds' ratios, lowest and highest.

| | | | EVAL | the same release | the same release + PUBLISH |
|---|---|---|--:|--:|--:|
";

pub(super) fn table(summaries: &[Summary]) -> String {
    let compared = summaries.iter().filter(|summary| summary.yardsticks.len() > 1);
    let rows: String = compared.flat_map(rows).collect();
    if rows.is_empty() { rows } else { format!("{HEAD}{rows}") }
}

fn rows(summary: &Summary) -> impl Iterator<Item = String> {
    let told = summary.metrics.iter().enumerate().filter(|(_, metric)| METRICS.contains(metric));
    told.flat_map(move |(at, metric)| {
        let ours = summary.lines.iter().filter(|line| line.name.starts_with("quorumlock"));
        ours.filter_map(move |line| row(summary, line, metric, line.cells[at].as_ref()?))
    })
}

fn row(summary: &Summary, line: &Line, metric: &str, cell: &Cell) -> Option<String> {
    let ratio = |fits: fn(&str) -> bool| {
        let at = summary.yardsticks.iter().position(|name| fits(&floor(name)))?;
        cell.beside[at].as_ref().map(Ratio::to_string)
    };
    let ratios = [
        ratio(|release| release == "EVAL"),
        ratio(|release| release != "EVAL" && !release.ends_with("PUBLISH")),
        ratio(|release| release.ends_with("PUBLISH")),
    ];
    let ratios = ratios.map(|ratio| ratio.unwrap_or_else(|| "-".to_owned())).join(" | ");
    let notes = line.notes.as_ref().map(|notes| format!(" ({notes})")).unwrap_or_default();
    Some(format!("| {} | {}{notes} | {metric} | {ratios} |\n", summary.name, line.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders;

    #[test]
    fn each_ratio_stands_under_its_floor_whichever_took_part() {
        let ratio = |median| Some(Ratio { median, lowest: median, highest: median });
        let cell =
            Cell { median: 9.0, lowest: 9.0, highest: 9.0, beside: vec![ratio(1.1), ratio(0.7)] };
        let name = "quorumlock, one thread".to_owned();
        let summary = Summary {
            name: "W2-8-tasks".to_owned(),
            about: String::new(),
            metrics: &["cycles/s"],
            yardsticks: vec![contenders::FLOOR, "bare sockets, DELIFEQ + PUBLISH"],
            lines: vec![Line { name, cells: vec![Some(cell)], notes: None }],
        };
        let row = "| W2-8-tasks | quorumlock, one thread | cycles/s | 1.10 (1.10..1.10) | - | \
                   0.70 (0.70..0.70) |\n";
        assert!(table(&[summary]).ends_with(row));
        assert_eq!(table(&[]), "");
    }
}
