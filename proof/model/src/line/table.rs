//! The table of the line in words.

use crate::line::rules::Does::{self, Ask, Hold, Leave, Move, PassOn, Sleep, Try};
use crate::line::rules::{Phase, Row, TABLE};
use std::fmt::Write as _;

/// Returns the table as the README shows it.
pub fn markdown() -> String {
    let mut text = "| event | phase: what the client does, next phase |\n|---|---|\n".to_owned();
    for Row { words, steps, .. } in TABLE {
        let steps: Vec<String> = steps.iter().map(|step| in_words(*step)).collect();
        let _ = writeln!(text, "| {words} | {} |", steps.join("; "));
    }
    text
}

fn in_words((phases, does, next): (&[Phase], Does, Phase)) -> String {
    let phases: Vec<String> = phases.iter().map(name).collect();
    format!("{}: {}{}", phases.join(", "), verb(does), name(&next))
}

const fn verb(does: Does) -> &'static str {
    match does {
        Sleep => "",
        Ask => "ask, ",
        Move => "ask there, ",
        Try => "try, ",
        Hold => "hold, ",
        PassOn => "pass on, ",
        Leave => "leave, ",
    }
}

fn name(phase: &Phase) -> String {
    format!("{phase:?}").to_lowercase()
}
