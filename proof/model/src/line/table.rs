//! What follows from news, in words.

use quorumlock_core::waiting::rules::{Does, News, Wait, next};
use std::fmt::Write as _;

pub const WAITS: [Wait; 9] = [
    Wait::HeldUp,
    Wait::StepsBack,
    Wait::Alone,
    Wait::Asking,
    Wait::Behind,
    Wait::First,
    Wait::Again,
    Wait::Trying,
    Wait::Called,
];

pub const NEWS: [(News, &str); 9] = [
    (News::Called, "a message calls it, or the answer does"),
    (News::Freed, "a message says that the resource is free"),
    (News::Listens, "messages come from now on"),
    (News::Look, "its place may be another"),
    (News::Moved, "its list is at another master"),
    (News::Due, "its pause is over"),
    (News::DueAtAll, "the same, and it has asked no other master for long, or has no list"),
    (News::Refused, "a quorum has not granted"),
    (News::RefusedEarly, "the same, and the master of its list has not refused"),
];

const DOES: [(Does, &str); 4] =
    [(Does::Ask, "ask"), (Does::Try, "try"), (Does::GoOn, "go on"), (Does::Remember, "remember")];

/// Returns the table as the README shows it.
pub fn markdown() -> String {
    let mut text = "| news | what follows, by how the acquire waits |\n|---|---|\n".to_owned();
    for (news, words) in NEWS {
        let steps = DOES.iter().filter_map(|(does, verb)| {
            let waits = WAITS.iter().filter(|wait| next(**wait, news) == *does);
            let names: Vec<String> = waits.map(name).collect();
            (!names.is_empty()).then(|| format!("{}: {verb}", names.join(", ")))
        });
        let steps: Vec<String> = steps.collect();
        let _ = writeln!(text, "| {words} | {} |", steps.join("; "));
    }
    text
}

fn name(wait: &Wait) -> String {
    match wait {
        Wait::HeldUp => "held up".to_owned(),
        Wait::StepsBack => "steps back".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}
