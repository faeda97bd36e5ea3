//! A test of this binary that another test starts as a process of its own, and kills.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};

const STARTED: &str = "QUORUMLOCK_DOCKER_HELPER";

pub(crate) struct Helper {
    pub(crate) process: Child,
    /// What it announced.
    pub(crate) announced: String,
    /// Open, so that it can write more.
    _stderr: Lines<BufReader<ChildStderr>>,
}

impl Helper {
    /// Starts the ignored test of this name, and waits for its line that begins with `announces`.
    pub(crate) fn start(test: &str, announces: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(STARTED, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let after = |line: String| Some(line.split_once(announces)?.1.to_owned());
        let announced = lines.by_ref().map(Result::unwrap).find_map(after);
        let announced = announced.unwrap_or_else(|| panic!("{test} does not announce {announces}"));
        Self { process, announced, _stderr: lines }
    }
}

/// Checks whether this process was started as a helper.
pub(crate) fn is_started() -> bool {
    std::env::var_os(STARTED).is_some()
}
