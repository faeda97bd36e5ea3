//! Settings from the environment.

use super::Config;
use crate::failure::ConfigError;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use toml::Value;

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
