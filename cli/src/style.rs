//! How output for people looks: its colours, and lines that fit a terminal.

use clap::ColorChoice;
use std::env;
use std::io::{self, IsTerminal};
use tabled::settings::Color as Escapes;
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
}
