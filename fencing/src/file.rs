//! A file whose writes are fenced. Unix only.

use crate::envelope::{open, seal};
use crate::{FenceError, FencingToken, StaleToken};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file with its greatest token in its first line, replaced as a whole by each write.
///
/// Every access takes an exclusive lock on a second file, `NAME.lock`, compares, writes
/// `NAME.tmp`, syncs it, renames it over the file and syncs the folder. So a crash leaves the old
/// content or the new one, each with its token. Readers without a lock open the file at any time,
/// and [`envelope::open`](crate::envelope::open) what it has.
///
/// The calls block; from async code use a thread for blocking calls.
///
/// ```
/// use quorumlock_fencing::{FencingToken, file::FencedFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("balance");
/// let [old, new]: [FencingToken; 2] = ["7".parse()?, "9".parse()?];
/// let file = FencedFile::new(path);
/// assert_eq!(file.read(old)?, b"");
/// file.write(old, b"100")?;
/// assert_eq!(file.read(new)?, b"100"); // From here on, the earlier holder is refused.
/// assert!(file.write(old, b"110").is_err());
/// file.write(new, b"50")?;
/// # Ok(())
/// # }
/// ```
///
/// # Limits
///
/// Only for processes of one machine, on a file system of its own that keeps a synced rename. A network
/// file system may have neither locks that hold nor renames that all see. The locks are advisory: a writer
/// that does not use this type is not stopped (rule 5). To delete the file is to forget its
/// fence, and to delete `NAME.lock` may let two writers in. A process that is stopped in the
/// middle of a call makes the others wait.
#[derive(Debug, Clone)]
pub struct FencedFile {
    path: PathBuf,
}

impl FencedFile {
    /// Takes the path of the file, which need not exist. Its folder must. If the path is a symbolic
    /// link, the first write replaces the link.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Replaces the content, if no greater token has been presented. An equal token is admitted. It
    /// keeps the permissions of a file that exists.
    ///
    /// # Errors
    ///
    /// [`FenceError::Stale`] if a later holder has been here; [`FenceError::Damaged`] if the file
    /// has no token; [`FenceError::Store`] if the system fails. Then the old content stands or the
    /// new one, and the same write may be tried again.
    pub fn write(&self, token: FencingToken, content: &[u8]) -> Result<(), FenceError<io::Error>> {
        self.replace(token, Some(content)).map(drop)
    }

    /// Raises the greatest token, durably, and returns the content: empty if there was no file. No
    /// earlier holder can write after that.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    pub fn read(&self, token: FencingToken) -> Result<Vec<u8>, FenceError<io::Error>> {
        self.replace(token, None)
    }

    /// Writes the content, or else what is there, under the token. Returns what was there.
    fn replace(
        &self,
        token: FencingToken,
        content: Option<&[u8]>,
    ) -> Result<Vec<u8>, FenceError<io::Error>> {
        let path = self.sibling(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(path)?;
        // Until the end of this call, or of the process.
        let locked = rustix::io::retry_on_intr(|| flock(&lock, FlockOperation::LockExclusive));
        locked.map_err(io::Error::from)?;
        let (seen, was) = match fs::read(&self.path) {
            Ok(sealed) => {
                let (greatest, content) = open(&sealed)?;
                (Some(greatest), content.to_vec())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (None, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        StaleToken::check(token, seen.unwrap_or(token))?;
        if content.is_some() || seen != Some(token) {
            let temporary = self.sibling(".tmp");
            let mut file = File::create(&temporary)?;
            if let Ok(existing) = fs::metadata(&self.path) {
                file.set_permissions(existing.permissions())?;
            }
            file.write_all(&seal(token, content.unwrap_or(&was)))?;
            file.sync_all()?;
            fs::rename(temporary, &self.path)?;
        }
        // Another process may have renamed it, and died before this.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(was)
    }

    fn sibling(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }
}
