//! Settings from the environment.

use super::{Config, unknown};
use crate::failure::ConfigError;
use std::env;
use std::ffi::{OsStr, OsString};
use toml::Value;

/// The prefix of each key.
const PREFIX: &str = "QUORUMLOCK_";

/// The variable that names the file which [`Config::load`] reads.
const FILE: &str = "CONFIG";

/// Variables that are not settings, but passed to a command that runs under a lock, or used by this
/// repository's own tests and scripts.
const OTHERS: &str =
    "RESOURCE FENCING_TOKEN SLOT DEADLINE SEED SEEDS MINUTES FUZZ SCHEDULES SERVERS";
const OTHERS_BEGIN: [&str; 4] = ["RESOURCE_", "SEED_", "CHAOS_", "DOCKER_"];

/// Kubernetes sets these for every service whose name begins with `quorumlock`.
const OF_SERVICES: [&str; 3] = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"];

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
    pub fn from_vars<K, V>(vars: impl IntoIterator<Item = (K, V)>) -> Result<Self, ConfigError>
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
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
            let problem = "is empty: name a file, or unset it";
            Err(ConfigError::new(Some(&spelt("config")), problem))
        }
        (config, Some(file)) => Ok(config.or(Config::from_file(file)?)),
        (config, None) => Ok(config),
    }
}

/// Returns what is set, and the name of the file.
fn read(
    vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
) -> Result<(Config, Option<OsString>), ConfigError> {
    let mut config = Config::default();
    let mut file = None;
    let mut problems = Vec::new();
    for (name, value) in vars {
        // A name that is not text is none of ours.
        let Some(name) = name.as_ref().to_str() else { continue };
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        if rest == FILE {
            file = Some(value.as_ref().to_owned());
        } else if let Err(problem) = set(&mut config, rest, value.as_ref()) {
            let shown = unknown::shown(rest).map(|_| name);
            problems.push(ConfigError::new(shown, problem));
        }
    }
    // The environment has no order: of several problems, the same one is always reported.
    match problems.into_iter().min_by(|a, b| a.key.cmp(&b.key)) {
        Some(problem) => Err(problem),
        None => Ok((config, file)),
    }
}

fn set(config: &mut Config, name: &str, value: &OsStr) -> Result<(), String> {
    let Some(key) = Config::KEYS.iter().find(|key| key.to_ascii_uppercase() == name) else {
        return if is_of_others(name) { Ok(()) } else { Err(unknown_variable(name)) };
    };
    let text = value.to_str().ok_or("is not UTF-8")?;
    config.set(key, Value::from(text)).unwrap_or(Ok(()))
}

fn is_of_others(name: &str) -> bool {
    // With `_` in front, so that it is also found at the very beginning.
    let behind = format!("_{name}");
    let of_a_service =
        |mark: &&str| behind.ends_with(*mark) || behind.contains(&format!("{mark}_"));
    OTHERS.split(' ').any(|other| other == name)
        || OTHERS_BEGIN.iter().any(|begin| name.starts_with(begin))
        || OF_SERVICES.iter().any(of_a_service)
}

fn unknown_variable(name: &str) -> String {
    let known = [Config::KEYS, &["config"]].concat();
    format!("unknown setting{}", unknown::hint(name, &known, spelt))
}

fn spelt(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}
