//! Real masters: redis-server processes that belong to the value that started them.

use super::clock::{self, Clock};
use super::poll::eventually_blocking;
use super::port::ReservedPort;
use super::witness::{self, Master, Unseen};
use redis::aio::MultiplexedConnection;
use redis::{Client, IntoConnectionInfo};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Bound on the time for a process to become ready, to stop or to go on.
const PATIENCE: Duration = Duration::from_secs(10);

/// Variable that names the servers to test on; `make test-servers` sets it.
const SERVERS: &str = "QUORUMLOCK_SERVERS";

/// Most attempts to start a server, each on another port, if its process ends before it is ready.
const ATTEMPTS: usize = 5;

/// One redis-server on 127.0.0.1 with its own directory, without persistence unless the arguments
/// ask for it. Killed and reaped on drop, even if it is stopped.
///
/// The methods block their thread, usually for milliseconds.
#[derive(Debug)]
pub(crate) struct Server {
    process: Mutex<Child>,
    program: PathBuf,
    arguments: Vec<String>,
    port: ReservedPort,
    directory: TempDir,
    clock: Option<Clock>,
    /// Commands that the witness itself has sent to this process.
    witnessed: AtomicU64,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with further arguments, such as `&["--maxmemory", "10mb"]`; a later one wins.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_at(&program(), arguments, None)
    }

    /// Starts one that accepts DEBUG. Version 6.2 always does, and has no setting for it.
    pub(crate) fn start_for_debug() -> Self {
        let program = program();
        let arguments = ["--enable-debug-command", "yes"];
        let is_older = version(&program).contains("v=6.");
        Self::start_at(&program, if is_older { &[] } else { &arguments }, None)
    }

    /// Starts one whose first replica does not wait five seconds for a second one.
    pub(crate) fn start_for_a_replica() -> Self {
        Self::start_with(&["--repl-diskless-sync-delay", "0"])
    }

    /// Starts one whose clock can be set. If there is no libfaketime, returns `None` and prints a
    /// line that says so.
    pub(crate) fn start_with_clock() -> Option<Self> {
        clock::library().map(|library| Self::start_at(&program(), &[], Some(&library)))
    }

    /// Starts another one with the program of this one.
    pub(crate) fn start_twin(&self) -> Self {
        Self::start_at(&self.program, &[], None)
    }

    pub(super) fn start_at(program: &Path, arguments: &[&str], library: Option<&Path>) -> Self {
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            let server = Self::launch(program, arguments, library);
            if server.await_ready() {
                return server;
            }
            log = server.log_tail();
        }
        panic!("{program:?} {arguments:?} ended {ATTEMPTS} times before it was ready:\n{log}");
    }

    /// Freezes the process (SIGSTOP). On return it executes nothing; the kernel still accepts
    /// connections and bytes for it.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        eventually_blocking("the server is stopped", PATIENCE, || self.is_stopped());
    }

    /// Lets a stopped process go on (SIGCONT).
    pub(crate) fn cont(&self) {
        self.signal(Signal::CONT);
        eventually_blocking("the server goes on", PATIENCE, || !self.is_stopped());
    }

    /// Kills the process (SIGKILL) and reaps it. Dials are refused until it is restarted.
    pub(crate) fn kill(&self) {
        let mut process = self.process();
        let _already_gone = process.kill();
        process.wait().expect("a killed server to be reaped");
    }

    /// Kills the running process and starts a new one on the same port and directory: an empty one,
    /// with another `run_id`, unless the arguments ask for persistence.
    pub(crate) fn restart(&self) {
        self.restart_as(&self.program);
    }

    /// Does the same, with the program of the next server: where there are several kinds, an
    /// upgrade or a downgrade.
    pub(crate) fn restart_as_the_next(&self) {
        self.restart_as(&program());
    }

    fn restart_as(&self, program: &Path) {
        self.kill();
        let Self { port, directory, arguments, clock, .. } = self;
        *self.process() = spawn(program, port, directory, arguments, clock.as_ref());
        self.witnessed.store(0, Ordering::Relaxed);
        assert!(self.await_ready(), "the server ended on restart:\n{}", self.log_tail());
    }

    pub(crate) fn is_running(&self) -> bool {
        self.process().try_wait().expect("the state of the server").is_none()
    }

    /// Returns whether it is frozen by [`stop`](Self::stop), as the kernel reports it.
    pub(crate) fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()));
        // The state follows the command name, which is in parentheses.
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T")))
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.port.address()
    }

    pub(crate) fn port(&self) -> u16 {
        self.addr().port()
    }

    /// Returns what the server reports of itself: `Redis server v=7.0.15 ..`.
    pub(crate) fn version(&self) -> String {
        version(&self.program)
    }

    /// Returns its address without credentials.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.addr())
    }

    /// Returns the id of the process that runs now, or ran last.
    pub(crate) fn pid(&self) -> u32 {
        self.process().id()
    }

    /// Sets the clock; [`clock::set`] waits until the new time shows.
    pub(super) fn set_clock(&self, ahead_ms: i64) {
        self.clock.as_ref().expect("a clock that can be set").set(ahead_ms);
    }

    pub(crate) fn set_clock_speed(&self, times: f64) {
        self.clock.as_ref().expect("a clock that can be set").set_speed(times);
    }

    /// Returns the argument after `--requirepass`.
    pub(crate) fn password(&self) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == "--requirepass")?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    /// Returns the last lines that the server wrote, over all its restarts.
    pub(crate) fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn launch(program: &Path, arguments: &[&str], library: Option<&Path>) -> Self {
        let directory = tempfile::Builder::new().prefix("quorumlock-").tempdir();
        let directory = directory.expect("a temporary directory");
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let port = ReservedPort::new();
        let clock = library.map(|library| Clock::new(library.to_owned(), directory.path()));
        let process = Mutex::new(spawn(program, &port, &directory, &arguments, clock.as_ref()));
        let (program, witnessed) = (program.to_owned(), AtomicU64::new(0));
        Self { process, program, arguments, port, directory, clock, witnessed }
    }

    /// Waits until it answers. Returns false if the process has ended instead.
    fn await_ready(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answers = answers(self.addr());
            if !self.is_running() {
                return false;
            }
            if answers {
                return true;
            }
            let log = || self.log_tail();
            assert!(Instant::now() < deadline, "no answer in {PATIENCE:?}; its log:\n{}", log());
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn signal(&self, signal: Signal) {
        let mut process = self.process();
        let state = process.try_wait().expect("the state of the server");
        assert!(state.is_none(), "no {signal:?} to a server that is gone: {state:?}");
        kill_process(Pid::from_child(&process), signal).expect("a signal to our own server");
    }

    fn process(&self) -> MutexGuard<'_, Child> {
        // A panic elsewhere must not keep the drop from killing the process.
        self.process.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Master for Server {
    fn name(&self) -> String {
        self.addr().to_string()
    }

    async fn open(&self) -> Result<MultiplexedConnection, Unseen> {
        if !self.is_running() {
            return Err(Unseen::Down);
        }
        if self.is_stopped() {
            return Err(Unseen::Silent("stopped".to_owned()));
        }
        let address = self.url().into_connection_info()?;
        let mut settings = address.redis_settings().clone().set_skip_set_lib_name();
        if let Some(password) = self.password() {
            settings = settings.set_password(password);
            self.count_own(1);
        }
        let client = Client::open(address.set_redis_settings(settings))?;
        Ok(witness::connect(&client).await?)
    }

    fn count_own(&self, commands: u64) -> u64 {
        self.witnessed.fetch_add(commands, Ordering::Relaxed) + commands
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut process = self.process();
        let _already_gone = process.kill();
        let _already_reaped = process.wait();
    }
}

/// Returns the program of the next server: `redis-server` on PATH, or in turn one of those that
/// `QUORUMLOCK_SERVERS` names, separated by colons. A test always gets the same ones.
pub(crate) fn program() -> PathBuf {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let Ok(programs) = std::env::var(SERVERS) else { return "redis-server".into() };
    let programs: Vec<&str> = programs.split(':').collect();
    programs[STARTED.fetch_add(1, Ordering::Relaxed) % programs.len()].into()
}

fn version(program: &Path) -> String {
    let output = Command::new(program).arg("--version").output().expect("the server's version");
    String::from_utf8(output.stdout).expect("a version that is text")
}

fn spawn(
    program: &Path,
    port: &ReservedPort,
    directory: &TempDir,
    arguments: &[String],
    clock: Option<&Clock>,
) -> Child {
    let log = directory.path().join("log");
    let log = OpenOptions::new().create(true).append(true).open(log).expect("a log file");
    let also_log: File = log.try_clone().expect("a second handle on the log file");
    let mut command = Command::new(program);
    command.args(["--bind", "127.0.0.1", "--port", &port.address().port().to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--loglevel", "warning"]);
    command.args(["--daemonize", "no"]).arg("--dir").arg(directory.path()).args(arguments);
    command.stdin(Stdio::null()).stdout(log).stderr(also_log);
    if let Some(clock) = clock {
        clock.rule(&mut command);
    }
    command.spawn().unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound => panic!("there is no {program:?}; `make test` installs it"),
        _ => panic!("{program:?} does not start: {error}"),
    })
}

/// Checks whether a server there answers PING. Introduces itself as the witness, so that it is not
/// counted.
pub(crate) fn answers(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let limit = Duration::from_millis(500);
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.write_all(b"CLIENT SETNAME witness\r\nPING\r\n")?;
        let mut reply = Vec::new();
        let mut chunk = [0; 256];
        loop {
            let n = stream.read(&mut chunk)?;
            reply.extend_from_slice(&chunk[..n]);
            let seen = String::from_utf8_lossy(&reply);
            if seen.contains("+PONG\r\n") || seen.contains("-NOAUTH") {
                return Ok(true);
            }
            if n == 0 || seen.contains("-LOADING") {
                return Ok(false);
            }
        }
    };
    ask().unwrap_or(false)
}
