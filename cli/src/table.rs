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

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// Returns it as wide as its column: filled up, or cut.
    fn shown(&self, width: usize, style: Style) -> String {
        let Some(pad) = width.checked_sub(self.width()) else {
            return self.text.chars().take(width.saturating_sub(1)).chain(['…']).collect();
        };
        let text = &self.text;
        let text = self.paint.map_or_else(|| text.clone(), |paint| style.paint(text, paint));
        text + &" ".repeat(pad)
    }
}

/// Between two columns.
pub(crate) const GAP: &str = "  ";

/// Returns how wide each column is.
pub(crate) fn widths<const N: usize>(rows: &[[Cell; N]]) -> [usize; N] {
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).max();
    std::array::from_fn(|column| widest(column).unwrap_or_default())
}

/// Returns how wide a line is. A column without a width is left out.
pub(crate) fn width(widths: &[usize]) -> usize {
    let used = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + GAP.len() * used.saturating_sub(1)
}

pub(crate) fn line(row: &[Cell], widths: &[usize], style: Style) -> String {
    let cells = row.iter().zip(widths).filter(|(_, width)| **width > 0);
    let cells: Vec<_> = cells.map(|(cell, width)| cell.shown(*width, style)).collect();
    cells.join(GAP).trim_end().to_owned()
}

/// Returns the table, without a line break at its end. The first column has the masters' names; they
/// get lines of their own where the rows would be too long, and rows lose their last columns where that is not enough.
pub(crate) fn table<const N: usize>(
    heads: [&str; N],
    rows: Vec<[Cell; N]>,
    style: Style,
) -> String {
    let rows: Vec<[Cell; N]> = std::iter::once(heads.map(Cell::new)).chain(rows).collect();
    let widths = widths(&rows);
    let columns = style.columns.unwrap_or(WIDTH);
    let fits = width(&widths) <= columns;
    // Behind the indentation, which is as wide as the gap between two columns.
    let fit = |last: &usize| GAP.len() + width(&widths[1..=*last]) <= columns;
    let shown = (2..N).rev().find(fit).unwrap_or(1);
    let lines = rows.iter().map(|row| match row.split_first() {
        Some((name, rest)) if !fits => {
            format!("{}\n{GAP}{}", name.text, line(&rest[..shown], &widths[1..], style))
        }
        _ => line(row, &widths, style),
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
    fn a_name_that_is_cut_shows_it() {
        let shown = |width| Cell::new("orders").shown(width, PLAIN);
        assert_eq!((&*shown(7), &*shown(6), &*shown(5)), ("orders ", "orders", "orde…"));
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
