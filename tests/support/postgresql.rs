//! A PostgreSQL server that belongs to the test, reached by a socket in its folder.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};
use tempfile::TempDir;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
const USER: &str = "fenced";

pub(crate) struct Postgresql {
    process: Child,
    programs: PathBuf,
    folder: TempDir,
}

impl Postgresql {
    /// Starts one. If PostgreSQL is missing, returns `None` and says so; if `CI` is set, that is a
    /// failure.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(env::var_os("CI").is_none(), "CI is set, and there is no PostgreSQL");
            eprintln!("no PostgreSQL here: what needs it was not tested");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("fence-").tempdir().unwrap();
        if let Some((user, group)) = user() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let mut initdb = command(&programs, "initdb", folder.path());
        initdb.args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"]);
        let output = initdb.args(["--username", USER, "-D", "data"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let process = spawn(&programs, folder.path());
        let server = Self { process, programs, folder };
        server.await_ready();
        Some(server)
    }

    /// Ends it without a checkpoint, as a crash does, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.end();
        self.process = spawn(&self.programs, self.folder.path());
        self.await_ready();
    }

    /// Returns a form that both crates accept.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://{USER}@{folder}/postgres")
    }

    /// Returns psql without headings and alignment, for a session on this server.
    pub(crate) fn psql(&self) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["--no-psqlrc", "-A", "-t", "-U", USER, "-d", "postgres", "-h"]);
        psql.arg(self.folder.path());
        psql
    }

    fn await_ready(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.psql().args(["-c", "SELECT 1"]).output().unwrap().status.success() {
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "PostgreSQL does not answer:\n{}", log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn end(&mut self) {
        // At once, including its child processes.
        let _already_gone = kill_process(Pid::from_child(&self.process), Signal::QUIT);
        let _already_reaped = self.process.wait();
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        self.end();
    }
}

/// Finds the folder of its programs: on PATH, or where Debian installs them.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let versions = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let has = |folder: &PathBuf| {
        ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).exists())
    };
    versions.chain(env::split_paths(&path)).find(has)
}

/// Returns the user that PostgreSQL's package has created, if this process is root: PostgreSQL
/// refuses to run as root.
fn user() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| -> u32 {
        let output = Command::new("id").args(arguments).output().expect("id");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
    };
    (id(&["-u"]) == 0).then(|| (id(&["-u", "postgres"]), id(&["-g", "postgres"])))
}

fn command(programs: &Path, program: &str, folder: &Path) -> Command {
    let mut command = Command::new(programs.join(program));
    command.current_dir(folder).stdin(Stdio::null());
    if let Some((user, group)) = user() {
        command.uid(user).gid(group);
    }
    command
}

fn spawn(programs: &Path, folder: &Path) -> Child {
    let log = File::create(folder.join("log")).unwrap();
    let mut postgres = command(programs, "postgres", folder);
    postgres.args(["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off"]);
    // A test that would wait for ever fails.
    postgres.args(["-c", "lock_timeout=30s", "-k"]).arg(folder);
    postgres.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}
