//! The table of locks, which fits a terminal.

use super::state;
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, ListedLock, LockState};
use std::fmt;
use std::time::Duration;

/// The table of what was found. Printed, it ends with a line that counts.
pub(crate) struct Table<'a> {
    /// Each lock, and for how long it has been seen.
    pub(crate) rows: &'a [(&'a ListedLock, Option<Duration>)],
    pub(crate) prefix: &'a str,
    /// Longer names are cut off; `None` to cut nothing.
    pub(crate) width: Option<usize>,
}

const HEADS: [&str; 8] =
    ["RESOURCE", "SLOT", "STATE", "HOLDER", "EXPIRES IN", "MASTERS", "WAITING", "SEEN FOR"];

/// The columns with names of any length, which may be cut.
const NAMES: [usize; 2] = [0, 3];

/// The columns that are left out if no lock has anything there.
const OPTIONAL: [usize; 2] = [1, 7];

const GAP: usize = 2;

type Cells = [String; HEADS.len()];

fn cells(lock: &ListedLock, seen: Option<Duration>) -> Cells {
    let holder = lock.holder();
    let mark = if lock.is_ours() { "" } else { "?" };
    let remaining = holder.remaining().map_or("never".to_owned(), |it| Span(it).to_string());
    let masters = lock.inspection().nodes().len();
    [
        Escaped(lock.resource()).to_string(),
        lock.slot().map_or(String::new(), |slot| slot.to_string()),
        format!(
            "{}{mark}",
            if lock.is_held() && holder.is_shared() { "read" } else { state(lock) }
        ),
        names(holder),
        remaining,
        format!("{} of {masters}", lock.held_on()),
        lock.waiting().map_or("-".to_owned(), |waiting| waiting.to_string()),
        seen.map_or(String::new(), |seen| Span(seen).to_string()),
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

/// Returns how wide each column is. Those with names share what the others leave.
fn widths(rows: &[Cells], width: Option<usize>) -> [usize; HEADS.len()] {
    let mut widths = [0; HEADS.len()];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let Some(width) = width else { return widths };
    let used = widths.iter().filter(|width| **width > 0).count();
    let all = widths.iter().sum::<usize>() + GAP * used.saturating_sub(1);
    for _ in width..all {
        let [one, other] = NAMES;
        let longer = if widths[one] > widths[other] { one } else { other };
        widths[longer] = widths[longer].saturating_sub(1).max(8);
    }
    widths
}

fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return format!("{cell:width$}");
    }
    let head: String = cell.chars().take(width.saturating_sub(1)).collect();
    head + "…"
}

/// Counts those that are held.
fn held<'a>(all: impl Iterator<Item = &'a &'a ListedLock>) -> String {
    let held = all.filter(|lock| matches!(lock.state(), LockState::Held(_)));
    let (mut locks, mut permits) = (0, 0);
    held.for_each(|lock| *if lock.slot().is_some() { &mut permits } else { &mut locks } += 1);
    counted(locks, permits)
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

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut heads = HEADS.map(str::to_owned);
        let rows: Vec<Cells> = self.rows.iter().map(|(lock, seen)| cells(lock, *seen)).collect();
        for column in OPTIONAL {
            if rows.iter().all(|row| row[column].is_empty()) {
                heads[column].clear();
            }
        }
        let rows: Vec<Cells> = std::iter::once(heads).chain(rows).collect();
        if rows.len() > 1 {
            let widths = widths(&rows, self.width);
            for row in &rows {
                let cells = row.iter().zip(widths).filter(|(_, width)| *width > 0);
                let line: Vec<String> = cells.map(|(cell, width)| cut(cell, width)).collect();
                writeln!(f, "{}", line.join(&" ".repeat(GAP)).trim_end())?;
            }
            writeln!(f)?;
        }
        let locks = || self.rows.iter().map(|(lock, _)| lock);
        if locks().any(|lock| !lock.is_ours()) {
            writeln!(f, "?: not a token of quorumlock: another client's lock, or no lock at all")?;
        }
        let held = held(locks());
        match self.prefix {
            "" => writeln!(f, "{held}"),
            prefix => writeln!(f, "{held} under {:?}", Escaped(prefix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: &str, holder: &str) -> Cells {
        [resource, "", "held", holder, "9.4 s", "3 of 3", "0", ""].map(str::to_owned)
    }

    #[test]
    fn names_share_what_the_other_columns_leave() {
        let (short, long) = ("r".repeat(9), "r".repeat(200));
        for (resource, holder) in [(&short, &long), (&long, &short), (&long, &long)] {
            let widths = widths(&[row(resource, holder)], Some(80));
            assert_eq!(widths.iter().sum::<usize>() + 5 * GAP, 80, "{widths:?}");
            assert!(widths[0] >= 9 && widths[3] >= 9, "{widths:?}");
        }
        assert_eq!(widths(&[row(&long, &long)], None)[0], 200);
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

    #[test]
    fn a_name_that_is_cut_shows_it() {
        assert_eq!((&*cut("orders", 6), &*cut("orders", 5)), ("orders", "orde…"));
    }
}
