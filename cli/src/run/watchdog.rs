//! A process that kills the command's group at the deadline, and when its owner is gone.
//!
//! It receives the group and each deadline as an [`Order`] through a pipe. It has a session of its own, so that
//! whatever stops or ends its owner does not reach it as well. The clock counts suspend.

use super::child::ourselves;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, setsid};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::timeout;

/// The name of the watchdog in `ps`, followed by its owner's process id. It is the whole command
/// line: by its name, the program knows what it is.
const NAME: &str = "quorumlock: watchdog of ";

/// The same where a name may have 15 characters: `top`, `ps -o comm`.
#[cfg(target_os = "linux")]
const SHORT_NAME: &std::ffi::CStr = c"quorumlock-wdog";

/// Returns whether this process was started as a watchdog.
pub(super) fn is_watchdog(arguments: &[OsString]) -> bool {
    let [name] = arguments else { return false };
    name.to_str().is_some_and(|name| name.starts_with(NAME))
}

/// A pause does not count suspend: the clock is read again after this time.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// How long the watchdog may take to end when it is dismissed.
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::CLOCK_BOOTTIME;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::CLOCK_MONOTONIC;

/// Returns the time on a clock that all processes of this machine share.
fn now() -> Duration {
    clock_gettime(CLOCK).map(Duration::from).unwrap_or_default()
}

/// The watchdog, from its owner's side.
pub(super) struct Watchdog {
    process: Child,
    pipe: ChildStdin,
    answers: Receiver,
    order: Order,
}

/// Instead of a group, in the last order.
const DISMISSED: i32 = -1;

/// The words of the parent process. A pipe takes and gives so few bytes in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    /// The group to kill; 0 before there is one, and [`DISMISSED`].
    group: i32,
    /// When, on the clock of both.
    deadline: Duration,
}

impl Watchdog {
    /// Starts the watchdog, and returns when it is ready.
    pub(super) async fn start() -> io::Result<Self> {
        let mut command = ourselves(&format!("{NAME}{}", std::process::id()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let (Some(pipe), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("no pipe to the watchdog"));
        };
        let mut answers = Receiver::from_owned_fd(answers.into())?;
        answers.read_exact(&mut [0]).await?;
        // A write must never block, even if the watchdog is stopped.
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let order = Order { group: 0, deadline: Duration::ZERO };
        Ok(Self { process, pipe, answers, order })
    }

    /// Watches `group` from now on.
    pub(super) fn watch(&mut self, group: Pid) -> io::Result<()> {
        self.order.group = group.as_raw();
        self.send()
    }

    /// Allows the group to live for `remaining`: then the watchdog kills it, unless it is allowed
    /// more time.
    pub(super) fn allow(&mut self, remaining: Duration) -> io::Result<()> {
        let deadline = now().saturating_add(remaining);
        // The same deadline read twice differs by the time that reading takes.
        if deadline > self.order.deadline.saturating_add(Duration::from_millis(1)) {
            self.order.deadline = deadline;
            self.send()?;
        }
        Ok(())
    }

    /// Ends the watchdog without killing the group. Returns whether it had killed before.
    pub(super) async fn dismiss(mut self) -> bool {
        self.order.group = DISMISSED;
        let _ = self.send();
        let mut killed = Vec::new();
        // Until it has closed its end. A stopped watchdog never does; any other may have been reaped by now, so its
        // id must not be signalled.
        if timeout(PATIENCE, self.answers.read_to_end(&mut killed)).await.is_err() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
        !killed.is_empty()
    }

    fn send(&mut self) -> io::Result<()> {
        self.pipe.write_all(&self.order.to_bytes())
    }
}

impl Order {
    const LENGTH: usize = size_of::<i32>() + size_of::<u64>();

    fn to_bytes(self) -> Vec<u8> {
        let nanos = u64::try_from(self.deadline.as_nanos()).unwrap_or(u64::MAX);
        [&self.group.to_ne_bytes()[..], &nanos.to_ne_bytes()].concat()
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let (group, nanos) = bytes.split_first_chunk()?;
        let deadline = Duration::from_nanos(u64::from_ne_bytes(nanos.try_into().ok()?));
        Some(Self { group: i32::from_ne_bytes(*group), deadline })
    }
}

/// The watchdog's own `main`.
pub(super) fn watch() -> ExitCode {
    let _ = setsid();
    // It works without a name, too.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_name(SHORT_NAME);
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; Order::LENGTH];
        while io::stdin().read_exact(&mut bytes).is_ok() {
            let _ = Order::of(&bytes).map(|order| sender.send(order));
        }
    });
    let mut order = Order { group: 0, deadline: Duration::MAX };
    if answer(b"\n").is_err() {
        return ExitCode::SUCCESS;
    }
    loop {
        let left = order.deadline.saturating_sub(now());
        if left.is_zero() {
            // Reported first: the owner waits for the watchdog once it has read this, and not the
            // other way round.
            let _ = answer(b"k");
            break;
        }
        match orders.recv_timeout(left.min(LONGEST_PAUSE)) {
            Ok(Order { group: DISMISSED, .. }) => return ExitCode::SUCCESS,
            Ok(newer) => order = newer,
            Err(RecvTimeoutError::Timeout) => {}
            // Its owner is gone.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // Never a group of 0 or 1: those would be its own group, and every process.
    if order.group > 1 {
        let _ = killpg(Pid::from_raw(order.group), Signal::SIGKILL);
    }
    ExitCode::SUCCESS
}

fn answer(byte: &[u8]) -> io::Result<()> {
    io::stdout().write_all(byte)?;
    io::stdout().flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written_and_only_whole() {
        let order = Order { group: 17, deadline: Duration::from_nanos(1 << 40 | 1) };
        let bytes = order.to_bytes();
        assert_eq!((bytes.len(), Order::of(&bytes)), (Order::LENGTH, Some(order)));
        for part in 0..Order::LENGTH {
            assert_eq!(Order::of(&bytes[..part]), None, "{part}");
        }
    }

    #[test]
    fn only_its_own_name_makes_a_process_a_watchdog() {
        let is = |arguments: &[&str]| {
            is_watchdog(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
        };
        assert!(is(&[&format!("{NAME}1234")]));
        for arguments in [&[][..], &["quorumlock"], &["quorumlock: watchdog of 1", "doctor"]] {
            assert!(!is(arguments), "{arguments:?}");
        }
    }

    #[test]
    fn its_clock_goes_on_and_never_back() {
        let (first, second) = (now(), now());
        assert!(Duration::ZERO < first && first <= second);
    }
}
