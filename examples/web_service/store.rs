//! A file for each lock, which refuses late tokens, for any number of processes on this machine. A
//! database does the same in a transaction; `docs/fencing.md` has the SQL.

use crate::Failure;
use quorumlock::FencingToken;
use quorumlock_fencing::{envelope, file::FencedFile};
use std::path::PathBuf;
use std::{fs, io};

pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(folder.join("orders"))?;
        Ok(Self { folder })
    }

    /// Returns the file of an order's lock, with a line for each time that the order was charged.
    pub(crate) fn order(&self, order: u64) -> FencedFile {
        FencedFile::new(self.folder.join("orders").join(order.to_string()))
    }

    /// Adds each charged order to the file of the leader's lock, once.
    pub(crate) fn ship(&self, token: FencingToken) -> Result<(), Failure> {
        let file = FencedFile::new(self.folder.join("shipped"));
        let mut shipped = String::from_utf8(file.read(token)?)?;
        let before = shipped.len();
        for entry in fs::read_dir(self.folder.join("orders"))? {
            let entry = entry?;
            // What is not a number is a lock of a file, or a file that is being written.
            let Some(order) = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok())
            else {
                continue;
            };
            let charges = fs::read(entry.path())?;
            let is_charged = !envelope::open(&charges)?.1.is_empty();
            if is_charged && !shipped.lines().any(|line| line == order.to_string()) {
                shipped.push_str(&format!("{order}\n"));
            }
        }
        if shipped.len() > before {
            file.write(token, shipped.as_bytes())?;
        }
        Ok(())
    }
}
