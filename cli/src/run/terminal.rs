//! The reader of the terminal: the command's group once it wants to read, and this process again at
//! the end.
//!
//! Until then the command's group is in the background, and Ctrl-C reaches this process, which
//! passes it on. From then on it reaches the group alone. Either way it arrives once.

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::fs::{File, OpenOptions};

/// The terminal of our session, if it has one.
pub(super) struct Terminal {
    tty: Option<File>,
    /// The group to which the terminal was handed over.
    handed_to: Option<Pid>,
}

impl Terminal {
    pub(super) fn open() -> Self {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok();
        Self { tty, handed_to: None }
    }

    /// Hands the terminal to `group`. Returns `false` if there is none, or if it is not ours to
    /// give.
    pub(super) fn hand_to(&mut self, group: Pid) -> bool {
        let Some(tty) = &self.tty else { return false };
        let ours = tcgetpgrp(tty) == Ok(getpgrp());
        if ours && tcsetpgrp(tty, group).is_ok() {
            self.handed_to = Some(group);
            return true;
        }
        false
    }

    /// Takes the terminal back, and returns the group that had it. If another group has it by now,
    /// that group keeps it.
    pub(super) fn take_back(&mut self) -> Option<Pid> {
        let group = self.handed_to.take()?;
        let tty = self.tty.as_ref()?;
        if tcgetpgrp(tty) == Ok(group) {
            // A process in the background is stopped for this by SIGTTOU, unless the signal is
            // blocked. A mask belongs to the thread.
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut mask = SigSet::empty();
                    mask.add(Signal::SIGTTOU);
                    mask.thread_block().and_then(|()| tcsetpgrp(tty, getpgrp()))
                });
            });
        }
        Some(group)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take_back();
    }
}
