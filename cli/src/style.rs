//! How output for people looks: its colours, and lines and tables that fit a terminal, however long the names in them
//! are.

use clap::ColorChoice;
use quorumlock::report::OneLine;
use std::env;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use tabled::builder::Builder;
use tabled::settings::peaker::PriorityMax;
use tabled::settings::{Color as Escapes, Padding, Style as Borders, Width as Widths};
use terminal_size::{Height, Width, terminal_size_of};
use textwrap::{Options, WordSplitter};

/// The look of what is printed on stdout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Whether it has colours.
    pub(crate) is_colored: bool,
    /// The columns of the terminal; `None` in a pipe, where each sentence and each row is one line, so that it can be
    /// searched for.
    pub(crate) columns: Option<usize>,
}

/// A colour, by what it says, with its number at terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Bad = 31,
    Good = 32,
    Warning = 33,
}

/// The longest line of a sentence on a terminal.
const WIDTH: usize = 80;

/// What a terminal shows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Screen {
    /// Returns the size that the terminal of stdout has now; `None` if stdout is no terminal.
    pub(crate) fn of_stdout() -> Option<Self> {
        io::stdout().is_terminal().then(|| Self::or_guess(terminal_size_of(io::stdout())))
    }

    /// Serial lines and some recorders of terminals have no size.
    fn or_guess(size: Option<(Width, Height)>) -> Self {
        if let Some((Width(columns), Height(rows))) = size {
            return Self { columns: columns.into(), rows: rows.into() };
        }
        let of = |name| env::var(name).ok()?.parse().ok().filter(|count| *count > 0);
        Self { columns: of("COLUMNS").unwrap_or(WIDTH), rows: of("LINES").unwrap_or(usize::MAX) }
    }
}

impl Style {
    /// Returns the look of stdout. It has no colours in a pipe or a file, if NO_COLOR is set or if TERM is dumb, unless
    /// they are chosen.
    pub(crate) fn of_stdout(color: ColorChoice) -> Self {
        let columns = Screen::of_stdout().map(|screen| screen.columns);
        let wants = |name| env::var_os(name).is_none_or(|value| value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_colored = match color {
            ColorChoice::Auto => columns.is_some() && wants("NO_COLOR") && !is_dumb,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        Self { is_colored, columns }
    }

    pub(crate) fn color(self, paint: Paint) -> Escapes {
        match self.is_colored {
            true => Escapes::new(format!("\x1b[{}m", paint as u8), "\x1b[0m"),
            false => Escapes::empty(),
        }
    }

    /// Returns the text in a colour, if there are any.
    pub(crate) fn paint(self, text: &str, paint: Paint) -> String {
        self.color(paint).colorize(text)
    }

    /// Returns the sentence in lines. The first one begins with `first` spaces, each other one with
    /// `indent`.
    pub(crate) fn wrap(self, first: usize, indent: usize, sentence: &str) -> String {
        let [first, indent] = [first, indent].map(|spaces| " ".repeat(spaces));
        let options = Options::new(self.columns.map_or(usize::MAX, |columns| columns.min(WIDTH)))
            .initial_indent(&first)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(sentence, options)
    }
}

/// One cell.
pub(crate) struct Cell {
    text: String,
    paint: Option<Paint>,
}

impl Cell {
    pub(crate) fn new(text: impl Display) -> Self {
        Self { text: OneLine(text).to_string(), paint: None }
    }

    /// A cell with a dash where nothing is known.
    pub(crate) fn or_dash(text: Option<impl Display>) -> Self {
        text.map_or_else(|| Self::new("-"), Self::new)
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
pub(crate) fn table<const N: usize>(
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
            table.with(Widths::truncate(width).suffix("…").priority(PriorityMax::left()))
        }
        (Some(width), Fit::Wrapped) => {
            table.with(Widths::wrap(width).priority(PriorityMax::left()).keep_words(true))
        }
    };
    table.to_string().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { is_colored: false, columns: Some(80) };

    #[test]
    fn a_sentence_is_broken_between_words_at_80_columns() {
        let sentence = format!("{} {} end", "a".repeat(40), "b".repeat(39));
        let wrapped = PLAIN.wrap(0, 2, &sentence);
        assert_eq!(wrapped, format!("{} {}\n  end", "a".repeat(40), "b".repeat(39)));
        let wrapped = PLAIN.wrap(1, 2, &sentence);
        assert_eq!(wrapped, format!(" {}\n  {} end", "a".repeat(40), "b".repeat(39)));
        let piped = Style { columns: None, ..PLAIN };
        assert_eq!(piped.wrap(0, 2, &sentence), sentence);
        let narrow = Style { columns: Some(20), ..PLAIN };
        assert_eq!(narrow.wrap(0, 2, "as wide as its terminal"), "as wide as its\n  terminal");
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        let long = "a".repeat(100);
        assert_eq!(PLAIN.wrap(0, 2, &format!("at {long} end")), format!("at\n  {long}\n  end"));
    }

    #[test]
    fn only_a_style_with_colors_paints() {
        assert_eq!(PLAIN.paint("no", Paint::Bad), "no");
        let colored = Style { is_colored: true, ..PLAIN };
        assert_eq!(colored.paint("no", Paint::Bad), "\x1b[31mno\x1b[0m");
    }

    const PIPED: Style = Style { columns: None, ..PLAIN };
    const HEADS: [&str; 3] = ["MASTER", "VOTES", "SERVER"];

    fn rows(names: [&str; 2]) -> [[Cell; 3]; 2] {
        let [first, second] = names.map(Cell::new);
        let votes = |text| Cell::new(text).painted(Paint::Good);
        [
            [first, votes("yes"), Cell::or_dash(Some("Redis 7.0.15".to_owned()))],
            [second, votes("in 29 s"), Cell::or_dash(None::<&str>)],
        ]
    }

    fn shown(names: [&str; 2], columns: Option<usize>, fit: Fit) -> String {
        table(HEADS, rows(names).into_iter(), fit, Style { columns, ..PIPED }).join("\n")
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
        let shown = table(HEADS, rows.into_iter(), Fit::Cut, PIPED).join("\n");
        assert_eq!(shown, "MASTER  SERVER\na       Redis 7.0.15\nb       -");
        assert!(table(HEADS, [].into_iter(), Fit::Cut, PIPED).is_empty());
    }

    #[test]
    fn colors_do_not_move_columns() {
        let colored = Style { is_colored: true, ..PIPED };
        let of = |style| table(HEADS, rows(["a", "b"]).into_iter(), Fit::Cut, style).join("\n");
        let stripped = of(colored).replace("\x1b[32m", "").replace("\x1b[0m", "");
        assert_ne!(of(colored), of(PIPED));
        assert_eq!(stripped, of(PIPED));
    }
}
