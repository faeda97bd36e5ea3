//! A compose project with a name of its own, which is removed when its owner ends, however that
//! happens.

use super::script;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "quorumlock-test-";
const LABEL: &str = "com.docker.compose.project";

/// Waits until its standard input ends, which happens when the test process has ended in any way.
/// Then it takes the project down, and again after a while in case a `compose up` was still under
/// way.
const JANITOR: &str = r#"cat; for _ in 1 2 3; do "$0" "$1"; sleep 3; done"#;

/// A compose project; taken down on drop.
#[derive(Debug)]
pub(crate) struct Project {
    name: String,
    /// In addition to the drop: for a process that is killed.
    janitor: Child,
}

impl Project {
    /// Creates a name that no other test has, with nothing behind it yet.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let started = started(pid).expect("the start time of this process in /proc");
        let name = format!("{PREFIX}{pid}-{started}-{count}");
        // In its own process group, so a signal to the group of the test does not reach it.
        let janitor = Command::new("bash")
            .args(["-c", JANITOR])
            .arg(script("down"))
            .arg(&name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Self { name, janitor: janitor.expect("bash starts") }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Starts the masters of a profile on these ports and returns when all are healthy.
    pub(super) fn up(&self, profile: &str, ports: &[u16], clocks: Option<&Path>) {
        let mut up = Command::new(script("up"));
        up.env("COMPOSE_PROJECT_NAME", &self.name).env("DOCKER_PROFILE", profile);
        up.envs(clocks.map(|folder| ("QUORUMLOCK_DOCKER_CLOCKS", folder)));
        for (n, port) in (1..).zip(ports) {
            up.env(format!("QUORUMLOCK_PORT_{n}"), port.to_string());
        }
        run(&mut up);
    }

    /// Returns the containers, in the order of their services' names.
    pub(super) fn containers(&self) -> Vec<String> {
        let format = "{{.Label \"com.docker.compose.service\"}} {{.ID}}";
        let listed = docker(&["ps", "--filter", &self.label(), "--format", format]);
        let mut lines: Vec<&str> = listed.lines().collect();
        lines.sort_unstable();
        let ids = lines.iter().filter_map(|line| line.split_once(' '));
        ids.map(|(_, id)| id.to_owned()).collect()
    }

    pub(super) fn network(&self) -> String {
        docker(&["network", "ls", "--quiet", "--filter", &self.label()])
    }

    /// Removes what test processes that no longer exist have left.
    pub(crate) fn sweep() {
        for left in Self::all().iter().filter(|name| is_orphan(name)) {
            // Another process may be sweeping as well.
            let _by_whomever = Command::new(script("down")).arg(left).output();
        }
    }

    /// Returns the projects of tests that have a container, a network or a volume.
    pub(crate) fn all() -> BTreeSet<String> {
        let format = format!("{{{{.Label \"{LABEL}\"}}}}");
        let labels = [&["ps", "--all"], &["network", "ls"], &["volume", "ls"]].map(|list| {
            docker(
                &[&list[..], &["--filter", &format!("label={LABEL}"), "--format", &format]]
                    .concat(),
            )
        });
        let names = labels.iter().flat_map(|labels| labels.lines());
        names.filter(|name| name.starts_with(PREFIX)).map(str::to_owned).collect()
    }

    fn label(&self) -> String {
        format!("label={LABEL}={}", self.name)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let down = Command::new(script("down")).arg(&self.name).output();
        if let Ok(answer) = &down
            && answer.status.success()
        {
            let _already_gone = self.janitor.kill();
            let _reaped = self.janitor.wait();
        } else if std::thread::panicking() {
            // The janitor tries again.
            eprintln!("the project {} can't be taken down: {down:?}", self.name);
        } else {
            panic!("the project {} can't be taken down: {down:?}", self.name);
        }
    }
}

/// Runs docker and returns what it wrote. Panics with docker's error output if it fails.
pub(crate) fn docker(arguments: &[&str]) -> String {
    run(Command::new("docker").args(arguments))
}

/// Runs docker and returns what it wrote, or its error output.
pub(crate) fn try_docker(arguments: &[&str]) -> Result<String, String> {
    try_run(Command::new("docker").args(arguments))
}

fn run(command: &mut Command) -> String {
    try_run(command).unwrap_or_else(|error| panic!("{error}"))
}

fn try_run(command: &mut Command) -> Result<String, String> {
    let answer = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) =
        (String::from_utf8_lossy(&answer.stdout), String::from_utf8_lossy(&answer.stderr));
    match answer.status.success() {
        true => Ok(out.trim().to_owned()),
        false => Err(format!("{command:?} failed: {}", err.trim())),
    }
}

/// Checks whether the process that gave the project its name no longer exists.
fn is_orphan(project: &str) -> bool {
    let mut numbers = project.trim_start_matches(PREFIX).split('-').map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(pid)), Some(Ok(start))) => {
            u32::try_from(pid).ok().and_then(started) != Some(start)
        }
        _ => false,
    }
}

/// Returns when a process started, in ticks since boot: distinguishes it from a later one with the
/// same id.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name is in parentheses and may hold anything; 20 fields follow up to this one.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}
