//! Who reads from the terminal: the command's group once it wants to, and we again at the end.
//!
//! Until then its group is in the background, and Ctrl-C comes to us, who pass it on; from then on it
//! goes to the group alone. Either way it arrives once.

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::fs::{File, OpenOptions};

/// The terminal of our session, if it has one.
pub(super) struct Terminal {
    tty: Option<File>,
    /// To whom it was handed over.
    handed_to: Option<Pid>,
}

impl Terminal {
    pub(super) fn open() -> Self {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok();
        Self { tty, handed_to: None }
    }

    /// Whether `group` has it now. False where there is none, and where it is not ours to give.
    pub(super) fn hand_to(&mut self, group: Pid) -> bool {
        let Some(tty) = &self.tty else { return false };
        let ours = tcgetpgrp(tty) == Ok(getpgrp());
        if ours && tcsetpgrp(tty, group).is_ok() {
            self.handed_to = Some(group);
            return true;
        }
        false
    }

    /// To whom it was handed over, if it was. Where somebody else has it by now, they keep it.
    pub(super) fn take_back(&mut self) -> Option<Pid> {
        let group = self.handed_to.take()?;
        let tty = self.tty.as_ref()?;
        if tcgetpgrp(tty) == Ok(group) {
            // Who is in the background is stopped for this by SIGTTOU, unless it is blocked; and a
            // mask is the thread's own.
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
