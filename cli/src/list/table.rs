//! The table of locks, which fits a terminal.

use crate::inspect::word;
use crate::style::{Paint, Style};
use crate::table::{self, Cell};
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, ListedLock, PossibleDeadlock};
use std::time::Duration;

/// The table of what was found.
pub(crate) struct Table<'a> {
    /// Each lock, and for how long it has been seen.
    pub(crate) rows: &'a [(&'a ListedLock, Option<Duration>)],
    pub(crate) deadlocks: &'a [PossibleDeadlock],
    pub(crate) prefix: &'a str,
    /// Whether enough masters could be scanned to find every lock.
    pub(crate) is_complete: bool,
    /// How wide a line may be, if that matters. Names are cut off first; then columns are left out.
    pub(crate) columns: Option<usize>,
    pub(crate) style: Style,
}

const HEADS: [&str; 8] =
    ["RESOURCE", "SLOT", "STATE", "HOLDER", "EXPIRES IN", "MASTERS", "WAITING", "SEEN FOR"];

/// The columns with names of any length, which may be cut.
const NAMES: [usize; 2] = [0, 3];

/// The least that is left of a name.
const SHORTEST: usize = 8;

/// The columns that are left out if no lock has anything there.
const OPTIONAL: [usize; 2] = [1, 7];

type Cells = [Cell; HEADS.len()];

fn cells(lock: &ListedLock, seen: Option<Duration>) -> Cells {
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

/// Returns how wide each column is, 0 if it is left out. Those with names share what the others leave.
fn widths(rows: &[Cells], columns: Option<usize>) -> [usize; HEADS.len()] {
    let mut widths = table::widths(rows);
    let Some(columns) = columns else { return widths };
    let [resource, holder] = NAMES;
    for last in (holder..HEADS.len()).rev() {
        let mut least = widths;
        NAMES.iter().for_each(|name| least[*name] = least[*name].min(SHORTEST));
        if table::width(&least) <= columns {
            break;
        }
        widths[last] = 0;
    }
    for _ in columns..table::width(&widths) {
        let longer = if widths[resource] > widths[holder] { resource } else { holder };
        widths[longer] = widths[longer].saturating_sub(1).max(SHORTEST);
    }
    widths
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
    let some =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let verb = if locks + permits == 1 { "is" } else { "are" };
    let what = match (locks, permits) {
        (0, 0) => return "no lock is held".to_owned(),
        (locks, 0) => some(locks, "lock"),
        (0, permits) => some(permits, "permit"),
        (locks, permits) => format!("{} and {}", some(locks, "lock"), some(permits, "permit")),
    };
    format!("{what} {verb} held")
}

impl Table<'_> {
    /// Returns the heads and a line for each lock; nothing if there is none.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut heads = HEADS.map(Cell::new);
        let rows: Vec<Cells> = self.rows.iter().map(|(lock, seen)| cells(lock, *seen)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        for column in OPTIONAL {
            if rows.iter().all(|row| row[column].is_empty()) {
                heads[column] = Cell::new("");
            }
        }
        let rows: Vec<Cells> = std::iter::once(heads).chain(rows).collect();
        let widths = widths(&rows, self.columns);
        rows.iter().map(|row| table::line(row, &widths, self.style)).collect()
    }

    /// Returns what stands below the locks, and counts those that are held.
    pub(crate) fn footer(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.deadlocks.iter().map(ToString::to_string).collect();
        if self.rows.iter().any(|(lock, _)| !lock.is_ours()) {
            let note = "?: not a token of quorumlock: another client's lock, or no lock at all";
            lines.push(note.to_owned());
        }
        let held = self.rows.iter().filter(|(lock, _)| lock.is_held());
        let permits = held.clone().filter(|(lock, _)| lock.slot().is_some()).count();
        let locks = held.count() - permits;
        let under = match self.prefix {
            "" => String::new(),
            prefix => format!(" under {:?}", Escaped(prefix)),
        };
        const LACKS: &str = "too few masters can be scanned";
        lines.push(match (self.is_complete, locks + permits) {
            (true, _) => counted(locks, permits) + &under,
            (false, 0) => format!("not known{under}: {LACKS}"),
            (false, _) => format!("{}{under}, maybe more: {LACKS}", counted(locks, permits)),
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: &str, holder: &str) -> Cells {
        [resource, "", "held", holder, "9.4 s", "3 of 3", "0", ""].map(Cell::new)
    }

    #[test]
    fn names_share_what_the_other_columns_leave() {
        let (short, long) = ("r".repeat(9), "r".repeat(200));
        for (resource, holder) in [(&short, &long), (&long, &short), (&long, &long)] {
            let widths = widths(&[row(resource, holder)], Some(80));
            assert_eq!(widths.iter().sum::<usize>() + 5 * table::GAP.len(), 80, "{widths:?}");
            assert!(widths[0] >= 9 && widths[3] >= 9, "{widths:?}");
        }
        assert_eq!(widths(&[row(&long, &long)], None)[0], 200);
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns_and_none_that_wraps() {
        let long = "r".repeat(200);
        let rows = [HEADS.map(Cell::new), row(&long, &long)];
        for (columns, shown) in [(200, 8), (61, 7), (60, 6), (40, 4), (21, 3)] {
            let widths = widths(&rows, Some(columns));
            let used = widths.iter().filter(|width| **width > 0).count();
            assert!(table::width(&widths) <= columns, "{columns}: {widths:?}");
            assert_eq!(used, shown, "{columns}: {widths:?}");
        }
    }

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
