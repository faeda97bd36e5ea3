//! W11: one lock that many clients want, each with connections of its own, as if each were a process.
//!
//! Commands are what clients send to acquire, to release and to wait; a script is one. The masters count them
//! (`INFO commandstats`) with those that scripts call, whose part is found by MONITOR, as are the messages
//! that are delivered: in a time of its own, since MONITOR slows the masters.

use crate::contenders;
use crate::field;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::support::server::Server;
use crate::support::witness;
use crate::worker::{Crowded, Failed, RESOURCE, Worker};
use futures::future::join_all;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const METRICS: [&str; 5] = [
    "commands/section",
    "deliveries/section",
    "sections/s",
    "longest/(K x section)",
    "fewest/most",
];

/// What clients send for a lock. Connections and heartbeats have other commands.
const COMMANDS: [&str; 9] =
    ["set", "eval", "evalsha", "delifeq", "delex", "pttl", "publish", "subscribe", "unsubscribe"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gathered {
    pub(crate) clients: usize,
}

impl Gathered {
    pub(crate) fn name(self) -> String {
        format!("W11-{}", self.clients)
    }

    pub(crate) fn about(self) -> String {
        let clients = self.clients;
        format!(
            "one resource, {clients} clients with connections of their own in one process: 2 ms of work \
             under the lock"
        )
    }

    /// Returns how long they are measured: a few turns of each.
    pub(crate) fn span(self, plan: &Plan) -> Duration {
        if self.clients > 100 { 3 * plan.span } else { plan.span }
    }

    /// Plays a turn; returns one figure for each metric.
    pub(crate) fn turn(
        self,
        contender: &str,
        masters: &[Server],
        plan: &Plan,
    ) -> Result<Vec<f64>, Failed> {
        let span = self.span(plan);
        let mut worker = self.worker(contender, masters)?;
        let (crowd, calls) = crowded(&mut worker, span, || Calls::of(masters))?;
        worker.end()?;
        let seen = match calls[1].messages > calls[0].messages {
            true => self.seen(contender, masters, plan)?,
            false => Seen { from_clients: 1.0, deliveries: 0.0 },
        };
        let commands = (calls[1].commands - calls[0].commands) as f64 * seen.from_clients;
        let sections: f64 = crowd.sections.iter().sum();
        let most = crowd.sections.iter().copied().fold(0.0, f64::max);
        let fewest = crowd.sections.iter().copied().fold(f64::INFINITY, f64::min);
        let section = each(span.as_secs_f64(), sections);
        Ok(vec![
            each(commands, sections),
            seen.deliveries,
            sections / span.as_secs_f64(),
            crowd.longest / (self.clients as f64 * section),
            fewest / most,
        ])
    }

    /// Contends once more, with a monitor.
    fn seen(self, contender: &str, masters: &[Server], plan: &Plan) -> Result<Seen, Failed> {
        // Of clients that have just stopped to wait, keys may be left.
        field::empty(masters);
        let monitor = Monitor::of_crowd(masters, &COMMANDS);
        let mut worker = self.worker(contender, masters)?;
        let (crowd, counts) = crowded(&mut worker, self.span(plan), || monitor.counts())?;
        worker.end()?;
        let sections: f64 = crowd.sections.iter().sum();
        let [from_clients, calls, delivered] =
            [0, 1, 2].map(|count| (counts[1][count] - counts[0][count]) as f64);
        if sections == 0.0 {
            // More than the machine can bear: it says nothing of the time without a monitor.
            return Ok(Seen { from_clients: f64::NAN, deliveries: f64::NAN });
        }
        Ok(Seen { from_clients: each(from_clients, calls), deliveries: delivered / sections })
    }

    fn worker(self, contender: &str, masters: &[Server]) -> Result<Worker, Failed> {
        let mut worker = Worker::start(contender, masters)?;
        worker.gather(self.clients)?;
        Ok(worker)
    }
}

/// Has the clients contend; returns also what `count` returns at both ends of the span.
fn crowded<T>(
    worker: &mut Worker,
    span: Duration,
    count: impl Fn() -> T,
) -> Result<(Crowded, [T; 2]), Failed> {
    // Until all wait: at first, many ask at the same time.
    let warm_up = span / 2;
    worker.order_crowd(RESOURCE, warm_up, span);
    let from = Instant::now() + warm_up;
    let at = |moment: Instant| {
        thread::sleep(moment.saturating_duration_since(Instant::now()));
        count()
    };
    let counted = [at(from), at(from + span)];
    Ok((worker.crowded(warm_up + span)?, counted))
}

/// Returns the part of each; not a number without any.
fn each(whole: f64, parts: f64) -> f64 {
    if parts > 0.0 { whole / parts } else { f64::NAN }
}

/// What a monitor has seen.
struct Seen {
    /// Part of the calls that scripts have not made.
    from_clients: f64,
    /// Messages that masters deliver for each section.
    deliveries: f64,
}

/// What all masters together have counted.
struct Calls {
    commands: u64,
    messages: u64,
}

impl Calls {
    fn of(masters: &[Server]) -> Self {
        let calls = contenders::one_thread().block_on(join_all(masters.iter().map(witness::calls)));
        let count = |name: &str| -> u64 { calls.iter().filter_map(|calls| calls.get(name)).sum() };
        Self { commands: COMMANDS.into_iter().map(count).sum(), messages: count("publish") }
    }
}
