//! Settings from a file, from the environment and from code, under the same names (feature
//! `config`).
//!
//! A key has the name of the [builder](crate::RedlockBuilder) option that it sets. An option that
//! takes two values has a key for each, such as `backoff_base` and `backoff_cap`. A variable is its
//! key in capitals behind `QUORUMLOCK_`. Unknown names are refused, with the nearest name.
//!
//! | | in a file | in the environment |
//! |---|---|---|
//! | addresses | `nodes = ["redis://10.0.0.1", …]` | `QUORUMLOCK_NODES=redis://10.0.0.1,…`, by commas or spaces |
//! | durations | `ttl = "10s"`, `wait = "1m 30s"` | `QUORUMLOCK_TTL=10s` |
//! | names | `key_prefix = "locks:"` | `QUORUMLOCK_KEY_PREFIX=locks:` |
//! | numbers | `drift_rate_ppm = 10000` | `QUORUMLOCK_DRIFT_RATE_PPM=10000` |
//! | switches | `wakes_up = false` | `QUORUMLOCK_WAKES_UP=false` |
//! | the restart guard | `restart_guard = "on"`, `"off"` or `"trust-persistence"` | `QUORUMLOCK_RESTART_GUARD=on` |
//!
//! Neither [`Debug`](std::fmt::Debug) nor any error shows user names, passwords or the text that
//! was read: an address that does not parse is identified by its number, a line of a file by its
//! own.
//!
//! # Every key, with its default
//!
//! `docs/quorumlock.toml` in the repository:
//!
//! ```toml
#![doc = include_str!("../docs/quorumlock.toml")]
//! ```

mod deserialize;
mod environment;
mod error;
mod file;
mod node_address;
mod slot;
mod tls_files;
mod unknown;
mod written;

pub use error::ConfigError;
pub use node_address::NodeAddress;
pub use quorumlock_core::coordinator::restart_guard::RestartGuard;

pub(crate) use tls_files::TlsFiles;

use std::path::PathBuf;
use std::time::Duration;

/// The settings of a [`Redlock`](crate::Redlock), from a file, the environment or code; feature
/// `config`. A field that is `None` is not set, and keeps its default.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::{Config, Redlock};
/// use std::time::Duration;
///
/// // The environment takes precedence over the file, and code over both.
/// let mut config = Config::from_env()?.or(Config::from_file("/etc/quorumlock.toml")?);
/// config.ttl = Some(Duration::from_secs(5));
/// let redlock = Redlock::builder().config(config).connect().await?;
/// # Ok(()) }
/// ```
///
/// It implements [`Deserialize`](serde_core::Deserialize), so it may be a part of a program's own
/// configuration, in any format that distinguishes types: TOML, JSON, YAML. Unknown keys are
/// refused there, too. The builder's methods describe the fields; all of them are in the
/// [module's](self) sample file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The masters: [`nodes`](crate::RedlockBuilder::nodes).
    pub nodes: Option<Vec<NodeAddress>>,
    /// A second list, while one list takes over from the other:
    /// [`also`](crate::RedlockBuilder::also).
    pub also: Option<Vec<NodeAddress>>,
    /// [`ttl`](crate::RedlockBuilder::ttl).
    pub ttl: Option<Duration>,
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl).
    pub max_ttl: Option<Duration>,
    /// [`wait`](crate::RedlockBuilder::wait).
    pub wait: Option<Duration>,
    /// [`max_hold`](crate::RedlockBuilder::max_hold).
    pub max_hold: Option<Duration>,
    /// [`operation_timeout`](crate::RedlockBuilder::operation_timeout).
    pub operation_timeout: Option<Duration>,
    /// [`connect_timeout`](crate::RedlockBuilder::connect_timeout).
    pub connect_timeout: Option<Duration>,
    /// The share of each ttl in [`drift`](crate::RedlockBuilder::drift), in parts per million.
    pub drift_rate_ppm: Option<u32>,
    /// The constant in [`drift`](crate::RedlockBuilder::drift).
    pub drift_constant: Option<Duration>,
    /// The first pause in [`backoff`](crate::RedlockBuilder::backoff).
    pub backoff_base: Option<Duration>,
    /// The longest pause in [`backoff`](crate::RedlockBuilder::backoff).
    pub backoff_cap: Option<Duration>,
    /// The distance behind in [`fencing_window`](crate::RedlockBuilder::fencing_window).
    pub fencing_window_back: Option<Duration>,
    /// The distance ahead in [`fencing_window`](crate::RedlockBuilder::fencing_window).
    pub fencing_window_ahead: Option<Duration>,
    /// Controls whether a master that has just started may vote.
    pub restart_guard: Option<RestartGuard>,
    /// Controls whether releases notify the waiters in other processes; `false` is
    /// [`without_wake_ups`](crate::RedlockBuilder::without_wake_ups).
    pub wakes_up: Option<bool>,
    /// Controls whether [`connect`](crate::RedlockBuilder::connect) fails on any unfit master:
    /// [`strict`](crate::RedlockBuilder::strict).
    pub strict: Option<bool>,
    /// [`key_prefix`](crate::RedlockBuilder::key_prefix).
    pub key_prefix: Option<String>,
    /// [`lock_delay`](crate::RedlockBuilder::lock_delay).
    pub lock_delay: Option<Duration>,
    /// [`label`](crate::RedlockBuilder::label).
    pub label: Option<String>,
    /// A PEM file with the authorities that `rediss://` masters are verified by, instead of the
    /// platform's. Needs the feature `tls`, as do the next two.
    pub tls_ca_file: Option<PathBuf>,
    /// A PEM file with the certificate that is presented to `rediss://` masters, and those it rests
    /// on.
    pub tls_cert_file: Option<PathBuf>,
    /// A PEM file with the private key of that certificate, without a passphrase.
    pub tls_key_file: Option<PathBuf>,
}

impl Config {
    /// Returns what `self` has set, and what `below` has where `self` has nothing. Lists are not
    /// joined: the `nodes` of one replace those of the other.
    ///
    /// ```
    /// # fn main() -> Result<(), quorumlock::ConfigError> {
    /// use quorumlock::Config;
    ///
    /// let above = Config::from_toml(r#"ttl = "5s""#)?;
    /// let config = above.or(Config::from_toml("ttl = \"9s\"\nwait = \"1m\"")?);
    /// assert_eq!(config, Config::from_toml("ttl = \"5s\"\nwait = \"1m\"")?);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn or(mut self, mut below: Self) -> Self {
        for ((_, above), (_, below)) in self.slots().into_iter().zip(below.slots()) {
            above.or(below);
        }
        self
    }
}

#[cfg(test)]
mod tests;
