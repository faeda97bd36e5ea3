//! The command as it was written, found before any lock is requested.

use crate::exit::Exit;
use crate::failure::{Failure, Result};
use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Finds the program. A name is looked up in PATH, as in a shell; with a slash in it, it is the path.
pub(super) fn find(name: &OsStr) -> Result<PathBuf> {
    let is_path = name.as_bytes().contains(&b'/');
    let is_in = |path| env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let (exit, problem) = match which::which(name) {
        Ok(_) if is_path => return Ok(name.into()),
        Ok(found) => return Ok(found),
        Err(_) if is_path && !Path::new(name).exists() => (Exit::NOT_FOUND, "no such file"),
        Err(_) if is_path || env::var_os("PATH").is_some_and(is_in) => {
            (Exit::NOT_EXECUTABLE, "not an executable file")
        }
        Err(_) => (Exit::NOT_FOUND, "command not found"),
    };
    let name = if name.is_empty() { "\"\"".into() } else { name.to_string_lossy() };
    Err(Failure::new(exit, format!("{name}: {problem}")))
}
