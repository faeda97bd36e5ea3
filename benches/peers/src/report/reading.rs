//! Reads `results.md` back, so that figures can be drawn again without measuring again.

use super::ratios::{self, column};
use super::sweeps::floor;
use super::{Cell, HANGS, Line, Ratio, Summary};
use crate::contenders;

/// Returns the paragraph about the run, and what was measured.
pub(super) fn read(text: &str) -> Result<(String, Vec<Summary>), String> {
    let mut sections = text.split("\n## ");
    let head = sections.next().unwrap_or_default();
    let how = head.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let (mut summaries, mut floors) = (Vec::new(), Vec::new());
    for section in sections {
        let (name, body) = section.split_once('\n').ok_or_else(|| wrong(section))?;
        let mut rows = table(body);
        if name == ratios::NAME {
            floors.extend(rows.skip(1));
        } else {
            let metrics = rows.next().ok_or_else(|| wrong(name))?;
            let about = body.trim_start().lines().next().unwrap_or_default();
            summaries.push(summary(name, about, &metrics[1..], rows)?);
        }
    }
    for row in floors {
        compare(&mut summaries, &row)?;
    }
    Ok((how.to_owned(), summaries))
}

fn wrong(text: &str) -> String {
    format!("not written by this bench: {text}")
}

type Row<'a> = Vec<&'a str>;

/// Returns the rows of a table: its head first, and no rule below that.
fn table(body: &str) -> impl Iterator<Item = Row<'_>> {
    let rows = body.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

fn summary<'a>(
    name: &str,
    about: &str,
    metrics: &[&str],
    rows: impl Iterator<Item = Row<'a>>,
) -> Result<Summary, String> {
    let rows: Vec<Row<'_>> = rows.collect();
    let names: Vec<&str> = rows.iter().map(|row| named(row[0]).0).collect();
    let yardsticks = contenders::yardsticks(&names);
    let lines = rows.iter().map(|row| {
        let (name, notes) = named(row[0]);
        let cells: Vec<_> =
            row[1..].iter().map(|text| cell(text, yardsticks.len())).collect::<Result<_, _>>()?;
        if cells.len() != metrics.len() {
            return Err(wrong(&row.join(" | ")));
        }
        Ok(Line { name: name.to_owned(), cells, notes })
    });
    Ok(Summary {
        name: name.to_owned(),
        about: about.trim_end_matches('.').to_owned(),
        metrics: metrics.iter().map(|&metric| metric.to_owned()).collect(),
        yardsticks: yardsticks.iter().map(|&place| names[place].to_owned()).collect(),
        lines: lines.collect::<Result<_, _>>()?,
    })
}

/// Splits a contender's name from the notes in brackets behind it.
fn named(text: &str) -> (&str, Option<String>) {
    match text.split_once(" (") {
        Some((name, notes)) => (name, Some(notes.strip_suffix(')').unwrap_or(notes).to_owned())),
        None => (text, None),
    }
}

/// Reads `106 (85.2..116) 1.32x`. The table knows the ratio to the first yardstick only.
fn cell(text: &str, yardsticks: usize) -> Result<Option<Cell>, String> {
    if text == "-" {
        return Ok(None);
    }
    let (figures, ratio) = match text.split_once(") ") {
        Some((figures, ratio)) => (figures, Some(ratio)),
        None => (text, None),
    };
    let [median, lowest, highest] = spread(figures)?;
    let mut ratios = vec![None; yardsticks];
    if let (Some(ratio), Some(first)) = (ratio, ratios.first_mut()) {
        let median = figure(ratio.trim_end_matches('x'))?;
        *first = Some(Ratio { median, lowest: median, highest: median });
    }
    Ok(Some(Cell { median, lowest, highest, ratios }))
}

/// Reads `106 (85.2..116)`, or `hangs` alone.
fn spread(text: &str) -> Result<[f64; 3], String> {
    let Some((median, range)) = text.split_once(" (") else {
        return Ok([figure(text)?; 3]);
    };
    let range = range.trim_end_matches(')').split_once("..");
    let (lowest, highest) = range.ok_or_else(|| wrong(text))?;
    Ok([figure(median)?, figure(lowest)?, figure(highest)?])
}

fn figure(text: &str) -> Result<f64, String> {
    if text == HANGS { Ok(f64::INFINITY) } else { text.parse().map_err(|_| wrong(text)) }
}

/// Adds the ratios of one line to all floors.
fn compare(summaries: &mut [Summary], row: &Row<'_>) -> Result<(), String> {
    let wrong = || wrong(&row.join(" | "));
    let [scene, contender, metric, ratios @ ..] = row.as_slice() else { return Err(wrong()) };
    let summary = summaries.iter_mut().find(|summary| summary.name == *scene).ok_or_else(wrong)?;
    let at = summary.column(metric).ok_or_else(wrong)?;
    let line = summary.lines.iter_mut().find(|line| line.name == named(contender).0);
    let cell = line.and_then(|line| line.cells[at].as_mut()).ok_or_else(wrong)?;
    for (ratio, yardstick) in cell.ratios.iter_mut().zip(&summary.yardsticks) {
        let text = ratios.get(column(&floor(yardstick))).ok_or_else(wrong)?;
        if *text != "-" {
            let [median, lowest, highest] = spread(text)?;
            *ratio = Some(Ratio { median, lowest, highest });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{chart, disturbed, markdown, speed};
    use super::*;

    fn cell(median: f64, ratios: &[f64]) -> Option<Cell> {
        let ratio = |&median| Some(Ratio { median, lowest: median * 0.5, highest: median * 2.0 });
        let (lowest, highest) = (median * 0.9, median * 1.23);
        Some(Cell { median, lowest, highest, ratios: ratios.iter().map(ratio).collect() })
    }

    fn summary(name: &str, metrics: &[&str], lines: Vec<Line>) -> Summary {
        let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
        let yardsticks = contenders::yardsticks(&names);
        Summary {
            name: name.to_owned(),
            about: "64 tasks; 5 masters, Redis 7.0.15".to_owned(),
            metrics: metrics.iter().map(|&metric| metric.to_owned()).collect(),
            yardsticks: yardsticks.iter().map(|&place| names[place].to_owned()).collect(),
            lines,
        }
    }

    fn line(name: &str, cells: Vec<Option<Cell>>, notes: Option<String>) -> Line {
        Line { name: name.to_owned(), cells, notes }
    }

    fn measured() -> Vec<Summary> {
        let crowd = vec![
            line(contenders::FLOOR, vec![cell(105_063.4, &[1.0]), cell(2.03, &[1.0])], None),
            line(
                "quorumlock, one thread",
                vec![cell(9.996, &[0.64, 0.7, 0.0996]), cell(99.96, &[1.5, 1.2, 0.011])],
                disturbed(2, 9),
            ),
            line("bare sockets, EVALSHA", vec![cell(1.0, &[1.0]), None], None),
            line("bare sockets, EVALSHA + PUBLISH", vec![cell(0.0, &[]), None], None),
        ];
        let hangs = || {
            let never = f64::INFINITY;
            Some(Cell { median: never, lowest: never, highest: never, ratios: vec![None] })
        };
        let sometimes = Cell { highest: f64::INFINITY, ..cell(94.8, &[1.0]).expect("a cell") };
        let stopped = vec![
            line("quorumlock", vec![cell(94.8, &[1.0]), cell(100.0, &[1.0])], None),
            line("redlock", vec![hangs(), cell(0.0, &[0.0])], None),
            line("redsync", vec![Some(sometimes), None], Some("panics in 1 of 3".to_owned())),
            line("rslock", vec![None, None], Some("hangs (> 5 s) in 3 of 3".to_owned())),
        ];
        vec![
            summary("W2", &["cycles/s", "CPU us/cycle"], crowd),
            summary("W3", &["stopped p50 us", "stopped, won %"], stopped),
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = markdown::text(&measured(), "A full run. On Redis 7.0.15.");
        let (how, summaries) = read(&text).expect("results");
        assert_eq!(how, "A full run. On Redis 7.0.15.");
        assert_eq!(markdown::text(&summaries, &how), text);
        let ours = summaries[0].lines[1].cells[0].as_ref().expect("a cell");
        let ratio = |median, lowest, highest| Some(Ratio { median, lowest, highest });
        let ratios = [ratio(0.64, 0.32, 1.28), ratio(0.7, 0.35, 1.4), ratio(0.1, 0.05, 0.2)];
        assert_eq!(ours.ratios, ratios);
        assert_eq!(summaries[1].lines[3].notes.as_deref(), Some("hangs (> 5 s) in 3 of 3"));
        assert!(summaries[1].lines[1].cells[0].as_ref().expect("a cell").median.is_infinite());
    }

    #[test]
    fn what_is_not_a_table_of_figures_is_refused() {
        let text = markdown::text(&measured(), "A full run.");
        for (figure, other) in
            [("105063", "many"), ("| 2.03 (", "| 1 | 2.03 ("), ("| W2 |", "| W |")]
        {
            assert!(read(&text.replacen(figure, other, 1)).is_err(), "{figure} is {other}");
        }
    }

    #[test]
    fn the_files_in_the_repository_agree() {
        let text = include_str!("../../results.md");
        let (how, summaries) = read(text).expect("results");
        let drawn = "the words have changed: --draw";
        assert!(markdown::text(&summaries, &how) == text, "{drawn}");
        assert!(chart::drawing(&summaries) == include_str!("../../results.svg"), "{drawn}");
        assert!(speed::drawing(&summaries) == include_str!("../../speed.svg"), "{drawn}");
    }
}
