//! Processes that tests start out of their own binary: clients of the masters, which say what they do.

use crate::support::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The addresses of the masters, for a process that a test has started.
const MASTERS: &str = "PROCESS_TEST_MASTERS";
/// What a process says follows this.
pub(crate) const SAYS: &str = "process says: ";

/// Returns the addresses of the masters; `None` if no test has started this process.
pub(crate) fn masters() -> Option<Vec<String>> {
    let masters = std::env::var(MASTERS).ok()?;
    Some(masters.split(' ').map(str::to_owned).collect())
}

pub(crate) fn say(words: &str) {
    eprintln!("{SAYS}{words}");
}

/// Starts a process that runs the ignored `test`.
pub(crate) fn start(test: &str, masters: &Masters) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(MASTERS, masters.urls().join(" "))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Processes, and what all of them say. They are killed on drop.
pub(crate) struct Processes {
    pub(crate) children: Vec<Child>,
    lines: Receiver<(usize, String)>,
}

impl Processes {
    /// Starts so many, and waits until they are connected.
    pub(crate) fn start(test: &str, masters: &Masters, count: usize) -> Self {
        let (sender, lines) = channel();
        let children = (0..count).map(|process| start_one(test, masters, process, &sender));
        let processes = Self { children: children.collect(), lines };
        for _ in 0..count {
            assert_eq!(processes.next().1, "connected");
        }
        processes
    }

    /// Returns what a process says next, and which one.
    pub(crate) fn next(&self) -> (usize, String) {
        self.lines.recv_timeout(60 * SECOND).expect("a process that says something")
    }

    pub(crate) fn tell(&mut self, process: usize, line: &str) {
        let input = self.children[process].stdin.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

fn start_one(
    test: &str,
    masters: &Masters,
    process: usize,
    sender: &Sender<(usize, String)>,
) -> Child {
    let mut child = start(test, masters);
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let sender = sender.clone();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let words = line.strip_prefix(SAYS).unwrap_or(&line).to_owned();
            if sender.send((process, words)).is_err() {
                return;
            }
        }
    });
    child
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _already_gone = child.kill();
            let _already_reaped = child.wait();
        }
    }
}
