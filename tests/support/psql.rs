//! Sessions of psql, several at a time.

use crate::postgresql::{PATIENCE, Postgresql};
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A psql process, driven statement by statement.
pub(crate) struct Session {
    process: Child,
    statements: ChildStdin,
    answers: BufReader<PipeReader>,
}

impl Postgresql {
    pub(crate) fn session(&self) -> Session {
        let (answers, both) = std::io::pipe().unwrap();
        let mut command = self.psql();
        command.stdin(Stdio::piped()).stdout(both.try_clone().unwrap()).stderr(both);
        let mut process = command.spawn().unwrap();
        let statements = process.stdin.take().unwrap();
        Session { process, statements, answers: BufReader::new(answers) }
    }
}

impl Session {
    /// Runs the statement and returns psql's output: rows, the tag of each command, errors.
    pub(crate) fn run(&mut self, statement: &str) -> String {
        self.begin(statement);
        self.end()
    }

    /// Sends the statement; `end` returns the output.
    pub(crate) fn begin(&mut self, statement: &str) {
        writeln!(self.statements, "{statement}\n\\echo told").unwrap();
        self.statements.flush().unwrap();
    }

    pub(crate) fn end(&mut self) -> String {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "psql has ended: {lines:?}");
            match line.trim_end() {
                "told" => return lines.join("\n"),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Waits until another session waits for a lock.
    pub(crate) fn until_one_waits(&mut self) {
        let until = Instant::now() + PATIENCE;
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock';";
        while self.run(waiting) != "1" {
            assert!(Instant::now() < until, "no session waits");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _already_gone = self.process.kill();
        let _already_reaped = self.process.wait();
    }
}
