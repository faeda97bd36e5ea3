//! Settings from a file.

use super::{Config, unknown};
use crate::failure::ConfigError;
use serde_core::de::Deserialize;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use toml::Value;
use toml::de::{DeTable, ValueDeserializer};

/// The longest file. A longer one is something else, and may have no end, such as `/dev/zero`.
const LONGEST: u64 = 1 << 20;

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
        let unreadable =
            |error| ConfigError::new(None, format!("cannot be read: {error}")).of(path.to_owned());
        let text = read(path).map_err(unreadable)?;
        let mut config = Self::from_toml(&text).map_err(|error| error.of(path.to_owned()))?;
        if let Some(folder) = path.parent() {
            let Self { tls_ca_file, tls_cert_file, tls_key_file, credentials_file, .. } =
                &mut config;
            let named = [tls_ca_file, tls_cert_file, tls_key_file, credentials_file];
            for file in named.into_iter().flatten() {
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
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let table = DeTable::parse(text).map_err(|error| {
            // Its message says what is expected; its Display would show the line, too.
            let problem = ConfigError::new(None, format!("not valid TOML: {}", error.message()));
            match error.span() {
                Some(span) => problem.on(line(span.start)),
                None => problem,
            }
        })?;
        // Sorted by position: the table has them sorted by name.
        let mut entries: Vec<_> = table.into_inner().into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut config = Self::default();
        for (key, value) in entries {
            let at = line(key.span().start);
            let name = key.get_ref();
            let value = Value::deserialize(ValueDeserializer::from(value));
            // A number beyond 64 bits, which no key takes.
            let value = value.unwrap_or(Value::Float(f64::INFINITY));
            let set = config.set(name, value).unwrap_or_else(|| Err(unknown_key(name)));
            set.map_err(|problem| ConfigError::new(unknown::shown(name), problem).on(at))?;
        }
        Ok(config)
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LONGEST {
        return Err(io::Error::other("it is longer than 1 MiB, which no configuration is"));
    }
    let no_text = |_| io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes).map_err(no_text)
}

pub(super) fn unknown_key(name: &str) -> String {
    format!("unknown key{}", unknown::hint(name, Config::KEYS, str::to_owned))
}
