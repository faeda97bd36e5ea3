//! A configuration as a part of another one, in whatever format serde reads.

use super::file::unknown_key;
use super::{Config, unknown};
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use toml::Value;

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
            let at_key = |problem: &str| match unknown::shown(&key) {
                Some(key) => A::Error::custom(format_args!("{key}: {problem}")),
                None => A::Error::custom(problem),
            };
            if config.is_set(&key) {
                return Err(at_key("it is set twice: keep one of them"));
            }
            let value =
                map.next_value::<Value>().map_err(|_| at_key("its value cannot be read"))?;
            let set = config.set(&key, value).unwrap_or_else(|| Err(unknown_key(&key)));
            set.map_err(|problem| at_key(&problem))?;
        }
        Ok(config)
    }
}
