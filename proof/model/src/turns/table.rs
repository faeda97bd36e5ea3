//! The table of turns in words.

use crate::quorum::turns::Does::{self, Enter, Look, Sleep, Try, Withdraw};
use crate::quorum::turns::{Row, TABLE};
use std::fmt::Write as _;

/// Returns the table as the README shows it.
pub fn markdown() -> String {
    let mut text = "| event | behind | first | called |\n|---|---|---|---|\n".to_owned();
    for Row { words, does, .. } in TABLE {
        let _ = write!(text, "| {words} |");
        for (at, (does, next)) in does.into_iter().enumerate() {
            let same = next as usize == at;
            let _ = match (does, same) {
                (Sleep, true) => write!(text, " |"),
                (Sleep, false) => write!(text, " {next:?} |"),
                (Enter | Withdraw, _) | (_, true) => write!(text, " {} |", verb(does)),
                (_, false) => write!(text, " {}, {next:?} |", verb(does)),
            };
        }
        text.push('\n');
    }
    text.replace("Behind", "behind").replace("First", "first").replace("Called", "called")
}

const fn verb(does: Does) -> &'static str {
    match does {
        Sleep => "",
        Look => "look",
        Try => "try",
        Enter => "enter",
        Withdraw => "withdraw",
    }
}
