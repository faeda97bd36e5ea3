//! Histories in the short form that tests write: a line for each entry, with its time, its actor and
//! what happened, and with times in milliseconds.

use super::Violation;
use crate::chaos::history::{Claim, Condition, Entry, What, Why};
use crate::chaos::story::Story;
use std::time::Duration;

/// Makes a story of such lines. A dash is no number, and a claim to hold alone.
pub(crate) fn story(lines: &str) -> Story {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    Story::of(lines.map(entry).collect())
}

fn entry(line: &str) -> Entry {
    let words: Vec<&str> = line.split(' ').collect();
    let what = (words.len() > 2).then(|| what(words[2], &words[3..])).flatten();
    let what = what.unwrap_or_else(|| panic!("not a line: {line:?}"));
    Entry { at: nanos(words[0]).expect("a time"), who: words[1].to_owned(), what }
}

fn nanos(millis: &str) -> Option<u64> {
    Some(millis.parse::<u64>().ok()? * 1_000_000)
}

fn what(verb: &str, words: &[&str]) -> Option<What> {
    let number = |text: &str| text.parse::<u64>().ok();
    Some(match (verb, words) {
        ("asks", [id, resources, claim, wait, cures]) => What::Asks {
            id: number(id)?,
            resources: resources.split(',').map(str::to_owned).collect(),
            claim: if *claim == "-" { Claim::Alone } else { Claim::parse(claim)? },
            wait: Duration::from_millis(number(wait)?),
            cures: number(cures),
        },
        ("enters", [id, until, token]) => {
            What::Enters { id: number(id)?, until: nanos(until)?, token: number(token) }
        }
        ("holds", [id, until]) => What::Holds { id: number(id)?, until: nanos(until)? },
        ("leaves", [id]) => What::Leaves { id: number(id)? },
        ("fails", [id, why]) => What::Fails { id: number(id)?, why: Why::parse(why)? },
        ("lapsed", [id]) => What::Lapsed { id: number(id)? },
        ("bursts", [asked]) => What::Bursts { asked: number(asked)? },
        ("served", [served]) => What::Served { served: number(served)? },
        ("born", []) => What::Born,
        ("stopped", []) => What::Stopped,
        ("continued", []) => What::Continued,
        ("killed", []) => What::Killed,
        ("gone", [owed]) => What::Gone { owed: owed.parse().ok()? },
        ("is", [condition]) => What::Is(Condition::parse(condition)?),
        ("silent", [until]) => What::Silent { until: nanos(until)? },
        ("has", [resource, holder]) => {
            What::Has { resource: (*resource).to_owned(), holder: (*holder).to_owned() }
        }
        ("accepts" | "refuses", [by, id, resource, token]) => What::Write {
            by: (*by).to_owned(),
            id: number(id)?,
            resource: (*resource).to_owned(),
            token: number(token)?,
            accepted: verb == "accepts",
        },
        ("empty", []) => What::Empty,
        ("at-odds", []) => What::AtOdds,
        ("froze", [until]) => What::Froze { until: nanos(until)? },
        _ => return None,
    })
}

/// Returns the times of the violations, in milliseconds.
pub(crate) fn times(violations: &[Violation]) -> Vec<u64> {
    violations.iter().map(|violation| violation.at / 1_000_000).collect()
}
