//! Tables that fit a terminal, however long the names in them are.

use crate::style::{Paint, Style};
use quorumlock::report::OneLine;
use std::fmt::Display;
use tabled::builder::Builder;
use tabled::settings::peaker::PriorityMax;
use tabled::settings::{Padding, Style as Borders, Width};

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
}

/// How the longest names fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Cut,
    Wrapped,
}

/// Between two columns.
const GAP: usize = 2;

/// A terminal shows as many columns as get this much each, with the gap behind it.
const NARROWEST: usize = 10;

/// Returns the lines of the table; none without rows. A column in which no row has a text is left out, and so are
/// the last ones that a terminal has no room for.
pub(crate) fn lines<const N: usize>(
    heads: [&str; N],
    rows: impl Iterator<Item = [Cell; N]>,
    fit: Fit,
    style: Style,
) -> Vec<String> {
    let rows: Vec<[Cell; N]> = std::iter::once(heads.map(Cell::new)).chain(rows).collect();
    let is_used = |column: &usize| rows.iter().skip(1).any(|row| !row[*column].text.is_empty());
    let shown = style.columns.map_or(N, |columns| columns / NARROWEST);
    let used: Vec<usize> = (0..N).filter(is_used).take(shown.max(2)).collect();
    let texts = rows.iter().map(|row| used.iter().map(move |column| &*row[*column].text));
    let mut table = Builder::from_iter(texts).build();
    table.with(Borders::empty()).with(Padding::new(0, GAP, 0, 0));
    for (number, row) in rows.iter().enumerate() {
        for (place, column) in used.iter().enumerate() {
            if let Some(paint) = row[*column].paint {
                table.modify((number, place), style.color(paint));
            }
        }
    }
    // The gap behind the last column is not shown.
    match (style.columns.map(|columns| columns + GAP), fit) {
        (None, _) => &mut table,
        (Some(width), Fit::Cut) => {
            table.with(Width::truncate(width).suffix("…").priority(PriorityMax::left()))
        }
        (Some(width), Fit::Wrapped) => {
            table.with(Width::wrap(width).priority(PriorityMax::left()).keep_words(true))
        }
    };
    table.to_string().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { is_colored: false, columns: None };
    const HEADS: [&str; 3] = ["MASTER", "VOTES", "SERVER"];

    fn rows(names: [&str; 2]) -> [[Cell; 3]; 2] {
        let [first, second] = names.map(Cell::new);
        let votes = |text| Cell::new(text).painted(Paint::Good);
        [
            [first, votes("yes"), Cell::or_dash(Some("Redis 7.0.15".to_owned()))],
            [second, votes("in 29 s"), Cell::or_dash(None)],
        ]
    }

    fn shown(names: [&str; 2], columns: Option<usize>, fit: Fit) -> String {
        lines(HEADS, rows(names).into_iter(), fit, Style { columns, ..PLAIN }).join("\n")
    }

    #[test]
    fn a_row_for_each_master_if_names_are_short() {
        let expected = "\
MASTER         VOTES    SERVER
10.0.0.1:6379  yes      Redis 7.0.15
a:1            in 29 s  -";
        for columns in [None, Some(80), Some(36)] {
            assert_eq!(shown(["10.0.0.1:6379", "a:1"], columns, Fit::Cut), expected);
            assert_eq!(shown(["10.0.0.1:6379", "a:1"], columns, Fit::Wrapped), expected);
        }
    }

    #[test]
    fn the_longest_names_are_cut_or_wrapped() {
        let names = ["redis-3.example.org:6379", "a:1"];
        let expected = "\
MASTER             VOTES    SERVER
redis-3.example.…  yes      Redis 7.0.15
a:1                in 29 s  -";
        assert_eq!(shown(names, Some(40), Fit::Cut), expected);
        let expected = "\
MASTER             VOTES    SERVER
redis-3.example.o  yes      Redis 7.0.15
rg:6379
a:1                in 29 s  -";
        assert_eq!(shown(names, Some(40), Fit::Wrapped), expected);
        let long = "a".repeat(200);
        assert_eq!(shown([&long, &long], None, Fit::Wrapped).lines().count(), 3);
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns() {
        let expected = "MASTER  VOTES\na       yes\nb       in 29 s";
        assert_eq!(shown(["a", "b"], Some(23), Fit::Cut), expected);
        assert_eq!(shown(["a", "b"], Some(15), Fit::Wrapped), expected);
    }

    #[test]
    fn a_column_without_a_text_is_left_out() {
        let rows = rows(["a", "b"]).map(|[name, _, server]| [name, Cell::new(""), server]);
        let shown = lines(HEADS, rows.into_iter(), Fit::Cut, PLAIN).join("\n");
        assert_eq!(shown, "MASTER  SERVER\na       Redis 7.0.15\nb       -");
        assert!(lines(HEADS, [].into_iter(), Fit::Cut, PLAIN).is_empty());
    }

    #[test]
    fn colors_do_not_move_columns() {
        let colored = Style { is_colored: true, ..PLAIN };
        let of = |style| lines(HEADS, rows(["a", "b"]).into_iter(), Fit::Cut, style).join("\n");
        let stripped = of(colored).replace("\x1b[32m", "").replace("\x1b[0m", "");
        assert_ne!(of(colored), of(PLAIN));
        assert_eq!(stripped, of(PLAIN));
    }
}
