//! The tables of `docs/observability.md`, and that of the command's own metrics in `docs/cli.md`.

use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../docs/observability.md");
const COMMAND: &str = include_str!("../../docs/cli.md");

/// A row of the table of metrics.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) kind: String,
    /// Labels by name, with the possible values of each; empty for an address.
    pub(crate) labels: BTreeMap<String, BTreeSet<String>>,
}

/// A row of the table of events: the parts that distinguish it from all others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) target: String,
    pub(crate) level: String,
}

/// Returns the texts between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn rows(page: &'static str, header: &str) -> Vec<Vec<&'static str>> {
    let rows = page.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.split('|').skip(1).map(str::trim).collect()).collect();
    assert!(rows.len() >= 3, "no table that begins with {header}");
    rows
}

/// Returns the events that are reported again and again while an acquire waits.
pub(crate) fn recurring() -> BTreeSet<String> {
    let about = PAGE.split("While an acquire waits, only ").nth(1).expect("what recurs");
    quoted(about.split('.').next().expect("a sentence")).into_iter().collect()
}

pub(crate) fn metrics() -> BTreeMap<String, Metric> {
    let metric = |row: &Vec<&str>| {
        let label = |label: &str| {
            let mut words = quoted(label).into_iter();
            words.next().map(|name| (name, words.collect()))
        };
        let labels = row[3].split(';').filter_map(label).collect();
        (quoted(row[0]).remove(0), Metric { kind: row[1].to_owned(), labels })
    };
    rows(PAGE, "| name | type |").iter().map(metric).collect()
}

/// Returns the metrics that the command alone has, in the file that it writes.
pub(crate) fn of_the_command() -> BTreeMap<String, Metric> {
    let metric = |row: &Vec<&str>| {
        let labels = [("lock".to_owned(), BTreeSet::new())].into();
        (quoted(row[0]).remove(0), Metric { kind: row[1].to_owned(), labels })
    };
    rows(COMMAND, "| name | type |").iter().map(metric).collect()
}

/// Returns each event with its fields.
pub(crate) fn events() -> BTreeMap<Event, BTreeSet<String>> {
    let event = |row: &Vec<&str>| {
        let (name, target) = (quoted(row[0]).remove(0), quoted(row[2]).remove(0));
        let event = Event { name, kind: row[1].to_owned(), target, level: row[3].to_owned() };
        (event, quoted(row[4]).into_iter().collect())
    };
    rows(PAGE, "| name | kind |").iter().map(event).collect()
}
