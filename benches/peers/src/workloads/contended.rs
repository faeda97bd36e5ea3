//! W5, W5t: one lock that many tasks want, and the cost of waiting for it. In W5 a task wants the
//! lock again right after its release; in W5t, after a pause for thinking.

use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::support::server::Server;
use crate::worker::{Contended, Failed, Worker};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(crate) const METRICS: [&str; 6] =
    ["of ideal %", "sections/s", "commands/section", "fewest/most", "sections/task", "hold us"];

/// Pause between a release and the next acquire of the same task.
const THINKING: Duration = Duration::from_millis(10);

/// Number of PINGs to each master.
const PINGS: usize = 40;

/// Time for which releases may still be in flight to the slower masters.
const STRAGGLERS: Duration = Duration::from_millis(30);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rivals {
    pub(crate) processes: usize,
    /// Number of tasks in each of them.
    pub(crate) tasks: usize,
    pub(crate) thinking: bool,
}

impl Rivals {
    pub(crate) fn name(&self) -> String {
        let name = if self.thinking { "W5t" } else { "W5" };
        match self.processes {
            1 => format!("{name}-{}", self.tasks),
            processes => format!("{name}-{processes}x{}", self.tasks),
        }
    }

    fn competitors(&self) -> String {
        match self.processes {
            1 => format!("{} tasks", self.tasks),
            processes => format!("{processes} processes with {} tasks each", self.tasks),
        }
    }

    /// Describes it as the title of a picture.
    pub(crate) fn in_words(&self) -> String {
        let pause = if self.thinking { " and pause 10 ms after each turn" } else { "" };
        format!("{} compete for one lock{pause}", self.competitors())
    }

    pub(crate) fn about(&self) -> String {
        let competitors = self.competitors();
        let pause = if self.thinking { ", 10 ms between release and acquire" } else { "" };
        format!("one resource, {competitors}: 2 ms of work under the lock{pause}")
    }

    /// Plays a turn; returns one figure for each metric.
    pub(crate) fn turn(
        &self,
        contender: &str,
        masters: &[Server],
        plan: &Plan,
    ) -> Result<Vec<f64>, Failed> {
        let start = |_| Worker::start(contender, masters);
        let mut workers: Vec<_> = (0..self.processes).map(start).collect::<Result<_, _>>()?;
        let round_trip = round_trip(masters);
        let warm_up = self.contend(&mut workers, plan.warm_up)?;
        let expected = warm_up.sections.iter().sum::<f64>() / plan.warm_up.as_secs_f64();
        let span = plan.contended_span(self.processes * self.tasks, expected);
        let monitor = Monitor::of_commands(masters);
        let contended = self.contend(&mut workers, span)?;
        std::thread::sleep(STRAGGLERS);
        let [commands] = monitor.counts();
        let commands = commands as f64;
        drop(monitor);
        workers.into_iter().try_for_each(Worker::end)?;

        let sections: f64 = contended.sections.iter().sum();
        let hold = Duration::from_secs_f64(contended.held_us / 1e6 / sections.max(1.0));
        let per_second = sections / span.as_secs_f64();
        let ideal = 1.0 / (hold + round_trip).as_secs_f64();
        let most = contended.sections.iter().copied().fold(0.0, f64::max);
        let fewest = contended.sections.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(vec![
            100.0 * per_second / ideal,
            per_second,
            commands / contended.all,
            fewest / most,
            sections / contended.sections.len() as f64,
            hold.as_secs_f64() * 1e6,
        ])
    }

    /// Runs all workers at once; combines their figures as if they were one.
    fn contend(&self, workers: &mut [Worker], span: Duration) -> Result<Contended, Failed> {
        let pause = if self.thinking { THINKING } else { Duration::ZERO };
        workers.iter_mut().for_each(|worker| worker.order_contend(self.tasks, pause, span));
        let mut whole = Contended { all: 0.0, held_us: 0.0, sections: Vec::new() };
        for worker in workers {
            let part = worker.contended(span)?;
            whole.all += part.all;
            whole.held_us += part.held_us;
            whole.sections.extend(part.sections);
        }
        Ok(whole)
    }
}

/// Returns the median of PINGs to all masters, one after another.
fn round_trip(masters: &[Server]) -> Duration {
    let mut took = Vec::new();
    for server in masters.iter() {
        let mut stream = TcpStream::connect(server.addr()).expect("a connection");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        for _ in 0..PINGS {
            let start = Instant::now();
            stream.write_all(b"PING\r\n").expect("a PING sent");
            stream.read_exact(&mut [0; 7]).expect("a PONG");
            took.push(start.elapsed());
        }
    }
    took.sort_unstable();
    took[took.len() / 2]
}
