//! `quorumlock watch`: the list again and again; a table on a terminal, otherwise what changes.

use crate::args::{ListArgs, MastersArgs, WatchArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::inspect::{is_among, name, word};
use crate::list::{self, Found};
use crate::output::{Output, json_line, millis, since_1970};
use crate::style::{Screen, Style};
use quorumlock::report::{OneLine, Span};
use quorumlock::{Holder, ListError, ListedLock, LockState, PossibleDeadlock};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};
use tokio::time::MissedTickBehavior;

/// To the first place of the screen, clear the line, and clear the rest of the screen. What is drawn over
/// neither flickers nor goes to the terminal's history.
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// The heads, a lock, and how many more there are, however low the screen is.
const LEAST: usize = 3;

/// The longest pause between two looks at whether stdout has a reader and how large its terminal is.
const READER: Duration = Duration::from_secs(1);

/// Looks at the masters until it is ended, or until no program reads its output.
pub(crate) async fn watch(args: WatchArgs, masters: MastersArgs, output: Output) -> Result {
    let redlock = list::connect(masters).await?;
    let is_drawn = !output.json && Screen::of_stdout().is_some();
    let mut watched = Watched::default();
    let parts = args.interval.as_millis().div_ceil(READER.as_millis());
    let parts = u32::try_from(parts).unwrap_or(u32::MAX);
    let mut ticks = tokio::time::interval(args.interval / parts);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for part in (0..parts).cycle() {
        ticks.tick().await;
        if !Output::has_reader() {
            break;
        }
        let mut news = Vec::new();
        if part == 0 {
            let found = list::find(&redlock, &args.list.prefix, args.list.all).await;
            if let Some(error @ (ListError::InvalidSetting(_) | ListError::WrongContext(_))) =
                found.error
            {
                return Err(error.into());
            }
            if !is_drawn {
                watched.warn(&found, output);
            }
            news = watched.take(found);
        }
        let text = match Screen::of_stdout().filter(|_| is_drawn) {
            Some(screen) => watched.draw(&args.list, screen, Style::of_stdout(output.color)),
            None => {
                let shown = |(json, text): News| match output.json {
                    true => format!("{}\n", json_line(&json)),
                    false => format!("{} {text}\n", time()),
                };
                news.into_iter().map(shown).collect()
            }
        };
        if !Output::is_read(&text)? {
            break;
        }
    }
    Ok(Exit::SUCCESS)
}

/// What is held, in the order of the list, and since when it was seen.
#[derive(Default)]
struct Watched {
    held: BTreeMap<(String, Option<usize>), (ListedLock, Instant)>,
    /// What else the last look has found.
    last: Found,
    /// The deadlocks that this look and the one before have found: one look may see a hand-over in parts.
    deadlocks: Vec<PossibleDeadlock>,
}

/// What is new at a look: in JSON, and as text.
type News = (Value, String);

impl Watched {
    /// Takes in what was found; returns what is different now.
    fn take(&mut self, mut found: Found) -> Vec<News> {
        let now = Instant::now();
        let locks = std::mem::take(&mut found.locks);
        let last = std::mem::replace(&mut self.last, found);
        let mut before = std::mem::take(&mut self.held);
        let mut changes = Vec::new();
        for lock in locks {
            let name = (lock.resource().to_owned(), lock.slot());
            let known = before.remove(&name);
            let state = word(lock.state());
            // What no quorum says is no news of a lock that was held.
            if state == "unclear" && known.as_ref().is_some_and(|(old, _)| old.is_held()) {
                self.held.extend(known.map(|known| (name, known)));
                continue;
            }
            let is_same = |(old, _): &&(ListedLock, _)| old.holder().same_hold_as(lock.holder());
            let same = known.as_ref().filter(is_same);
            let what = match same.map(|(old, _)| old) {
                None if known.is_some() => Some("passed_on"),
                None => Some(state),
                Some(old) if word(old.state()) != state => Some(state),
                Some(old) if !same_readers(old.holder(), lock.holder()) => Some("readers"),
                Some(old) => (old.waiting() != lock.waiting()).then_some("waiting"),
            };
            let seen = known.as_ref().map(|(_, since)| now - *since);
            changes.extend(what.map(|what| change(what, &lock, seen)));
            let since = same.map_or(now, |(_, since)| *since);
            self.held.insert(name, (lock, since));
        }
        if self.last.error.is_some() {
            self.held.append(&mut before);
        }
        changes.extend(
            before.values().map(|(lock, since)| change("released", lock, Some(now - *since))),
        );
        let lasts = |deadlock: &&PossibleDeadlock| last.deadlocks.contains(deadlock);
        let lasting = self.last.deadlocks.iter().filter(lasts).cloned().collect();
        let reported = std::mem::replace(&mut self.deadlocks, lasting);
        let new = self.deadlocks.iter().filter(|deadlock| !reported.contains(deadlock));
        changes.extend(new.map(deadlock));
        changes
    }

    /// Prints the problems that are new, and says when there are none any more.
    fn warn(&self, found: &Found, output: Output) {
        let problems = &found.problems;
        for problem in problems {
            if !self.last.problems.iter().any(|known| known.node == problem.node) {
                output.warn(&list::unused(problem));
            }
        }
        for known in &self.last.problems {
            if !problems.iter().any(|problem| problem.node == known.node) {
                output.note(&format!("{} is used again", known.node));
            }
        }
        if found.error.is_some() && problems.len() > self.last.problems.len() {
            output.warn("too few masters can be scanned: what follows may lack locks");
        }
    }

    /// Draws no more than the terminal shows at once, since whatever scrolls is not seen.
    fn draw(&self, args: &ListArgs, screen: Screen, style: Style) -> String {
        let rows = self.held.values().map(|(lock, since)| (lock, Some(since.elapsed())));
        let rows: Vec<_> = rows.collect();
        let footer = list::footer(&rows, &self.deadlocks, &args.prefix, self.last.error.is_none());
        let problems =
            self.last.problems.iter().map(|problem| OneLine(list::unused(problem)).to_string());
        let below = footer.into_iter().chain(problems).collect::<Vec<_>>().join("\n");
        let below = textwrap::fill(&below, screen.columns);
        let below: Vec<String> = below.lines().map(str::to_owned).collect();
        // The time, two empty lines, and the one of the cursor.
        let taken = below.len().saturating_add(4);
        let mut lines = list::table(&rows, style);
        let room = screen.rows.saturating_sub(taken).max(LEAST);
        if lines.len() > room {
            let rest = lines.split_off(room - 1).len();
            let longer = if args.prefix.is_empty() { "" } else { "longer " };
            lines.push(format!("… and {rest} more: name a {longer}prefix"));
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let above = [format!("{}  (Ctrl-C ends)", time()), String::new()];
        let all = above.into_iter().chain(lines).chain(below);
        let drawn: String = all.map(|line| format!("{CLEAR_LINE}{line}\n")).collect();
        format!("{HOME}{drawn}{CLEAR_BELOW}")
    }
}

fn deadlock(found: &PossibleDeadlock) -> News {
    let json = json!({
        "event": "possible_deadlock",
        "at_ms": millis(since_1970()),
        "resources": list::resources(found),
    });
    (json, found.to_string())
}

/// Returns a change of a lock from one look to the next. `seen` is for how long it was seen, if it was.
fn change(what: &'static str, lock: &ListedLock, seen: Option<Duration>) -> News {
    let mut json = list::to_json(lock);
    json["event"] = what.into();
    json["at_ms"] = millis(since_1970()).into();
    json["seen_ms"] = json!(seen.map(millis));
    let seen = seen.map(|seen| format!(", seen for {}", Span(seen))).unwrap_or_default();
    let text = match (what, lock.state()) {
        ("released", _) => format!("{} is free{seen}", name(lock.inspection())),
        ("waiting", LockState::Held(_)) if lock.waiting() == Some(0) => {
            format!("{lock}, none waiting")
        }
        _ => lock.to_string(),
    };
    (json, text)
}

/// Checks whether both have the same readers.
fn same_readers(left: &Holder, right: &Holder) -> bool {
    left.readers().len() == right.readers().len()
        && left.readers().iter().all(|reader| is_among(reader, right))
}

fn time() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
