//! The file of a history: several processes append to it, and it is read while it grows.

use super::clock::{Nanos, between, now};
use super::history::{Entry, What};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// A wake-up that takes so long shows that the machine or the process had too little of a processor.
const LATE: Duration = Duration::from_millis(150);
const WAKES_EVERY: Duration = Duration::from_millis(50);

/// The writing end. A line is one `write` to a file opened for appending. So lines of several
/// processes don't mix, and written lines stay when their writer is killed.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
}

impl Journal {
    pub(crate) fn open(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { file }
    }

    pub(crate) fn note(&self, who: &str, what: What) {
        self.note_at(now(), who, what);
    }

    pub(crate) fn note_at(&self, at: Nanos, who: &str, what: What) {
        let line = format!("{}\n", Entry { at, who: who.to_owned(), what });
        (&self.file).write_all(line.as_bytes()).expect("a history that can be written");
    }

    /// Notes when it wakes up late: what happens then need not be the clients' fault.
    pub(crate) fn note_freezes(&self, who: &str, is_over: impl Fn() -> bool) {
        while !is_over() {
            let before = now();
            std::thread::sleep(WAKES_EVERY);
            let until = now();
            if between(before, until) > LATE {
                self.note_at(before, who, What::Froze { until });
            }
        }
    }
}

/// The reading end: whole lines only.
#[derive(Debug)]
pub(crate) struct Reader {
    file: File,
    incomplete: String,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { file, incomplete: String::new() }
    }

    /// Returns the lines written since the last look.
    pub(crate) fn read(&mut self) -> Vec<Entry> {
        self.file.read_to_string(&mut self.incomplete).expect("a history that can be read");
        let end = self.incomplete.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.incomplete.split_off(end);
        let lines = std::mem::replace(&mut self.incomplete, rest);
        let parse = |line| Entry::parse(line).unwrap_or_else(|| panic!("not a line: {line:?}"));
        lines.lines().map(parse).collect()
    }
}
