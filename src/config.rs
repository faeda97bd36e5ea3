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
//! | durations | `ttl = "10s"`, `acquire_timeout = "1m 30s"` | `QUORUMLOCK_TTL=10s` |
//! | names | `key_prefix = "locks:"` | `QUORUMLOCK_KEY_PREFIX=locks:` |
//! | numbers | `drift_rate_ppm = 10000` | `QUORUMLOCK_DRIFT_RATE_PPM=10000` |
//! | switches | `wake_ups = false` | `QUORUMLOCK_WAKE_UPS=false` |
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

mod node_address;
mod sources;

pub use node_address::NodeAddress;

use crate::RestartGuard;
use crate::builder::RedlockBuilder;
use crate::failure::ConfigError;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// Declares the configuration, with each key once: its name and type, the function that reads its
/// value, and the method of the builder that takes it, or the field of the builder that holds it.
macro_rules! settings {
    (
        $(#[$about:meta])+
        Config {$(
            $(#[$doc:meta])+
            $key:ident: $type:ty = $read:ident $(=> RedlockBuilder::$method:ident)? $(in $($field:ident).+)?;
        )+}
    ) => {
        $(#[$about])+
        pub struct Config {
            $($(#[$doc])+ pub $key: Option<$type>,)+
        }

        impl Config {
            /// Every key, in the order of the fields.
            const KEYS: &[&str] = &[$(stringify!($key)),+];

            /// Sets what `name` says in its source, which writes a key as `spelt` does. The error
            /// says what is wrong with the value, and never shows it.
            fn set(
                &mut self,
                name: &str,
                spelt: fn(&str) -> String,
                value: Result<Value, &str>,
            ) -> Result<(), ConfigError> {
                let set = match name {
                    $(_ if name == spelt(stringify!($key)) => {
                        let value = value.map_err(str::to_owned).and_then($read);
                        value.map(|value| self.$key = Some(value))
                    })+
                    _ => Err(unknown(name, spelt)),
                };
                set.map_err(|problem| ConfigError::new(shown(name), problem))
            }

            /// Returns what `self` has set, and what `below` has where `self` has nothing. Lists
            /// are not joined: the `nodes` of one replace those of the other.
            ///
            /// ```
            /// # fn main() -> Result<(), quorumlock::ConfigError> {
            /// use quorumlock::Config;
            ///
            /// let above = Config::from_toml(r#"ttl = "5s""#)?;
            /// let config = above.or(Config::from_toml("ttl = \"9s\"\nacquire_timeout = \"1m\"")?);
            /// assert_eq!(config, Config::from_toml("ttl = \"5s\"\nacquire_timeout = \"1m\"")?);
            /// # Ok(()) }
            /// ```
            #[must_use]
            pub fn or(self, below: Self) -> Self {
                Self { $($key: self.$key.or(below.$key)),+ }
            }
        }

        impl RedlockBuilder {
            /// Takes over what `config` has set; methods that are called after it take precedence.
            /// Its masters are added to those already named, as [`nodes`](Self::nodes) and
            /// [`joint_with`](Self::joint_with) do. The files that `tls_ca_file` and similar keys
            /// name are read by [`connect`](RedlockBuilder::connect), which reports what is wrong
            /// with them. They take precedence over an earlier [`tls_config`](Self::tls_config).
            ///
            /// ```
            /// # fn main() -> Result<(), quorumlock::ConfigError> {
            /// use quorumlock::{Config, Redlock};
            ///
            /// let builder = Redlock::builder().config(Config::from_env()?).label("worker-7");
            /// # drop(builder);
            /// # Ok(()) }
            /// ```
            pub fn config(mut self, config: Config) -> Self {
                $(if let Some(value) = config.$key {
                    $(self = Self::$method(self, value);)?
                    $(self.$($field).+ = value.into();)?
                })+
                self
            }
        }
    };
}

settings! {
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
    /// It implements [`Deserialize`](serde_core::Deserialize), so it may be a part of a program's
    /// own configuration, in any format that distinguishes types: TOML, JSON, YAML. Unknown keys
    /// are refused there, too. The builder's methods describe the fields; all of them are in the
    /// [module's](self) sample file.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    #[non_exhaustive]
    Config {
        /// The masters: [`nodes`](crate::RedlockBuilder::nodes).
        nodes: Vec<NodeAddress> = addresses => RedlockBuilder::nodes;
        /// A second list, while one list takes over from the other:
        /// [`joint_with`](crate::RedlockBuilder::joint_with).
        joint_with: Vec<NodeAddress> = addresses => RedlockBuilder::joint_with;
        /// [`ttl`](crate::RedlockBuilder::ttl).
        ttl: Duration = span => RedlockBuilder::ttl;
        /// [`max_ttl`](crate::RedlockBuilder::max_ttl).
        max_ttl: Duration = span => RedlockBuilder::max_ttl;
        /// Controls whether [`max_ttl`](crate::RedlockBuilder::max_ttl) may be above 24 hours:
        /// [`allow_long_max_ttl`](crate::RedlockBuilder::allow_long_max_ttl).
        allow_long_max_ttl: bool = switch => RedlockBuilder::allow_long_max_ttl;
        /// [`acquire_timeout`](crate::RedlockBuilder::acquire_timeout).
        acquire_timeout: Duration = span => RedlockBuilder::acquire_timeout;
        /// [`max_hold`](crate::RedlockBuilder::max_hold).
        max_hold: Duration = span => RedlockBuilder::max_hold;
        /// [`operation_timeout`](crate::RedlockBuilder::operation_timeout).
        operation_timeout: Duration = span => RedlockBuilder::operation_timeout;
        /// [`connect_timeout`](crate::RedlockBuilder::connect_timeout).
        connect_timeout: Duration = span => RedlockBuilder::connect_timeout;
        /// The share of each ttl in [`drift`](crate::RedlockBuilder::drift), in parts per million.
        drift_rate_ppm: u32 = ppm in options.drift.rate_ppm;
        /// The constant in [`drift`](crate::RedlockBuilder::drift).
        drift_constant: Duration = span in options.drift.constant;
        /// The first pause in [`backoff`](crate::RedlockBuilder::backoff).
        backoff_base: Duration = span in options.backoff.base;
        /// The longest pause in [`backoff`](crate::RedlockBuilder::backoff).
        backoff_cap: Duration = span in options.backoff.cap;
        /// The distance behind in [`fencing_window`](crate::RedlockBuilder::fencing_window).
        fencing_window_back: Duration = span in options.fencing_window.back;
        /// The distance ahead in [`fencing_window`](crate::RedlockBuilder::fencing_window).
        fencing_window_ahead: Duration = span in options.fencing_window.ahead;
        /// [`restart_guard`](crate::RedlockBuilder::restart_guard).
        restart_guard: RestartGuard = guard => RedlockBuilder::restart_guard;
        /// [`wake_ups`](crate::RedlockBuilder::wake_ups).
        wake_ups: bool = switch => RedlockBuilder::wake_ups;
        /// [`fair`](crate::RedlockBuilder::fair).
        fair: bool = switch => RedlockBuilder::fair;
        /// [`keep_warm`](crate::RedlockBuilder::keep_warm).
        keep_warm: Duration = span => RedlockBuilder::keep_warm;
        /// Controls whether [`connect`](crate::RedlockBuilder::connect) fails on any unfit master:
        /// [`strict`](crate::RedlockBuilder::strict).
        strict: bool = switch => RedlockBuilder::strict;
        /// [`key_prefix`](crate::RedlockBuilder::key_prefix).
        key_prefix: String = text => RedlockBuilder::key_prefix;
        /// [`lock_delay`](crate::RedlockBuilder::lock_delay).
        lock_delay: Duration = span => RedlockBuilder::lock_delay;
        /// [`label`](crate::RedlockBuilder::label).
        label: String = text => RedlockBuilder::label;
        /// A file with the user and the password for all masters, which may change:
        /// [`credentials_file`](crate::RedlockBuilder::credentials_file).
        credentials_file: PathBuf = path => RedlockBuilder::credentials_file;
        /// A PEM file with the authorities that `rediss://` masters are verified by, instead of the
        /// platform's. Needs the feature `tls`, as do the next two.
        tls_ca_file: PathBuf = path in tls_files.ca;
        /// A PEM file with the certificate that is presented to `rediss://` masters, and those it
        /// rests on. All three files are read anew for each connection.
        tls_cert_file: PathBuf = path in tls_files.cert;
        /// A PEM file with the private key of that certificate, without a passphrase.
        tls_key_file: PathBuf = path in tls_files.key;
    }
}

/// Reads a list of masters, which may be empty.
fn addresses(value: Value) -> Result<Vec<NodeAddress>, String> {
    let items: Vec<Value> = match value {
        Value::String(text) => {
            let parts = text.split(|c: char| c == ',' || c.is_whitespace());
            parts.filter(|part| !part.is_empty()).map(Value::from).collect()
        }
        Value::Array(items) => items,
        _ => return Err("is not a list: write it like [\"redis://10.0.0.1\", …]".to_owned()),
    };
    let parsed = items.iter().enumerate().map(|(at, item)| {
        let address = item.as_str().unwrap_or_default().parse::<NodeAddress>();
        address.map_err(|error| format!("node {} of {}: {}", at + 1, items.len(), error.problem))
    });
    parsed.collect()
}

fn span(value: Value) -> Result<Duration, String> {
    let span = value.as_str().and_then(|text| humantime::parse_duration(text.trim()).ok());
    span.ok_or_else(|| {
        "is not a duration with a unit, or too long: write it like \"10s\" or \"500ms\"".to_owned()
    })
}

fn ppm(value: Value) -> Result<u32, String> {
    let ppm = value.as_integer().or_else(|| value.as_str()?.trim().parse().ok());
    let ppm = ppm.and_then(|ppm| u32::try_from(ppm).ok());
    ppm.ok_or_else(|| "is not a whole number of parts per million: 10000 are 1 %".to_owned())
}

fn guard(value: Value) -> Result<RestartGuard, String> {
    match value.as_str().map(str::trim) {
        Some("on") => Ok(RestartGuard::On),
        Some("off") => Ok(RestartGuard::Off),
        Some("trust-persistence") => Ok(RestartGuard::TrustPersistence),
        _ => Err("is none of \"on\", \"off\" and \"trust-persistence\"".to_owned()),
    }
}

fn switch(value: Value) -> Result<bool, String> {
    let on = value.as_bool().or_else(|| value.as_str()?.trim().parse().ok());
    on.ok_or_else(|| "is neither true nor false".to_owned())
}

fn text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err("is not a string: put it in quotes".to_owned()),
    }
}

fn path(value: Value) -> Result<PathBuf, String> {
    match text(value)? {
        path if path.is_empty() => Err("is empty: name a file, or leave it out".to_owned()),
        path => Ok(path.into()),
    }
}

/// Returns the name as it may be shown. Text that does not look like a name may be anything, a
/// password included.
fn shown(name: &str) -> Option<&str> {
    /// Longer ones are not misspelt names.
    const LONGEST: usize = 50;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_name = !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain);
    is_name.then_some(name)
}

/// Says which key was meant, if it can be guessed; `spelt` writes a key as its source does.
fn unknown(name: &str, spelt: fn(&str) -> String) -> String {
    // Of less likeness are other words.
    const LEAST: f64 = 0.75;
    let name = shown(name).unwrap_or_default().to_ascii_lowercase().replace('-', "_");
    let name = name.strip_prefix("quorumlock_").unwrap_or(&name);
    let keys = Config::KEYS.iter().map(|key| (strsim::jaro_winkler(name, key), key));
    match keys.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((likeness, key)) if likeness > LEAST => {
            format!("unknown key: did you mean {}?", spelt(key))
        }
        _ => "unknown key: it is misspelt, or of another version".to_owned(),
    }
}

#[cfg(test)]
mod tests;
