//! What the kernel tells of processes that are ours.

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Has whoever loses their parent among the command's processes become ours, so that we learn when
/// they end. Elsewhere than on Linux the system's first process reaps them.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Reaps those that have ended, but not `leader`.
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
    #[cfg(not(target_os = "linux"))]
    let _ = leader;
}

/// By which signal `leader` has been stopped since this was asked last.
pub(super) fn stopped(leader: Pid) -> Option<Signal> {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let look = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        if let Ok(WaitStatus::Stopped(_, signal)) = waitid(Id::Pid(leader), look) {
            return Some(signal);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = leader;
    None
}
