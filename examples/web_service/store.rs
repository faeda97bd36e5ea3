//! A store that refuses late tokens: one file, for any number of processes on this machine. A
//! database does the same in a transaction; `docs/fencing.md` has the SQL.

use crate::Failure;
use quorumlock::FencingToken;
use quorumlock::fencing::FenceCheck;
use rustix::fs::{FlockOperation, flock};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

/// The greatest token of each lock, and what was written under the locks, such as `charge 42`.
type Content = (FenceCheck<String>, Vec<String>);

pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    pub(crate) fn open(folder: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Checks the token and adds entries in one step: under a file lock, with one rename.
    ///
    /// Call it to read, too: once the token has been presented, no earlier holder can write.
    pub(crate) fn change<T>(
        &self,
        resource: &str,
        token: FencingToken,
        change: impl FnOnce(&mut Vec<String>) -> T,
    ) -> Result<T, Failure> {
        // Files block, and must not hold up the thread on which locks are extended.
        tokio::task::block_in_place(|| {
            let lock = File::create(self.folder.join("lock"))?;
            flock(&lock, FlockOperation::LockExclusive)?; // Until `lock` is dropped.
            let (mut fences, mut entries) = self.load()?;
            let before = (fences.greatest(resource), entries.len());
            fences.admit(resource, token)?;
            let result = change(&mut entries);
            if before != (Some(token), entries.len()) {
                self.save(&fences, &entries)?;
            }
            Ok(result)
        })
    }

    fn load(&self) -> Result<Content, Failure> {
        let text = match fs::read_to_string(self.folder.join("data")) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let (mut fences, mut entries) = (FenceCheck::new(), Vec::new());
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["fence", resource, token] => fences.admit(resource, token.parse()?)?,
                _ => entries.push(line.to_owned()),
            }
        }
        Ok((fences, entries))
    }

    fn save(&self, fences: &FenceCheck<String>, entries: &[String]) -> Result<(), Failure> {
        let mut text = String::new();
        for (resource, token) in fences.iter() {
            writeln!(text, "fence {resource} {token}")?;
        }
        entries.iter().try_for_each(|entry| writeln!(text, "{entry}"))?;
        let new = self.folder.join("data.new");
        fs::write(&new, text)?;
        File::open(&new)?.sync_all()?;
        fs::rename(new, self.folder.join("data"))?;
        Ok(File::open(&self.folder)?.sync_all()?)
    }
}
