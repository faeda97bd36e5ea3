//! A PostgreSQL server owned by the test, reached by a socket in its directory, and sessions of
//! psql.

use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);
const USER: &str = "fenced";

/// A server with its own cluster; ended on drop.
pub(crate) struct Postgresql {
    process: Child,
    directory: TempDir,
}

/// A psql process, driven statement by statement.
pub(crate) struct Session {
    process: Child,
    statements: ChildStdin,
    answers: BufReader<PipeReader>,
}

/// Finds the folder of initdb and postgres: on PATH, or where Debian installs them.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let versions = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let mut folders = versions.chain(env::split_paths(&path));
    folders.find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// Returns the user that PostgreSQL's package has created, if this process is root: PostgreSQL
/// refuses to run as root.
fn user() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| -> u32 {
        let output = Command::new("id").args(arguments).output().expect("id");
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        text.parse().unwrap_or_else(|_| panic!("id {arguments:?}: {text:?}"))
    };
    (id(&["-u"]) == 0).then(|| (id(&["-u", "postgres"]), id(&["-g", "postgres"])))
}

impl Postgresql {
    /// Starts one. If PostgreSQL is missing, returns `None` and prints a line that says so; if `CI`
    /// is set, that is a failure.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(env::var_os("CI").is_none(), "CI is set, and there is no PostgreSQL");
            eprintln!("no PostgreSQL here: the SQL of the documents was not tested on it");
            return None;
        };
        let directory = tempfile::Builder::new().prefix("quorumlock-").tempdir().unwrap();
        let user = user();
        if let Some((user, group)) = user {
            chown(directory.path(), Some(user), Some(group)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(directory.path()).stdin(Stdio::null());
            if let Some((user, group)) = user {
                command.uid(user).gid(group);
            }
            command
        };
        let data = directory.path().join("data");
        let mut initdb = command("initdb");
        initdb.args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"]);
        let output = initdb.args(["--username", USER]).arg("-D").arg(&data).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

        let log = File::create(directory.path().join("log")).unwrap();
        let mut postgres = command("postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(directory.path());
        postgres.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        let process = postgres.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        let server = Self { process, directory };
        server.await_ready();
        Some(server)
    }

    fn await_ready(&self) {
        let until = Instant::now() + PATIENCE;
        while !psql(self.path()).args(["-c", "SELECT 1"]).output().unwrap().status.success() {
            let log = || fs::read_to_string(self.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "PostgreSQL does not answer:\n{}", log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn session(&self) -> Session {
        let (answers, both) = std::io::pipe().unwrap();
        let mut command = psql(self.path());
        command.stdin(Stdio::piped()).stdout(both.try_clone().unwrap()).stderr(both);
        let mut process = command.spawn().unwrap();
        let statements = process.stdin.take().unwrap();
        Session { process, statements, answers: BufReader::new(answers) }
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        // At once, including its child processes.
        let _already_gone = kill_process(Pid::from_child(&self.process), Signal::QUIT);
        let _already_reaped = self.process.wait();
    }
}

/// Runs psql without headings and alignment, in a server's directory.
fn psql(directory: &Path) -> Command {
    let mut command = Command::new("psql");
    command.args(["--no-psqlrc", "-A", "-t", "-U", USER, "-d", "postgres", "-h"]).arg(directory);
    command
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
