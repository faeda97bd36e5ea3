//! The table of locks, which fits a terminal.

use super::state;
use quorumlock::report::Span;
use quorumlock::{ListedLock, LockState};
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

const HEADS: [&str; 7] =
    ["RESOURCE", "STATE", "HOLDER", "EXPIRES IN", "MASTERS", "WAITING", "SEEN FOR"];

/// The columns with names of any length, which may be cut.
const NAMES: [usize; 2] = [0, 2];

const GAP: usize = 2;

type Cells = [String; HEADS.len()];

fn cells(lock: &ListedLock, seen: Option<Duration>) -> Cells {
    let holder = lock.holder();
    let mark = if lock.is_recognized() { "" } else { "?" };
    let remaining = holder.remaining().map_or("never".to_owned(), |it| Span(it).to_string());
    let masters = lock.inspection().nodes().len();
    [
        plain(lock.resource()),
        format!("{}{mark}", state(lock)),
        holder.label().map_or("-".to_owned(), plain),
        remaining,
        format!("{} of {masters}", lock.held_on()),
        lock.waiting().map_or("-".to_owned(), |waiting| waiting.to_string()),
        seen.map_or(String::new(), |seen| Span(seen).to_string()),
    ]
}

/// Escapes what would move the cursor of a terminal.
fn plain(name: &str) -> String {
    let escaped = |letter: char| match letter.is_control() {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    };
    name.chars().map(escaped).collect()
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

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut heads = HEADS.map(str::to_owned);
        if self.rows.iter().all(|(_, seen)| seen.is_none()) {
            heads[6].clear();
        }
        let rows = self.rows.iter().map(|(lock, seen)| cells(lock, *seen));
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
        if locks().any(|lock| !lock.is_recognized()) {
            writeln!(f, "?: not a token of quorumlock: another client's lock, or no lock at all")?;
        }
        let count = locks().filter(|lock| matches!(lock.state(), LockState::Held(_))).count();
        let held = match count {
            0 => "no lock is held".to_owned(),
            1 => "1 lock is held".to_owned(),
            count => format!("{count} locks are held"),
        };
        match self.prefix {
            "" => writeln!(f, "{held}"),
            prefix => writeln!(f, "{held} under \"{}\"", plain(prefix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resource: &str, holder: &str) -> Cells {
        [resource, "held", holder, "9.4 s", "3 of 3", "0", ""].map(str::to_owned)
    }

    #[test]
    fn names_share_what_the_other_columns_leave() {
        let (short, long) = ("r".repeat(9), "r".repeat(200));
        for (resource, holder) in [(&short, &long), (&long, &short), (&long, &long)] {
            let widths = widths(&[row(resource, holder)], Some(80));
            assert_eq!(widths.iter().sum::<usize>() + 5 * GAP, 80, "{widths:?}");
            assert!(widths[0] >= 9 && widths[2] >= 9, "{widths:?}");
        }
        assert_eq!(widths(&[row(&long, &long)], None)[0], 200);
    }

    #[test]
    fn a_name_that_is_cut_shows_it() {
        assert_eq!((&*cut("orders", 6), &*cut("orders", 5)), ("orders", "orde…"));
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
    }
}
