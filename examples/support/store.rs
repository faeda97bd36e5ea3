//! A file that refuses writers whose lock has expired.

use crate::Failure;
use quorumlock::FencingToken;
use quorumlock::fencing::FenceCheck;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// Name of the resource, for the check.
const RESOURCE: &str = "account:42";

/// An account for any number of processes. The same file holds its balance and the greatest token
/// that has been seen.
pub(crate) struct Store {
    /// Holds the data and the lock file. They are separate files, since the data file is replaced.
    folder: PathBuf,
}

impl Store {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Presents the token before it reads anything that a write will depend on. From then on, no
    /// earlier holder can write.
    pub(crate) fn read(&self, token: Option<FencingToken>) -> Result<u64, Failure> {
        self.change(token, |balance| balance)
    }

    pub(crate) fn write(&self, token: Option<FencingToken>, balance: u64) -> Result<(), Failure> {
        self.change(token, |_| balance).map(drop)
    }

    /// Checks and writes in one step: under the file's lock, and with one rename.
    ///
    /// In a real store the token would not be optional.
    fn change(
        &self,
        token: Option<FencingToken>,
        change: impl FnOnce(u64) -> u64,
    ) -> Result<u64, Failure> {
        let lock = File::create(self.folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?; // Until `lock` is dropped.
        let (balance, mut check) = self.load()?;
        if let Some(token) = token {
            check.admit(RESOURCE, token)?;
        }
        let balance = change(balance);
        self.save(balance, &check)?;
        Ok(balance)
    }

    /// Reads the balance and, from a line of its own, the greatest token, if there is one yet.
    fn load(&self) -> Result<(u64, FenceCheck<String>), Failure> {
        let data = fs::read_to_string(self.folder.join("data"))?;
        let mut lines = data.lines();
        let balance = lines.next().ok_or("the store is empty")?.parse()?;
        let seen = lines.map(|token| Ok((RESOURCE.to_owned(), token.parse()?)));
        Ok((balance, seen.collect::<Result<_, Failure>>()?))
    }

    fn save(&self, balance: u64, check: &FenceCheck<String>) -> Result<(), Failure> {
        let new = self.folder.join("data.new");
        let mut file = File::create(&new)?;
        writeln!(file, "{balance}")?;
        if let Some(token) = check.greatest(RESOURCE) {
            writeln!(file, "{token}")?;
        }
        file.sync_all()?;
        fs::rename(new, self.folder.join("data"))?;
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    /// Opens an account with `balance` that no worker has touched.
    pub(crate) fn open_account(&self, balance: u64) -> Result<(), Failure> {
        self.save(balance, &FenceCheck::new())
    }
}
