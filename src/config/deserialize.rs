//! A configuration as a part of another one, in whatever format serde reads.

use super::Config;
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;

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
