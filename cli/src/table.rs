//! Tables with a row for each master, which fit 80 columns, or a narrower terminal, however long the masters' names are.

use crate::style::{Paint, Style, WIDTH};
use quorumlock::report::OneLine;
use std::fmt::Display;

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    paint: Option<Paint>,
}

impl Cell {
    pub(crate) fn new(text: impl Display) -> Self {
        Self { text: OneLine(text).to_string(), paint: None }
    }

    /// A cell with a dash where nothing is known.
    pub(crate) fn or_dash(text: Option<String>) -> Self {
        Self::new(text.unwrap_or_else(|| "-".to_owned()))
    }

    pub(crate) fn painted(self, paint: Paint) -> Self {
        Self { paint: Some(paint), ..self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Returns the table, without a line break at its end. The first column has the masters' names; they
/// get lines of their own where the rows would be too long, and rows lose their last columns where that is not enough.
pub(crate) fn table<const N: usize>(
    heads: [&str; N],
    rows: Vec<[Cell; N]>,
    style: Style,
) -> String {
    let rows: Vec<[Cell; N]> = std::iter::once(heads.map(Cell::new)).chain(rows).collect();
    let widths: Vec<usize> = (0..N)
        .map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default())
        .collect();
    let columns = style.columns.unwrap_or(WIDTH);
    let width =
        |widths: &[usize]| widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    let fits = width(&widths) <= columns;
    // Behind the indentation, which is as wide as the gap between two columns.
    let shown = (2..N).rev().find(|last| 2 + width(&widths[1..=*last]) <= columns).unwrap_or(1);
    let line = |row: &[Cell], widths: &[usize]| {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().zip(widths).enumerate().map(|(place, (cell, width))| {
            let text = match cell.paint {
                Some(paint) => style.paint(&cell.text, paint),
                None => cell.text.clone(),
            };
            let pad = if place == last { 0 } else { width - cell.width() };
            text + &" ".repeat(pad)
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    let lines = rows.iter().map(|row| match row.split_first() {
        Some((name, rest)) if !fits => {
            format!("{}\n  {}", name.text, line(&rest[..shown], &widths[1..]))
        }
        _ => line(row, &widths),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { is_colored: false, columns: Some(80) };

    fn rows(names: [&str; 2]) -> Vec<[Cell; 3]> {
        let [first, second] = names.map(Cell::new);
        let votes = |text| Cell::new(text).painted(Paint::Good);
        vec![
            [first, votes("yes"), Cell::or_dash(Some("Redis 7.0.15".to_owned()))],
            [second, votes("in 29 s"), Cell::or_dash(None)],
        ]
    }

    #[test]
    fn a_row_for_each_master_if_names_are_short() {
        let shown = table(["MASTER", "VOTES", "SERVER"], rows(["10.0.0.1:6379", "a:1"]), PLAIN);
        let expected = "\
MASTER         VOTES    SERVER
10.0.0.1:6379  yes      Redis 7.0.15
a:1            in 29 s  -";
        assert_eq!(shown, expected);
    }

    #[test]
    fn names_get_their_own_lines_where_rows_are_too_long() {
        let ipv6 = "[2001:db8:85a3:8d3:1319:8a2e:370:7348]:6379";
        let host = "redis-lock-3.redis-lock.production.svc.cluster.europe.example.org:6379";
        let shown = table(["MASTER", "VOTES", "SERVER"], rows([ipv6, host]), PLAIN);
        let expected = format!(
            "\
MASTER
  VOTES    SERVER
{ipv6}
  yes      Redis 7.0.15
{host}
  in 29 s  -"
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_row_of_80_columns_still_fits() {
        let heads = ["MASTER", "VOTES", "SERVER"];
        // 2 between columns, 7 and 12 in the other two.
        let longest = "a".repeat(80 - 4 - 7 - 12);
        let shown = table(heads, rows([&longest, "b"]), PLAIN);
        assert_eq!(shown.lines().map(str::len).max(), Some(80), "{shown}");
        assert_eq!(shown.lines().count(), 3);
        let shown = table(heads, rows([&format!("{longest}a"), "b"]), PLAIN);
        assert_eq!(shown.lines().count(), 6, "{shown}");
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns() {
        let heads = ["MASTER", "VOTES", "SERVER"];
        for (columns, expected) in [
            (33, "MASTER  VOTES    SERVER\na       yes      Redis 7.0.15\nb       in 29 s  -"),
            (23, "MASTER\n  VOTES    SERVER\na\n  yes      Redis 7.0.15\nb\n  in 29 s  -"),
            (22, "MASTER\n  VOTES\na\n  yes\nb\n  in 29 s"),
            (5, "MASTER\n  VOTES\na\n  yes\nb\n  in 29 s"),
        ] {
            let shown = table(heads, rows(["a", "b"]), Style { columns: Some(columns), ..PLAIN });
            assert_eq!(shown, expected, "{columns}");
        }
    }

    #[test]
    fn colors_do_not_move_columns() {
        let colored = Style { is_colored: true, ..PLAIN };
        let of = |style| table(["MASTER", "VOTES", "SERVER"], rows(["a", "b"]), style);
        let stripped = of(colored).replace("\x1b[32m", "").replace("\x1b[0m", "");
        assert_ne!(of(colored), of(PLAIN));
        assert_eq!(stripped, of(PLAIN));
    }
}
