//! `quorumlock watch`: the list again and again; a table on a terminal, otherwise what changes.

use crate::args::{ListArgs, MastersArgs, WatchArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inspect::name;
use crate::list::{self, Found, Table};
use crate::output::{Output, json_line, millis};
use quorumlock::error::NodeProblem;
use quorumlock::report::{OneLine, Span};
use quorumlock::{Holder, ListError, ListedLock, LockState};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime};
use tokio::time::MissedTickBehavior;

/// To the first place of an empty screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Looks at the masters until it is ended, or until no one reads any more.
pub(crate) async fn watch(
    args: WatchArgs,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let redlock = list::connect(masters).await?;
    let is_drawn = !output.json && list::width().is_some();
    let mut watched = Watched::default();
    let mut ticks = tokio::time::interval(args.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let found = list::find(&redlock, &args.list).await;
        if let Some(error @ (ListError::InvalidSetting(_) | ListError::WrongContext(_))) =
            found.error
        {
            return Err(error.into());
        }
        let (problems, is_complete) = (found.problems.clone(), found.error.is_none());
        let changes = watched.take(found);
        let text = if is_drawn {
            watched.draw(&args.list, &problems, is_complete)
        } else {
            watched.warn(problems, is_complete, output);
            let shown = |change: &Change| match output.json {
                true => format!("{}\n", json_line(&change.to_json())),
                false => format!("{}\n", change.to_text()),
            };
            changes.iter().map(shown).collect()
        };
        if !Output::is_read(&text)? {
            return Ok(Exit::Success);
        }
    }
}

/// What is held, and since when it was seen.
#[derive(Default)]
struct Watched {
    held: Vec<(ListedLock, Instant)>,
    problems: Vec<NodeProblem>,
}

/// A change from one look to the next.
struct Change {
    what: &'static str,
    lock: ListedLock,
    /// How long it was seen, if it was.
    seen: Option<Duration>,
}

impl Watched {
    /// Takes in what was found; returns what is different now.
    fn take(&mut self, found: Found) -> Vec<Change> {
        let (now, is_complete) = (Instant::now(), found.error.is_none());
        let mut before = std::mem::take(&mut self.held);
        let mut changes = Vec::new();
        for lock in found.locks {
            let is_it = |it: &ListedLock| list::in_order(it, &lock).is_eq();
            let known = before.iter().position(|(it, _)| is_it(it));
            let known = known.map(|place| before.swap_remove(place));
            let change = |what, seen| Change { what, lock: lock.clone(), seen };
            let since = match &known {
                // What no quorum says is no news of a lock that was held.
                Some((old, _)) if old.is_held() && list::state(&lock) == "unclear" => {
                    self.held.extend(known);
                    continue;
                }
                Some((old, since)) if old.holder().same_hold_as(lock.holder()) => {
                    let is_new = list::state(old) != list::state(&lock);
                    let waits = old.waiting() != lock.waiting();
                    let reads = !readers_are(old.holder(), lock.holder());
                    let what = match (is_new, reads) {
                        (true, _) => list::state(&lock),
                        (false, true) => "readers",
                        (false, false) => "waiting",
                    };
                    changes.extend(
                        (is_new || reads || waits).then(|| change(what, Some(now - *since))),
                    );
                    *since
                }
                Some((_, since)) => {
                    changes.push(change("passed_on", Some(now - *since)));
                    now
                }
                None => {
                    changes.push(change(list::state(&lock), None));
                    now
                }
            };
            self.held.push((lock, since));
        }
        for (lock, since) in before {
            if is_complete {
                changes.push(Change { what: "released", lock, seen: Some(now - since) });
            } else {
                self.held.push((lock, since));
            }
        }
        self.held.sort_by(|(one, _), (other, _)| list::in_order(one, other));
        changes
    }

    /// Prints the problems that are new, and says when there are none any more.
    fn warn(&mut self, problems: Vec<NodeProblem>, is_complete: bool, output: Output) {
        for NodeProblem { node, problem, .. } in &problems {
            if !self.problems.iter().any(|known| known.node == *node) {
                output.warn(&format!("{node} is not used: {problem}"));
            }
        }
        for known in &self.problems {
            if !problems.iter().any(|problem| problem.node == known.node) {
                output.note(&format!("{} is used again", known.node));
            }
        }
        if !is_complete && problems.len() > self.problems.len() {
            output.warn("too few masters can be scanned: what follows may lack locks");
        }
        self.problems = problems;
    }

    fn draw(&self, args: &ListArgs, problems: &[NodeProblem], is_complete: bool) -> String {
        let rows = self.held.iter().map(|(lock, since)| (lock, Some(since.elapsed())));
        let rows: Vec<_> = rows.collect();
        let table = Table { rows: &rows, prefix: args.prefix(), width: list::width() };
        let problems = problems.iter();
        let problems = problems
            .map(|it| format!("{} is not used: {}\n", OneLine(&it.node), OneLine(&it.problem)));
        let lacks = if is_complete { "" } else { "too few masters can be scanned\n" };
        format!(
            "{CLEAR}{}  (Ctrl-C ends)\n\n{table}{lacks}{}",
            time(),
            problems.collect::<String>()
        )
    }
}

impl Change {
    fn to_json(&self) -> Value {
        let mut value = list::to_json(&self.lock);
        value["event"] = self.what.into();
        value["at_ms"] = since_1970().as_millis().try_into().unwrap_or(u64::MAX).into();
        value["seen_ms"] = json!(self.seen.map(millis));
        value
    }

    fn to_text(&self) -> String {
        let Self { what, lock, seen } = self;
        let seen = seen.map(|seen| format!(", seen for {}", Span(seen))).unwrap_or_default();
        match (*what, lock.state()) {
            ("released", _) => {
                format!("{} {} is free{seen}", time(), name(lock.resource(), lock.slot()))
            }
            ("waiting", LockState::Held(_)) if lock.waiting() == Some(0) => {
                format!("{} {lock}, none waiting", time())
            }
            _ => format!("{} {lock}", time()),
        }
    }
}

/// Checks whether both have the same readers.
fn readers_are(one: &Holder, other: &Holder) -> bool {
    let has = |holder: &Holder, reader: &Holder| {
        holder.readers().iter().any(|it| it.same_hold_as(reader))
    };
    one.readers().len() == other.readers().len() && one.readers().iter().all(|it| has(other, it))
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn time() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
