//! The bench's side of a worker.

use super::{ARGUMENT, READY};
use crate::support::server::Server;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Bound on the time for a worker to connect, or to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Killed on drop, whatever it does at that moment.
pub(crate) struct Worker {
    process: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// The reason why a worker gave no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failed {
    /// It did not answer in time.
    Hangs(Duration),
    /// It has ended.
    Dies,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hangs(within) => write!(f, "hangs (> {:.0} s)", within.as_secs_f64()),
            Self::Dies => f.write_str("panics"),
        }
    }
}

impl Worker {
    /// Starts a worker. Returns once it has connected and held a lock.
    pub(crate) fn start(contender: &str, masters: &[Server]) -> Result<Self, Failed> {
        let program = std::env::current_exe().expect("the path of this program");
        Self::start_from(&program, contender, masters)
    }

    /// Does the same with another build of this bench.
    pub(crate) fn start_from(
        program: &Path,
        contender: &str,
        masters: &[Server],
    ) -> Result<Self, Failed> {
        let mut command = Command::new(program);
        command.args([ARGUMENT, contender]);
        command.args(masters.iter().map(|server| server.addr().to_string()));
        Self::spawn(command)
    }

    /// Starts any program that obeys the same orders.
    pub(crate) fn spawn(mut command: Command) -> Result<Self, Failed> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a worker");
        let orders = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("a standard output"));
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _receiver_has_gone = sender.send(line);
            }
        });
        let worker = Self { process, orders, answers };
        let ready = worker.line(PATIENCE)?;
        assert_eq!(ready, READY);
        Ok(worker)
    }

    pub(super) fn order(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("a worker that has not been ended");
        // A worker that has ended is noticed when it gives no answer.
        let _ended = writeln!(orders, "{order}").and_then(|()| orders.flush());
    }

    pub(super) fn answer(&mut self, within: Duration) -> Result<Vec<f64>, Failed> {
        let line = self.line(within)?;
        let number = |word: &str| word.parse().expect("a number");
        Ok(line.split_whitespace().map(number).collect())
    }

    /// Ends the worker after it has released what it holds.
    pub(crate) fn end(mut self) -> Result<(), Failed> {
        self.orders = None;
        let deadline = Instant::now() + PATIENCE;
        while self.process.try_wait().expect("the state of a worker").is_none() {
            if Instant::now() > deadline {
                return Err(Failed::Hangs(PATIENCE));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn line(&self, within: Duration) -> Result<String, Failed> {
        self.answers.recv_timeout(within).map_err(|failed| match failed {
            RecvTimeoutError::Timeout => Failed::Hangs(within),
            RecvTimeoutError::Disconnected => Failed::Dies,
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}
