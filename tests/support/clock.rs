//! The wall clock of one real master, set forward or back while it runs: libfaketime sits between
//! the process and that clock. The monotonic clock is unaffected, as it is when a machine's clock
//! is set.

use super::server::Server;
use super::witness;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Path where distributions install it, below `/usr/lib` or a folder in that.
const LIBRARY: &str = "faketime/libfaketime.so.1";
const PATIENCE: Duration = Duration::from_secs(10);
/// Milliseconds between two readings, on a busy machine.
const READING: i64 = 1_000;

/// The clock that a process uses: how far it is ahead of all others, in a file that the process
/// reads each time.
#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    dial: Dial,
}

/// The file from which a clock takes how far it is ahead.
#[derive(Debug)]
pub(crate) struct Dial {
    pub(crate) file: PathBuf,
}

impl Clock {
    /// Creates a clock that is right at first. The file is in this folder.
    pub(super) fn new(library: PathBuf, folder: &Path) -> Self {
        Self { library, dial: Dial::new(folder) }
    }

    pub(super) fn rule(&self, command: &mut Command) {
        // jemalloc asks for the time before libfaketime is ready, which ends the process. So the
        // memory has to come from the C library.
        command.env("LD_PRELOAD", format!("{} libc.so.6", self.library.display()));
        command.env("FAKETIME_TIMESTAMP_FILE", &self.dial.file);
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }

    pub(super) fn set(&self, ahead_ms: i64) {
        self.dial.set(ahead_ms * 1_000);
    }

    /// Sets how many times as fast as ours it runs. libfaketime does not take 0: a billionth shows no other
    /// microsecond within a quarter of an hour.
    pub(super) fn set_speed(&self, times: f64) {
        self.dial.write(&format!("+0 x{times}\n"));
    }
}

impl Dial {
    /// Writes one that is right at first, into this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let dial = Self { file: folder.join("clock") };
        dial.set(0);
        dial
    }

    pub(crate) fn set(&self, ahead_us: i64) {
        let sign = if ahead_us < 0 { '-' } else { '+' };
        let ahead = ahead_us.unsigned_abs();
        self.write(&format!("{sign}{}.{:06}\n", ahead / 1_000_000, ahead % 1_000_000));
    }

    /// Replaces the file in one step: half a file is not a time.
    fn write(&self, time: &str) {
        let new = self.file.with_extension("new");
        fs::write(&new, time).expect("the new time");
        fs::rename(&new, &self.file).expect("the new time");
    }
}

/// Finds libfaketime. If it is missing, returns `None` and prints a line that says so; a failure if
/// `CI` is set.
pub(crate) fn library() -> Option<PathBuf> {
    let root = Path::new("/usr/lib");
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = std::iter::once(root.to_owned()).chain(folders).map(|folder| folder.join(LIBRARY));
    let found = found.into_iter().find(|path| path.exists());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI is set, and there is no libfaketime");
        eprintln!("no libfaketime here: no clock was set");
    }
    found
}

/// Sets the clocks of these masters that far ahead of ours, or behind it if negative. On return
/// they show it.
pub(crate) async fn set<'a>(masters: impl IntoIterator<Item = &'a Server>, ahead_ms: i64) {
    for server in masters {
        server.set_clock(ahead_ms);
        let start = Instant::now();
        while (ahead(server).await - ahead_ms).abs() > READING {
            assert!(start.elapsed() < PATIENCE, "{} does not show {ahead_ms} ms", server.addr());
        }
    }
}

/// Returns how far the clock of a master is ahead of ours, in milliseconds.
pub(crate) async fn ahead(server: &Server) -> i64 {
    let reply = witness::ask::<(i64, i64)>(server, &redis::cmd("TIME")).await;
    let (seconds, micros) = reply.expect("its time");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    seconds * 1_000 + micros / 1_000 - i64::try_from(now.as_millis()).expect("before the end")
}
