//! A fork of the process that runs a test.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seconds after which the kernel ends a child that hangs.
const WATCHDOG: u32 = 10;

/// Runs `body` in a fork of this process, and returns the lines that it has reported. A child that hangs or panics is a
/// failure.
#[allow(unsafe_code, reason = "a fork, and what belongs to it")]
pub(crate) fn in_a_fork(body: impl FnOnce(&dyn Fn(&str))) -> Vec<String> {
    let (mut ear, mouth) = io::pipe().unwrap();
    // SAFETY: the child has no thread but this one. What it does here is what a user's program would do, and it ends
    // without running anything that belongs to the parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        // SAFETY: a number goes in.
        unsafe { libc::alarm(WATCHDOG) };
        let say = |line: &str| (&mouth).write_all(format!("{line}\n").as_bytes()).unwrap();
        let ended = catch_unwind(AssertUnwindSafe(|| body(&say)));
        // SAFETY: a number goes in, and nothing comes back.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    drop(mouth);
    let mut report = String::new();
    ear.read_to_string(&mut report).unwrap();
    let mut status = 0;
    // SAFETY: it writes to `status`, which is there until it returns.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0), "hung or panicked after it had reported:\n{report}");
    report.lines().map(str::to_owned).collect()
}
