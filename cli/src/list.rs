//! `quorumlock list`: shows every lock that is held.

pub(crate) mod table;

use crate::args::{ListArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::inspect::{held_on, with_readers, word};
use crate::output::{Output, millis};
use crate::settings;
use crate::style::Style;
use quorumlock::error::NodeProblem;
use quorumlock::{ListError, ListedLock, PossibleDeadlock, Redlock};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// What one look at the masters has found.
pub(crate) struct Found {
    /// In the order of their names.
    pub(crate) locks: Vec<ListedLock>,
    pub(crate) problems: Vec<NodeProblem>,
    /// The reason why locks may be missing.
    pub(crate) error: Option<ListError>,
    pub(crate) deadlocks: Vec<PossibleDeadlock>,
}

impl Found {
    /// Returns the possible deadlock that a lock is part of. A permit is part of none, though its semaphore may
    /// have the name of a lock that is.
    fn deadlock_of(&self, lock: &ListedLock) -> Option<&PossibleDeadlock> {
        let has_it =
            |found: &&PossibleDeadlock| found.resources().any(|name| name == lock.resource());
        self.deadlocks.iter().find(has_it).filter(|_| lock.slot().is_none())
    }
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
        value["possible_deadlock"] = json!(found.deadlock_of(lock).map(resources));
        value
    });
    let rows: Vec<_> = found.locks.iter().map(|lock| (lock, None)).collect();
    let lines = table::lines(&rows, Style::of_stdout(output.color));
    let footer = table::footer(&rows, &found.deadlocks, &args.prefix, found.error.is_none());
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
    locks.sort_by(in_order);
    let deadlocks = PossibleDeadlock::among(&locks);
    Found { locks, problems: list.problems().to_vec(), error, deadlocks }
}

/// Sorts by name; permits of one semaphore by slot, behind the lock of that name.
pub(crate) fn in_order(left: &ListedLock, right: &ListedLock) -> Ordering {
    (left.resource(), left.slot()).cmp(&(right.resource(), right.slot()))
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
