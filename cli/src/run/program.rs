//! The command as it was written, found before any lock is requested.

use crate::exit::Exit;
use crate::failure::{Failure, Result};
use nix::unistd::{AccessFlags, access};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The program to execute, and its arguments.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The name as it was called, and the arguments.
    pub(super) words: Vec<OsString>,
}

impl Program {
    /// Finds the program. A name is looked up in PATH, as in a shell; with a slash in it, it is the
    /// path.
    pub(super) fn find(words: &[OsString]) -> Result<Self> {
        let name = words.first().map(OsString::as_os_str).unwrap_or_default();
        let path = if name.as_bytes().contains(&b'/') {
            PathBuf::from(name)
        } else {
            let found = std::env::var_os("PATH").as_deref().and_then(|path| look_up(name, path));
            found.ok_or_else(|| refused(Exit::NotFound, name, "command not found"))?
        };
        if !path.exists() {
            return Err(refused(Exit::NotFound, name, "no such file"));
        }
        if !is_executable(&path) {
            return Err(refused(Exit::NotExecutable, name, "not an executable file"));
        }
        Ok(Self { path, words: words.to_vec() })
    }
}

/// Returns the first file that can be executed, or else the first that is there.
fn look_up(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let candidates = || std::env::split_paths(path).map(|folder| folder.join(name));
    let found = candidates().find(|path| is_executable(path));
    found.or_else(|| candidates().find(|path| path.is_file()))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

fn refused(exit: Exit, name: &OsStr, problem: &str) -> Failure {
    let name = if name.is_empty() { "\"\"".into() } else { name.to_string_lossy() };
    Failure::new(exit, format!("{name}: {problem}"))
}
