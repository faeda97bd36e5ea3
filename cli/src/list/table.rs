//! The table of locks, and what is below it.

use crate::inspect::word;
use crate::style::{Paint, Style};
use crate::table::{self, Cell, Fit};
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, ListedLock, PossibleDeadlock};
use std::time::Duration;

/// A lock, and for how long it has been seen.
pub(crate) type Row<'a> = (&'a ListedLock, Option<Duration>);

const HEADS: [&str; 8] =
    ["RESOURCE", "SLOT", "STATE", "HOLDER", "EXPIRES IN", "MASTERS", "WAITING", "SEEN FOR"];

fn cells(lock: &ListedLock, seen: Option<Duration>) -> [Cell; HEADS.len()] {
    let holder = lock.holder();
    let mark = if lock.is_ours() { "" } else { "?" };
    let remaining = holder.remaining().map_or("never".to_owned(), |left| Span(left).to_string());
    let masters = lock.inspection().nodes().len();
    let slot = lock.slot().map_or(String::new(), |slot| slot.to_string());
    // Counted in looks, which are seconds apart.
    let seen = seen.map(|seen| Span(Duration::from_secs(seen.as_secs())).to_string());
    [
        Cell::new(Escaped(lock.resource())),
        Cell::new(slot),
        painted(&format!("{}{mark}", word(lock.state()))),
        Cell::new(names(holder)),
        Cell::new(remaining),
        Cell::new(format_args!("{} of {masters}", lock.held_on())),
        Cell::or_dash(lock.waiting().map(|waiting| waiting.to_string())),
        Cell::new(seen.unwrap_or_default()),
    ]
}

/// Returns the label of the holder, or those of the readers that have one.
fn names(holder: &Holder) -> String {
    if !holder.is_shared() {
        return name(holder);
    }
    let names: Vec<String> = holder.readers().iter().map(name).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

fn name(holder: &Holder) -> String {
    holder.label().map_or("-".to_owned(), |label| Escaped(label).to_string())
}

/// Returns the state in its colour; a `?` behind it means that the value is no token of quorumlock.
fn painted(state: &str) -> Cell {
    let cell = Cell::new(state);
    match state {
        "held" | "read" => cell.painted(Paint::Good),
        _ if state.starts_with("unclear") || state.ends_with('?') => cell.painted(Paint::Warning),
        _ => cell,
    }
}

fn counted(locks: usize, permits: usize) -> String {
    let held = [(locks, "lock"), (permits, "permit")].into_iter().filter(|(count, _)| *count > 0);
    let held = held.map(|(count, of)| format!("{count} {of}{}", if count == 1 { "" } else { "s" }));
    let held = held.collect::<Vec<_>>().join(" and ");
    match locks + permits {
        0 => "no lock is held".to_owned(),
        1 => format!("{held} is held"),
        _ => format!("{held} are held"),
    }
}

/// Returns the heads and a line for each lock; nothing if there is none.
pub(crate) fn lines(rows: &[Row<'_>], style: Style) -> Vec<String> {
    let rows = rows.iter().map(|(lock, seen)| cells(lock, *seen));
    table::lines(HEADS, rows, Fit::Cut, style)
}

/// Returns what is below the locks, and counts those that are held. Unless it `is_complete`, too few masters could be
/// scanned to find every lock.
pub(crate) fn footer(
    rows: &[Row<'_>],
    deadlocks: &[PossibleDeadlock],
    prefix: &str,
    is_complete: bool,
) -> Vec<String> {
    let mut lines: Vec<String> = deadlocks.iter().map(ToString::to_string).collect();
    if rows.iter().any(|(lock, _)| !lock.is_ours()) {
        let note = "?: not a token of quorumlock: another client's lock, or no lock at all";
        lines.push(note.to_owned());
    }
    let held = rows.iter().filter(|(lock, _)| lock.is_held());
    let permits = held.clone().filter(|(lock, _)| lock.slot().is_some()).count();
    let locks = held.count() - permits;
    let under = match prefix {
        "" => String::new(),
        prefix => format!(" under {:?}", Escaped(prefix)),
    };
    const LACKS: &str = "too few masters can be scanned";
    lines.push(match (is_complete, locks + permits) {
        (true, _) => counted(locks, permits) + &under,
        (false, 0) => format!("not known{under}: {LACKS}"),
        (false, _) => format!("{}{under}, maybe more: {LACKS}", counted(locks, permits)),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_permits_are_counted_each_for_itself() {
        for (locks, permits, expected) in [
            (0, 0, "no lock is held"),
            (1, 0, "1 lock is held"),
            (0, 1, "1 permit is held"),
            (2, 0, "2 locks are held"),
            (1, 1, "1 lock and 1 permit are held"),
            (0, 3, "3 permits are held"),
        ] {
            assert_eq!(counted(locks, permits), expected);
        }
    }
}
