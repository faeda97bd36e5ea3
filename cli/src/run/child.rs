//! The command: its file, which is found before any lock is requested; its process group; and the shim that becomes
//! the command.
//!
//! The command is started through this program once more. Only a process itself can ask to be killed
//! when its parent is gone, which Linux takes, and it must do so before it becomes the command.

use super::supervise::Work;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, since_1970};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;

/// Finds the program. A name is looked up in PATH, as in a shell; with a slash in it, it is the path.
pub(super) fn find(name: &OsStr) -> Result<PathBuf> {
    let is_path = name.as_bytes().contains(&b'/');
    let is_in = |path| env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let (exit, problem) = match which::which(name) {
        Ok(_) if is_path => return Ok(name.into()),
        Ok(found) => return Ok(found),
        Err(_) if is_path && !Path::new(name).exists() => (Exit::NOT_FOUND, "no such file"),
        Err(_) if is_path || env::var_os("PATH").is_some_and(is_in) => {
            (Exit::NOT_EXECUTABLE, "not an executable file")
        }
        Err(_) => (Exit::NOT_FOUND, "command not found"),
    };
    let name = if name.is_empty() { "\"\"".into() } else { name.to_string_lossy() };
    Err(Failure::new(exit, format!("{name}: {problem}")))
}

/// The first argument of the shim.
pub(super) const SHIM: &str = "__child";

/// The format in which the shim reports what goes wrong.
const JSON: &str = "json";

/// Returns a command for this program, even if its file has been replaced since. `ps` shows `name`.
pub(super) fn ourselves(name: &str) -> io::Result<Command> {
    let path =
        if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    let mut command = Command::new(path);
    command.arg0(name);
    Ok(command)
}

/// A variable in the command's environment that only some locks have: its name, and its value.
pub(super) type Variable = (&'static str, String);

/// The variable of a fenced lock.
pub(super) const TOKEN: &str = "QUORUMLOCK_FENCING_TOKEN";

/// The variable of a permit.
pub(super) const SLOT: &str = "QUORUMLOCK_SLOT";

/// The command and all processes that it has started, unless they have left its group.
pub(super) struct Group {
    leader: Child,
    /// The leader's process id, which is the id of the group.
    pub(super) pid: Pid,
}

impl Group {
    /// Starts it. Several resources have a line each in its environment. The deadline there is the current one, and
    /// moves on while the lock is kept alive.
    pub(super) fn start(
        work: &Work,
        number: Option<Variable>,
        remaining: Duration,
    ) -> io::Result<Self> {
        let mut command = ourselves("quorumlock")?;
        let form = if work.output.json { JSON } else { "text" };
        command.args([SHIM, &std::process::id().to_string(), form]);
        command.arg(&work.program).args(&work.words);
        let deadline = since_1970().saturating_add(remaining);
        command.env("QUORUMLOCK_RESOURCE", work.resources.join("\n"));
        command.env("QUORUMLOCK_DEADLINE", deadline.as_millis().to_string());
        // Under another lock, it must not see those of a `quorumlock` around us.
        command.env_remove(TOKEN).env_remove(SLOT).envs(number);
        let leader = command.process_group(0).spawn()?;
        let pid = i32::try_from(leader.id()).map_err(io::Error::other)?;
        Ok(Self { leader, pid: Pid::from_raw(pid) })
    }

    /// Returns the leader's exit status, once it has ended.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        self.leader.try_wait().ok().flatten()
    }

    /// Sends a signal to all of them. A process that is gone by now needs none.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = killpg(self.pid, signal);
    }

    /// Kills the group. Returns whether that was allowed, for at least one of them.
    pub(super) fn kill(&self) -> bool {
        killpg(self.pid, Signal::SIGKILL) != Err(Errno::EPERM)
    }

    /// Sends a signal to the leader alone, while it runs.
    pub(super) fn signal_leader(&mut self, signal: Signal) {
        if self.status().is_none() {
            let _ = kill(self.pid, signal);
        }
    }

    /// Returns whether no process of the group is left.
    pub(super) fn is_gone(&mut self) -> bool {
        self.status().is_some() && killpg(self.pid, None) == Err(Errno::ESRCH)
    }
}

/// Becomes the command, in the shim: `parent form path name arguments…`. Returns only if the
/// command can't be executed.
pub(super) fn become_command(arguments: &[OsString]) -> ExitCode {
    let [parent, form, path, name, rest @ ..] = arguments else {
        return ExitCode::from(Exit::SYSTEM.code);
    };
    #[cfg(target_os = "linux")]
    {
        let asked = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
        let orphaned = parent.to_str() != Some(&*nix::unistd::getppid().to_string());
        if asked.is_err() || orphaned {
            return ExitCode::from(Exit::SYSTEM.code);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let error = Command::new(path).arg0(name).args(rest).exec();
    // The file was there when it was looked up.
    let (exit, problem) = match error.kind() {
        io::ErrorKind::NotFound => {
            (Exit::NOT_FOUND, "its interpreter is missing, or it is gone by now: ")
        }
        _ => (Exit::NOT_EXECUTABLE, ""),
    };
    let output = Output { json: form == JSON, ..Output::default() };
    output.fail(&Failure::new(exit, format!("{}: {problem}{error}", name.to_string_lossy())));
    ExitCode::from(exit.code)
}
