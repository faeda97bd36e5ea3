//! The command, run as a process with nothing in the environment that could lead it astray.

use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The longest wait of a test, for a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the command without masters.
pub(crate) fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorumlock"));
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("QUORUMLOCK_")) {
        command.env_remove(name);
    }
    // No settings of the person who runs the tests.
    command.env("XDG_CONFIG_HOME", "/no/such/folder");
    command.stdin(Stdio::null());
    command
}

/// Returns the command on masters that have only just started, and may be slow to answer on a busy
/// machine.
pub(crate) fn over<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> Command {
    let mut command = bare();
    let urls: Vec<String> = urls.into_iter().map(|url| url.as_ref().to_owned()).collect();
    command.env("QUORUMLOCK_NODES", urls.join(","));
    command.env("QUORUMLOCK_RESTART_GUARD", "off");
    command.env("QUORUMLOCK_OPERATION_TIMEOUT", "1s");
    command.env("QUORUMLOCK_CONNECT_TIMEOUT", "2s");
    command
}

/// Returns another program, in the environment that the command has over `masters`.
pub(crate) fn beside(masters: &Masters, program: &str) -> Command {
    let like = over(masters.urls());
    let mut command = Command::new(program);
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Returns `quorumlock` with these arguments on all of `masters`.
pub(crate) fn on(masters: &Masters, arguments: &[&str]) -> Command {
    let mut command = over(masters.urls());
    command.args(arguments);
    command
}

/// Returns `quorumlock run options r -- sh -c script`.
pub(crate) fn shell(masters: &Masters, options: &[&str], script: &str) -> Command {
    let mut command = on(masters, &["run"]);
    command.args(options).args(["r", "--", "sh", "-c", script]);
    command
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("printed text");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { code: output.status.code(), stdout, stderr }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Finished {
    command.output().expect("the command to be there").into()
}

/// A running command. It is killed on drop, and so is its own command.
#[derive(Debug)]
pub(crate) struct Running(Option<Child>);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self(Some(child.expect("the command to start")))
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.0.as_ref().expect("one that runs"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("a signal to our own process");
    }

    /// Returns its stdin, if that is a pipe. It is closed when the test waits for the end.
    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        let child = self.0.as_mut().expect("one that runs");
        child.stdin.as_mut().expect("a pipe to it")
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Finished {
        let child = self.0.take().expect("one that runs");
        child.wait_with_output().expect("an end").into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _already_gone = child.kill();
            let _already_reaped = child.wait();
        }
    }
}

/// A script on a terminal of its own, by util-linux.
#[derive(Debug)]
pub(crate) struct Terminal {
    running: Running,
    files: TempDir,
}

impl Terminal {
    pub(crate) fn start(masters: &Masters, script: &str) -> Self {
        let files = tempfile::tempdir().expect("a folder");
        let mut command = beside(masters, "script");
        command.env("SHELL", "/bin/sh").env("TERM", "xterm").env_remove("NO_COLOR");
        command.args(["-qefc", script]).arg(files.path().join("shown")).stdin(Stdio::piped());
        Self { running: Running::start(&mut command), files }
    }

    pub(crate) fn type_in(&mut self, keys: &[u8]) {
        let stdin = self.running.stdin();
        stdin.write_all(keys).and_then(|()| stdin.flush()).expect("a terminal that reads");
    }

    /// Returns all that it has received so far.
    pub(crate) fn shown(&self) -> String {
        fs::read_to_string(self.files.path().join("shown")).unwrap_or_default()
    }
}

/// Returns a process id that a script has written into a file, once it has.
pub(crate) fn pid_in(path: &Path) -> Pid {
    let read = || fs::read_to_string(path).unwrap_or_default();
    eventually_blocking("a process id is written", PATIENCE, || read().ends_with('\n'));
    Pid::from_raw(read().trim().parse().expect("a process id")).expect("a process id above zero")
}

/// Returns whether it runs: neither gone nor a zombie.
pub(crate) fn is_alive(pid: Pid) -> bool {
    test_kill_process(pid).is_ok() && state(pid).is_some_and(|state| state != 'Z')
}

/// Returns whether a signal has stopped it.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    state(pid) == Some('T')
}

/// Returns the state that the kernel shows, after the name in parentheses.
fn state(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    stat.rsplit(')').next()?.trim_start().chars().next()
}

pub(crate) fn eventually_gone(pid: Pid) {
    eventually_blocking("the process is gone", PATIENCE, || !is_alive(pid));
}

/// Returns the nanoseconds since 1970, as `date +%s%N` writes them.
pub(crate) fn now_ns() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_nanos()
}

/// Returns the last time that was written as a whole line; `None` before there is one.
pub(crate) fn last_stamp(path: &Path) -> Option<u128> {
    let text = fs::read_to_string(path).ok()?;
    let whole = &text[..=text.rfind('\n')?];
    whole.lines().rev().find_map(|line| line.parse().ok())
}
