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

/// Shows all that a builder was set to, except its masters.
fn shown(builder: &RedlockBuilder) -> String {
    format!("{builder:#?}")
}

fn toml(text: &str) -> Config {
    Config::from_toml(text).unwrap()
}

fn addresses<const N: usize>(urls: [&str; N]) -> Option<Vec<NodeAddress>> {
    Some(urls.iter().map(|url| url.parse().unwrap()).collect())
}

fn is_set(config: &Config, key: &str) -> bool {
    !format!("{config:?}").contains(&format!(" {key}: None"))
}
