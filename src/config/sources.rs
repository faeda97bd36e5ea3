//! The sources of settings: the environment, a file, and a part of another configuration, in whatever format serde
//! reads.

use super::Config;
use crate::failure::ConfigError;
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::Path;
use std::{env, fmt, fs};
use toml::Value;
use toml::de::{DeTable, ValueDeserializer};

/// The prefix of each key.
const PREFIX: &str = "QUORUMLOCK_";

/// The variable that names the file which [`Config::load`] reads.
const FILE: &str = "QUORUMLOCK_CONFIG";

/// How variables begin that are not settings, but passed to a command that runs under a lock, or used
/// by this repository's own tests and scripts.
const OTHERS: &str =
    "RESOURCE FENCING_TOKEN SLOT DEADLINE SEED MINUTES FUZZ SCHEDULES SERVERS CHAOS_ DOCKER_";

impl Config {
    /// Reads the environment: each key in capitals behind `QUORUMLOCK_`, such as
    /// `QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3` or
    /// `QUORUMLOCK_MAX_TTL=1m`. Addresses are separated by commas or white space. A variable that
    /// is set and empty is a value, which few keys take: unset it to leave it out.
    ///
    /// `QUORUMLOCK_CONFIG` is left to [`load`](Self::load). It is not taken for a misspelt key. Nor
    /// are the variables that are passed to a command under a lock (`QUORUMLOCK_RESOURCE`,
    /// `QUORUMLOCK_FENCING_TOKEN`, `QUORUMLOCK_SLOT`, `QUORUMLOCK_DEADLINE`), nor the variables
    /// that Kubernetes sets for a service of that name.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// let config = quorumlock::Config::from_env()?;
    /// # drop(config);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConfigError`] for a value that cannot be read, or for a variable with that prefix that is
    /// none of these.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_vars(env::vars_os())
    }

    /// Reads variables that you have as [`from_env`](Self::from_env) reads the environment: those
    /// of another process, of a file, of a test. Variables without the prefix are ignored.
    ///
    /// ```
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// let vars = [("QUORUMLOCK_TTL", "5s"), ("HOME", "/root")];
    /// let config = quorumlock::Config::from_vars(vars)?;
    /// assert_eq!(config.ttl, Some(std::time::Duration::from_secs(5)));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`from_env`](Self::from_env).
    pub fn from_vars(
        vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Result<Self, ConfigError> {
        Ok(read(vars)?.0)
    }

    /// Reads the environment, and below it the file that `QUORUMLOCK_CONFIG` names, if it names
    /// one.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::{Config, Redlock};
    ///
    /// let redlock = Redlock::builder().config(Config::load()?).connect().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`from_env`](Self::from_env) and [`from_file`](Self::from_file).
    pub fn load() -> Result<Self, ConfigError> {
        load(env::vars_os())
    }

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
            let Self { tls_ca_file, tls_cert_file, tls_key_file, credentials_file, .. } =
                &mut config;
            let files = [tls_ca_file, tls_cert_file, tls_key_file, credentials_file];
            for file in files.into_iter().flatten() {
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

/// Does what [`Config::load`] does, with the environment as an argument.
pub(super) fn load(
    vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
) -> Result<Config, ConfigError> {
    match read(vars)? {
        (_, Some(file)) if file.is_empty() => {
            Err(ConfigError::new(Some(FILE), "is empty: name a file, or unset it"))
        }
        (config, Some(file)) => Ok(config.or(Config::from_file(file)?)),
        (config, None) => Ok(config),
    }
}

/// Returns what is set, and the name of the file.
fn read(
    vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
) -> Result<(Config, Option<OsString>), ConfigError> {
    let ours = vars.into_iter().filter_map(|(name, value)| {
        // A name that is not text is none of ours.
        let rest = name.as_ref().to_str()?.strip_prefix(PREFIX)?;
        (!is_of_others(rest)).then(|| (format!("{PREFIX}{rest}"), value.as_ref().to_owned()))
    });
    // The environment has no order: of several problems, the same one is always reported.
    let mut ours: BTreeMap<String, OsString> = ours.collect();
    let file = ours.remove(FILE);
    let mut config = Config::default();
    for (name, value) in ours {
        config.set(&name, spelt, value.to_str().map(Value::from).ok_or("is not UTF-8"))?;
    }
    Ok((config, file))
}

fn is_of_others(name: &str) -> bool {
    // Kubernetes sets some for every service whose name begins with `quorumlock`.
    OTHERS.split(' ').any(|begin| name.starts_with(begin))
        || name.split('_').any(|part| part == "SERVICE" || part == "PORT")
}

fn spelt(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

/// A table of settings. Serde's errors about a key or value are left out: they may show the value.
struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = Config;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of quorumlock's settings")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Config, E> {
        Err(E::custom("this is a string, not a table of quorumlock's settings"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Config, A::Error> {
        let mut config = Config::default();
        let no_key = |_| A::Error::custom("a key is not a string");
        while let Some(key) = map.next_key::<String>().map_err(no_key)? {
            let value = map.next_value().map_err(|_| "its value cannot be read");
            config.set(&key, str::to_owned, value).map_err(A::Error::custom)?;
        }
        Ok(config)
    }
}
