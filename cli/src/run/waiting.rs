//! A report while the lock is waited for: the holder, or the masters that may not vote.
//!
//! A holder is of interest to people, so it is named on a terminal or with `--verbose`; without them
//! no master is asked. An outage is of interest to operators, so it is reported everywhere once it
//! lasts. The report never delays the acquire: it asks seldom, and it writes on
//! another thread, since a terminal can be stopped.

use super::supervise::Work;
use crate::inspect::{holder_to_json, in_queue, waiting};
use crate::output::{Output, millis};
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, Inspection, LockState, NodeInspection, NodeStanding};
use quorumlock::{NodeState, NodeStatus, Redlock, Status};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, spawn_blocking};

/// A client that gets the lock before that has not waited.
const FIRST: Duration = Duration::from_millis(300);

/// The time between two looks. Each costs a command per master and resource.
const AGAIN: Duration = Duration::from_secs(3);

/// The time between two looks at the masters' standing, which this process knows.
const STANDING: Duration = Duration::from_secs(1);

/// An outage that lasts as long is reported without a terminal. A master that restarts takes less.
const OUTAGE: Duration = Duration::from_secs(10);

/// Waits for `acquire` of the locks of `work`, and meanwhile reports what it waits for; also how many are
/// `ahead` of it.
pub(super) async fn beside<A: Future<Output = Result<G, E>>, G, E>(
    acquire: A,
    ahead: impl Fn(&A) -> Option<usize>,
    redlock: &Redlock,
    work: &Work,
) -> A::Output {
    let (all, output) = (&*work.resources.join(", "), work.output);
    let mut acquire = pin!(acquire);
    let ahead_now = Cell::new(None);
    // It is polled before the report is, whichever of them goes on.
    let acquired = poll_fn(|cx| {
        let polled = acquire.as_mut().poll(cx);
        ahead_now.set(ahead(&acquire));
        polled
    });
    let mut outage = Outage::new(all);
    let report = async {
        report(redlock, work, &ahead_now, &mut outage).await;
        // The client is closed, which ends the acquire.
        std::future::pending().await
    };
    let ended = tokio::select! {
        biased;
        ended = acquired => ended,
        ended = report => ended,
    };
    if let Some(news) = outage.end().filter(|_| ended.is_ok()) {
        write(output, news);
    }
    ended
}

/// Writes on another thread, since a terminal can be stopped.
fn write(output: Output, (line, fields): News) -> JoinHandle<()> {
    spawn_blocking(move || output.progress(&line, fields))
}

/// Reports each obstacle until the client is closed; without a person who follows, only an outage.
async fn report(
    redlock: &Redlock,
    work: &Work,
    ahead: &Cell<Option<usize>>,
    outage: &mut Outage<'_>,
) {
    let mut shown: Option<Obstacle> = None;
    let is_followed = work.output.is_followed();
    let (mut pause, again) = if is_followed { (FIRST, AGAIN) } else { (STANDING, STANDING) };
    loop {
        tokio::time::sleep(pause).await;
        pause = again;
        let Ok(status) = redlock.status().await else { return };
        let mut obstacle = Obstacle::in_status(&status, outage.all);
        if !is_followed {
            if let Some(news) = outage.seen(obstacle, Instant::now()) {
                let _ = write(work.output, news).await;
            }
            continue;
        }
        for resource in work.looked_at() {
            if obstacle.is_some() {
                break;
            }
            let Ok(inspection) = redlock.inspect(resource.as_str()).await else { return };
            obstacle = Obstacle::in_inspection(&inspection, work.is_shared, ahead.get());
        }
        // A free lock is about to be acquired, by this process or by another.
        let Some(obstacle) = obstacle else { continue };
        if shown.is_none_or(|shown| !shown.is(&obstacle)) {
            let _ = write(work.output, (obstacle.line.clone(), obstacle.fields.clone())).await;
        }
        shown = Some(obstacle);
    }
}

/// What a log has to say about an outage: its begin, once it lasts, and its end.
struct Outage<'a> {
    all: &'a str,
    since: Option<Instant>,
    is_reported: bool,
}

type News = (String, Value);

impl<'a> Outage<'a> {
    const fn new(all: &'a str) -> Self {
        Self { all, since: None, is_reported: false }
    }

    /// Returns what there is to report after a look.
    fn seen(&mut self, obstacle: Option<Obstacle>, now: Instant) -> Option<News> {
        let Some(obstacle) = obstacle else {
            self.since = None;
            return self.end();
        };
        let lasts = now.duration_since(*self.since.get_or_insert(now)) >= OUTAGE;
        if !lasts || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        Some((obstacle.line, obstacle.fields))
    }

    /// Returns the end of what was reported.
    fn end(&mut self) -> Option<News> {
        std::mem::take(&mut self.is_reported).then(|| {
            let line = format!("waiting for {:?}: a quorum may vote again", Escaped(self.all));
            (line, json!({ "waiting_for": self.all, "obstacle": null }))
        })
    }
}

/// The reason to wait.
struct Obstacle {
    line: String,
    /// The same for programs.
    fields: Value,
    /// Its other differences from an obstacle of its kind, whatever time has passed: whose hold it is, and how many
    /// are ahead or which masters are missing.
    holder: Option<Holder>,
    others: String,
}

impl Obstacle {
    fn new(what: &str, resource: &str, why: impl Display, others: String) -> Self {
        let line = format!("waiting for {:?}: {why}", Escaped(resource));
        let fields = json!({ "waiting_for": resource, "obstacle": what });
        Self { line, fields, holder: None, others }
    }

    /// Names what is missing at which masters.
    fn no_quorum(all: &str, missing: String) -> Self {
        Self::new("no_quorum", all, format_args!("no quorum: {missing}"), missing.clone())
    }

    fn in_status(status: &Status, all: &str) -> Option<Self> {
        let count = status.count();
        let Some(left) = status.can_acquire_in() else {
            let lacks = |node: &&NodeStatus| node.standing != NodeStanding::Voting;
            let named = |node: &NodeStatus| format!("{} {}", node.node, node.standing.as_str());
            let missing: Vec<_> = status.nodes().iter().filter(lacks).map(named).collect();
            return Some(Self::no_quorum(all, format!("{count} ({})", missing.join(", "))));
        };
        let why = format!("masters are warming up, ready in {} ({count})", Span(left));
        let mut found = Self::new("warming_up", all, why, String::new());
        found.fields["ready_in_ms"] = millis(left).into();
        (!left.is_zero()).then_some(found)
    }

    fn in_inspection(inspection: &Inspection, shared: bool, ahead: Option<usize>) -> Option<Self> {
        let resource = inspection.resource();
        match inspection.state() {
            // Other readers keep no reader out: a writer waits.
            LockState::Held(holder) if shared && holder.is_shared() => {
                Some(Self::new("wanted", resource, "a writer waits for it", String::new()))
            }
            LockState::Held(holder) => {
                let queue = match ahead {
                    Some(_) => in_queue(ahead),
                    // One of them may be this client.
                    None => waiting(inspection.waiting().filter(|all| *all > 1)),
                };
                let why = format_args!("{holder}{queue}");
                let mut found = Self::new("held", resource, why, in_queue(ahead));
                found.fields["holder"] = holder_to_json(holder);
                found.fields["remaining_ms"] = json!(holder.remaining().map(millis));
                found.fields["waiting"] = json!(inspection.waiting());
                found.fields["ahead"] = json!(ahead);
                Some(Self { holder: Some(holder.clone()), ..found })
            }
            LockState::Free => None,
            _ => {
                let silent = |node: &NodeInspection| match &node.state {
                    NodeState::Unknown(answer) => Some(format!("{} {answer}", node.node)),
                    _ => None,
                };
                let silent: Vec<_> = inspection.nodes().iter().filter_map(silent).collect();
                // Else several clients compete for it at this moment.
                (!silent.is_empty()).then(|| Self::no_quorum(resource, silent.join(", ")))
            }
        }
    }

    /// Checks whether both are the same obstacle, whatever time has passed.
    fn is(&self, other: &Self) -> bool {
        let same_holder = match (&self.holder, &other.holder) {
            (Some(holder), Some(other)) => holder.same_hold_as(other),
            (holder, other) => holder.is_none() && other.is_none(),
        };
        same_holder
            && self.fields["obstacle"] == other.fields["obstacle"]
            && self.others == other.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays looks, a second apart, and returns what is reported, each with its second.
    fn reported(looks: impl IntoIterator<Item = bool>) -> (Vec<(u64, String)>, Option<News>) {
        let mut outage = Outage::new("r");
        let down = || Obstacle::no_quorum("r", "all down".to_owned());
        let (began, mut lines) = (Instant::now(), Vec::new());
        for (second, is_down) in (0..).zip(looks) {
            let now = began + Duration::from_secs(second);
            if let Some((line, fields)) = outage.seen(is_down.then(down), now) {
                assert_eq!(fields["waiting_for"], "r");
                assert_eq!(fields["obstacle"].is_null(), !is_down, "{fields}");
                lines.push((second, line));
            }
        }
        (lines, outage.end())
    }

    #[test]
    fn an_outage_that_lasts_is_reported_once_and_so_is_its_end() {
        let begin = "waiting for \"r\": no quorum: all down".to_owned();
        let end = "waiting for \"r\": a quorum may vote again".to_owned();
        let lasting = [true; 31];
        let twice = lasting.into_iter().chain([false, false]).chain(lasting);
        let (lines, acquired) = reported(twice);
        let expected = [(10, begin.clone()), (31, end.clone()), (43, begin)];
        assert_eq!(lines, expected);
        // The lock was acquired before a look has found a quorum.
        assert_eq!(acquired.map(|(line, _)| line), Some(end));
    }

    #[test]
    fn short_outages_are_no_news_however_many_there_are() {
        let short = [[true; 10].as_slice(), &[false]].concat();
        assert_eq!(reported(short.repeat(5)), (vec![], None));
    }
}
