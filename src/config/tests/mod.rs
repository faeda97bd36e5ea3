mod keys;
mod layers;
mod mistakes;
mod sample;
mod secrets;
#[cfg(feature = "tls")]
mod tls;
mod variables;

use super::*;
use crate::builder::RedlockBuilder;
use crate::redlock::Redlock;

fn built(config: Config) -> RedlockBuilder {
    Redlock::builder().config(config)
}

/// All that a builder was set to, but its masters.
fn shown(builder: &RedlockBuilder) -> String {
    format!("{builder:#?}")
}

fn toml(text: &str) -> Config {
    Config::from_toml(text).unwrap()
}

fn addresses<const N: usize>(urls: [&str; N]) -> Option<Vec<NodeAddress>> {
    Some(urls.iter().map(|url| url.parse().unwrap()).collect())
}

/// The keys that say nothing of TLS, or all where that is compiled.
fn usable(key: &str) -> bool {
    cfg!(feature = "tls") || !key.starts_with("tls_")
}
