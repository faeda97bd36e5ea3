//! The kernel's information on this process's children.

#![cfg_attr(not(target_os = "linux"), allow(unused_variables))]

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Makes this process the parent of those of the command's processes that lose their parent, so
/// that it learns when they end. On systems other than Linux the system's first process reaps them.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Reaps adopted processes that have ended, but not `leader`.
pub(super) fn adopted(leader: Pid) {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Some(pid) = waitid(Id::All, look).ok().and_then(|status| status.pid()) {
            if pid == leader || waitpid(pid, Some(WaitPidFlag::WNOHANG)).is_err() {
                break;
            }
        }
    }
}

/// Returns the signal that has stopped `leader` since the last call.
pub(super) fn stopped(leader: Pid) -> Option<Signal> {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let look = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        if let Ok(WaitStatus::Stopped(_, signal)) = waitid(Id::Pid(leader), look) {
            return Some(signal);
        }
    }
    None
}
