//! The errors of reading settings.

use crate::report::OneLine;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Settings that cannot be read, and where: a mistake to fix. It contains nothing of the values
/// that were read, since they may hold passwords.
///
/// ```
/// let error = quorumlock::Config::from_toml("acquire_timeout = \"1m\"\nttl = 10").unwrap_err();
/// assert_eq!((error.line, error.key.as_deref()), (Some(2), Some("ttl")));
/// assert_eq!(
///     error.to_string(),
///     "line 2: ttl: is not a duration with a unit, or too long: write it like \"10s\" or \"500ms\""
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct ConfigError {
    /// The file, if the source was one.
    pub file: Option<PathBuf>,
    /// The line in it, from 1, if one is known.
    pub line: Option<usize>,
    /// The key, or the name of the variable. `None` if a whole source is at fault, or if what is in
    /// the place of a key does not look like one.
    pub key: Option<String>,
    /// The problem, and what to do about it.
    pub problem: String,
}

impl ConfigError {
    pub(crate) fn new(key: Option<&str>, problem: impl Into<String>) -> Self {
        Self { file: None, line: None, key: key.map(str::to_owned), problem: problem.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_ref().map(|file| OneLine(file.display())), self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(key) = &self.key {
            write!(f, "{}: ", OneLine(key))?;
        }
        OneLine(&self.problem).fmt(f)
    }
}
