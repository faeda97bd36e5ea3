//! A configuration as a part of another one, in whatever format serde reads.
//!
//! Written by hand, since serde's messages about a value of the wrong type show the value.

use super::file::unknown_key;
use super::slot::Slot;
use super::written::Written;
use super::{Config, unknown};
use serde_core::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

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
        while let Some(key) = map.next_key::<Written>()? {
            let Written::Text(name) = key else {
                return Err(A::Error::custom("a key is not a string"));
            };
            let Some(slot) = config.slot(&name) else {
                return Err(told(&name, &unknown_key(&name)));
            };
            if slot.is_set() {
                return Err(told(&name, "it is set twice: keep one of them"));
            }
            map.next_value_seed(Value { name: &name, slot })?;
        }
        Ok(config)
    }
}

fn told<E: Error>(name: &str, problem: &str) -> E {
    match unknown::shown(name) {
        Some(name) => E::custom(format_args!("{name}: {problem}")),
        None => E::custom(problem),
    }
}

struct Value<'a> {
    name: &'a str,
    slot: Slot<'a>,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let written = Written::deserialize(deserializer)?;
        self.slot.take(written).map_err(|problem| told(self.name, &problem))
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

/// Any value; accepted as it is, so that no message of serde's is about one.
struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, on: bool) -> Result<Written, E> {
        Ok(Written::Switch(on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Written, E> {
        Ok(Written::Number(u32::try_from(number).ok()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Written, E> {
        Ok(Written::Number(u32::try_from(number).ok()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Written, E> {
        Ok(Written::Number(u32::try_from(number).ok()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Written, E> {
        Ok(Written::Number(u32::try_from(number).ok()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Written, E> {
        Ok(Written::Number(None))
    }

    fn visit_str<E>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Written, E> {
        Ok(Written::Text(text))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Written, E> {
        Ok(Written::Other)
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        Ok(Written::Other)
    }

    fn visit_none<E>(self) -> Result<Written, E> {
        Ok(Written::Other)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Written, D::Error> {
        Written::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Written, D::Error> {
        Written::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Written::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        while map.next_entry::<Written, Written>()?.is_some() {}
        Ok(Written::Other)
    }
}
