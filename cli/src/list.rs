//! `quorumlock list`: shows every lock that is held.

use crate::args::{ListArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::inspect::{held_on, holds, with_readers, word};
use crate::output::{Output, millis};
use crate::settings;
use crate::style::{self, Cell, Fit, Paint, Style};
use quorumlock::error::NodeProblem;
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, ListError, ListedLock, PossibleDeadlock, Redlock};
use serde_json::{Value, json};
use std::time::Duration;

/// What one look at the masters has found.
#[derive(Default)]
pub(crate) struct Found {
    /// In the order of their names.
    pub(crate) locks: Vec<ListedLock>,
    pub(crate) problems: Vec<NodeProblem>,
    /// The reason why locks may be missing.
    pub(crate) error: Option<ListError>,
    pub(crate) deadlocks: Vec<PossibleDeadlock>,
}

/// Prints a table, or a JSON object for each lock.
pub(crate) async fn list(args: ListArgs, masters: MastersArgs, output: Output) -> Result {
    let redlock = connect(masters).await?;
    let found = find(&redlock, &args.prefix, args.all).await;
    if found.error.is_none() {
        found.problems.iter().for_each(|problem| output.warn(&unused(problem)));
    }
    let values = found.locks.iter().map(|lock| {
        let mut value = to_json(lock);
        let names_it =
            |found: &&PossibleDeadlock| found.resources().any(|name| name == lock.resource());
        // A permit is part of none, though its semaphore may have the name of a lock that is.
        let deadlock = found.deadlocks.iter().find(names_it).filter(|_| lock.slot().is_none());
        value["possible_deadlock"] = json!(deadlock.map(resources));
        value
    });
    let rows: Vec<_> = found.locks.iter().map(|lock| (lock, None)).collect();
    let lines = table(&rows, Style::of_stdout(output.color));
    let footer = footer(&rows, &found.deadlocks, &args.prefix, found.error.is_none());
    let text = format!("{}\n\n{}", lines.join("\n"), footer.join("\n"));
    output.results(values, text.trim_start(), Exit::SUCCESS)?;
    found.error.map_or(Ok(Exit::SUCCESS), |error| Err(error.into()))
}

/// Says why a master is not used.
pub(crate) fn unused(NodeProblem { node, problem, .. }: &NodeProblem) -> String {
    format!("{node} is not used: {problem}")
}

/// Connects without a word about unfit masters: the list has problems of its own.
pub(crate) async fn connect(masters: MastersArgs) -> Result<Redlock> {
    let builder = Redlock::builder().config(settings::settings(masters)?);
    Ok(builder.inspect_only(true).connect().await?)
}

/// Reads the whole list, to sort it.
pub(crate) async fn find(redlock: &Redlock, prefix: &str, include_free: bool) -> Found {
    let mut list = redlock.list(prefix);
    if include_free {
        list = list.include_free();
    }
    let (mut locks, mut error) = (Vec::new(), None);
    while let Some(lock) = list.next().await {
        match lock {
            Ok(lock) => locks.push(lock),
            Err(failed) => error = Some(failed),
        }
    }
    // Permits of one semaphore by slot, behind the lock of that name.
    locks.sort_by(|left, right| {
        (left.resource(), left.slot()).cmp(&(right.resource(), right.slot()))
    });
    let deadlocks = PossibleDeadlock::among(&locks);
    Found { locks, problems: list.problems().to_vec(), error, deadlocks }
}

/// Returns the locks of a possible deadlock.
pub(crate) fn resources(deadlock: &PossibleDeadlock) -> Value {
    deadlock.resources().collect()
}

pub(crate) fn to_json(lock: &ListedLock) -> Value {
    let holder = lock.holder();
    let value = json!({
        "resource": lock.resource(),
        "slot": lock.slot(),
        "key": lock.inspection().key(),
        "state": word(lock.state()),
        "holder": holder.label(),
        "remaining_ms": holder.remaining().map(millis),
        "held_on": held_on(lock.inspection(), holder),
        "waiting": lock.waiting(),
        "recognized": lock.is_ours(),
    });
    with_readers(value, holder)
}

/// A lock, and for how long it has been seen.
pub(crate) type Row<'a> = (&'a ListedLock, Option<Duration>);

const HEADS: [&str; 8] =
    ["RESOURCE", "SLOT", "STATE", "HOLDER", "EXPIRES IN", "MASTERS", "WAITING", "SEEN FOR"];

fn cells(lock: &ListedLock, seen: Option<Duration>) -> [Cell; HEADS.len()] {
    let (holder, state) = (lock.holder(), word(lock.state()));
    // A value that is no token of quorumlock has a mark.
    let mark = if lock.is_ours() { "" } else { "?" };
    let marked = Cell::new(format_args!("{state}{mark}"));
    let state = match (state, lock.is_ours()) {
        ("held" | "read", true) => marked.painted(Paint::Good),
        ("unclear", _) | (_, false) => marked.painted(Paint::Warning),
        _ => marked,
    };
    let remaining = holder.remaining().map_or("never".to_owned(), |left| Span(left).to_string());
    let masters = lock.inspection().nodes().len();
    let slot = lock.slot().map_or(String::new(), |slot| slot.to_string());
    // Counted in looks, which are seconds apart.
    let seen = seen.map(|seen| Span(Duration::from_secs(seen.as_secs())).to_string());
    [
        Cell::new(Escaped(lock.resource())),
        Cell::new(slot),
        state,
        Cell::new(names(holder)),
        Cell::new(remaining),
        Cell::new(format_args!("{} of {masters}", lock.held_on())),
        Cell::or_dash(lock.waiting()),
        Cell::new(seen.unwrap_or_default()),
    ]
}

/// Returns the label of the holder, or those of the readers; a dash for one without a label.
fn names(holder: &Holder) -> String {
    let name =
        |hold: &Holder| hold.label().map_or("-".to_owned(), |label| Escaped(label).to_string());
    let names: Vec<String> = holds(holder).iter().map(name).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
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
pub(crate) fn table(rows: &[Row<'_>], style: Style) -> Vec<String> {
    let rows = rows.iter().map(|(lock, seen)| cells(lock, *seen));
    style::table(HEADS, rows, Fit::Cut, style)
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
