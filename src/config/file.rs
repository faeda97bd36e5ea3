//! Settings from a file.

use super::Config;
use crate::failure::ConfigError;
use serde_core::de::Deserialize;
use std::fs;
use std::ops::Range;
use std::path::Path;
use toml::Value;
use toml::de::{DeTable, ValueDeserializer};

impl Config {
    /// Reads a TOML file. The files that `credentials_file`, `tls_ca_file` and similar keys name are looked for next to
    /// it, unless their paths begin at the root.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// let config = quorumlock::Config::from_file("/etc/quorumlock.toml")?;
    /// # drop(config);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the file cannot be read, is not TOML, has an unknown key, or has a value
    /// that cannot be read. The error names file, line and key, and shows nothing of the file's
    /// contents.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let unreadable = |error| ConfigError::new(None, format!("cannot be read: {error}"));
        let config =
            fs::read_to_string(path).map_err(unreadable).and_then(|text| Self::from_toml(&text));
        let in_file = |problem| ConfigError { file: Some(path.to_owned()), ..problem };
        let mut config = config.map_err(in_file)?;
        if let Some(folder) = path.parent() {
            let tls =
                [&mut config.tls_ca_file, &mut config.tls_cert_file, &mut config.tls_key_file];
            for file in tls.into_iter().chain([&mut config.credentials_file]).flatten() {
                *file = folder.join(&*file);
            }
        }
        Ok(config)
    }

    /// Reads `text`, which is TOML. Relative paths in it start where the process runs.
    ///
    /// ```
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// let config = quorumlock::Config::from_toml(
    ///     r#"
    ///     nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"]
    ///     ttl = "10s"
    ///     restart_guard = "trust-persistence"
    ///     "#,
    /// )?;
    /// let builder = quorumlock::Redlock::builder().config(config);
    /// # drop(builder);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`from_file`](Self::from_file).
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let on = |at: Range<usize>, problem| {
            let line = 1 + text.bytes().take(at.start).filter(|byte| *byte == b'\n').count();
            ConfigError { line: Some(line), ..problem }
        };
        let table = DeTable::parse(text).map_err(|error| {
            // Its message says what is expected; its Display would show the line, too.
            let problem = ConfigError::new(None, format!("not valid TOML: {}", error.message()));
            on(error.span().unwrap_or_default(), problem)
        })?;
        let mut config = Self::default();
        let set = table.into_inner().into_iter().map(|(key, value)| {
            // Numbers of more than 64 bits cannot be read, and the error would show them.
            let value = Value::deserialize(ValueDeserializer::from(value));
            let value = value.map_err(|_| "its value cannot be read");
            let set = config.set(key.get_ref(), str::to_owned, value);
            set.map_err(|problem| on(key.span(), problem))
        });
        // The table has its keys sorted by name.
        set.filter_map(Result::err).min_by_key(|problem| problem.line).map_or(Ok(config), Err)
    }
}
