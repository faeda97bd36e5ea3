//! A value as it goes from process to process, in whatever format serde writes and reads. The
//! input may have been written by anyone: it is not believed before it is checked.

use super::Detached;
use crate::fencing::FencingToken;
use crate::kind::{Detachable, Kind};
use quorumlock_core::coordinator::wire::{Millis, Token};
use quorumlock_core::coordinator::{DetachedFences, DetachedLock, KeepAlive, Keys};
use serde_core::de::value::UnitDeserializer;
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The version of what is written. A reader refuses any other, whatever else it finds.
struct Version;

impl Version {
    const NUMBER: u64 = 1;
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::NUMBER.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_ours = u64::deserialize(deserializer)? == Self::NUMBER;
        is_ours.then_some(Self).ok_or_else(|| D::Error::custom(""))
    }
}

/// A keep-alive without an end, as it is written: some formats have no greater numbers.
const FOREVER: u64 = i64::MAX as u64;

/// The most keys, masters and bytes that are read. Clients do not write more.
const MOST_KEYS: usize = 64;
const MOST_MASTERS: usize = 64;
const LONGEST_TEXT: usize = 64 * 8192;

/// Declares the value as it is written, with its fields in their order, and how they are read again.
macro_rules! wire {
    ($($field:ident: $type:ty,)+) => {
        struct Wire {
            $($field: $type,)+
        }

        const FIELDS: &[&str] = &[$(stringify!($field)),+];

        impl Serialize for Wire {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut fields = serializer.serialize_struct("Detached", FIELDS.len())?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)+
                fields.end()
            }
        }

        impl<'de> Visitor<'de> for Fields<'_> {
            type Value = Wire;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a lock that was detached")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Wire, A::Error> {
                $(let mut $field = None;)+
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        $(stringify!($field) => {
                            let value = self.read(stringify!($field), map.next_value::<$type>())?;
                            if $field.replace(value).is_some() {
                                return Err(self.problem(
                                    concat!(stringify!($field), " of a detached lock is there twice"),
                                ));
                            }
                        })+
                        _ => return Err(self.problem("a detached lock has a field that is not known")),
                    }
                }
                Ok(Wire {
                    $($field: match $field {
                        Some(value) => value,
                        // Only what is optional can be read from nothing.
                        None => <$type>::deserialize(UnitDeserializer::<A::Error>::new())
                            .map_err(|_| self.problem(concat!("missing in a detached lock: ", stringify!($field))))?,
                    },)+
                })
            }

            // Formats without names write the fields in their order.
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Wire, A::Error> {
                $(let $field = self.read(stringify!($field), seq.next_element::<$type>())?;)+
                Ok(Wire {
                    $($field: $field.ok_or_else(|| self.unread(stringify!($field)))?,)+
                })
            }
        }
    };
}

wire! {
    version: Version,
    resource: String,
    keys: Vec<String>,
    fences: Option<Vec<String>>,
    token: String,
    label: Option<String>,
    fencing_token: Option<u64>,
    greatest_asked: Option<u64>,
    ttl_ms: u64,
    lock_delay_ms: u64,
    at_least_ms: Option<u64>,
    keep_alive_ms: Option<u64>,
    unsettled: Vec<String>,
}

#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<K: Kind> Serialize for Detached<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lock = self.lock();
        let texts = |keys: &Keys| keys.iter().map(|key| key.to_string()).collect::<Vec<_>>();
        let wire = Wire {
            version: Version,
            resource: self.resource.to_string(),
            keys: texts(&lock.keys),
            fences: lock.fenced.as_ref().map(|fenced| texts(&fenced.fences)),
            token: lock.token.to_string(),
            label: lock.label.as_deref().map(str::to_owned),
            fencing_token: lock.fenced.as_ref().map(|fenced| fenced.number.get()),
            greatest_asked: lock.fenced.as_ref().map(|fenced| fenced.greatest.get()),
            ttl_ms: millis(lock.ttl),
            lock_delay_ms: millis(lock.life) - millis(lock.ttl),
            // Rounded up: the keys stay no shorter.
            at_least_ms: lock.at_least.map(|span| millis(Millis::rounded_up(span))),
            keep_alive_ms: lock.keep_alive.map(|keep_alive| match keep_alive {
                KeepAlive::FOREVER => FOREVER,
                // Rounded down: no deadline is moved beyond the end.
                limited => u64::try_from(limited.max_hold().as_millis()).unwrap_or(FOREVER),
            }),
            unsettled: lock.unsettled.iter().map(ToString::to_string).collect(),
        };
        wire.serialize(serializer)
    }
}

fn millis(span: Millis) -> u64 {
    u64::try_from(span.span().as_millis()).unwrap_or(u64::MAX)
}

#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de, K: Detachable> Deserialize<'de> for Detached<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let problem = Cell::new(None);
        let wire = deserializer.deserialize_struct("Detached", FIELDS, Fields(&problem));
        // What serde says by itself is left out: it may show the token.
        let other = "this is not a detached lock: it may have been cut off, or serialized twice";
        let wire =
            wire.map_err(|_| D::Error::custom(problem.take().as_deref().unwrap_or(other)))?;
        wire.into_detached().map_err(D::Error::custom)
    }
}

/// Reads the fields, and notes the problem if there is one.
struct Fields<'a>(&'a Cell<Option<String>>);

impl Fields<'_> {
    fn problem<E: Error>(&self, problem: impl Into<String>) -> E {
        self.0.set(Some(problem.into()));
        E::custom("")
    }

    fn unread<E: Error>(&self, field: &str) -> E {
        self.problem(match field {
            "version" => "another version of quorumlock has detached this lock".into(),
            _ => format!("{field} of a detached lock cannot be read"),
        })
    }

    fn read<T, E: Error>(&self, field: &str, value: Result<T, E>) -> Result<T, E> {
        value.map_err(|_| self.unread(field))
    }
}

impl Wire {
    /// Checks all that can be checked without a client. The rest is checked when it is adopted.
    fn into_detached<K: Detachable>(self) -> Result<Detached<K>, &'static str> {
        let (resource, keys) = (self.resource, keys(self.keys)?);
        let number = self.fencing_token.map(FencingToken::try_from).transpose();
        let number = number.map_err(|_| "fencing_token of a detached lock is no such number")?;
        let fences = self.fences.map(self::keys).transpose()?;
        let greatest = self.greatest_asked.map(FencingToken::try_from).transpose();
        let greatest = greatest.ok().filter(|greatest| *greatest >= number);
        let greatest = greatest.ok_or("greatest_asked of a detached lock is no such number")?;
        let fenced = match (fences, number, greatest) {
            (Some(fences), Some(number), Some(greatest)) if fences.len() == keys.len() => {
                let fences = Arc::new(fences);
                let numbers =
                    NonZeroU64::new(number.as_u64()).zip(NonZeroU64::new(greatest.as_u64()));
                numbers.map(|(number, greatest)| DetachedFences { fences, number, greatest })
            }
            (None, None, None) => None,
            _ => {
                return Err(
                    "a detached lock has a fence for each key, a fencing_token and greatest_asked, or none",
                );
            }
        };
        if fenced.is_some() != K::IS_FENCED {
            return Err(match K::IS_FENCED {
                true => "this detached lock has no fencing token: read it as a Detached",
                false => "this detached lock has a fencing token: read it as a FencedDetached",
            });
        }
        let label = self.label.map(Arc::<str>::from);
        if label.as_deref().is_some_and(|label| label.len() > LONGEST_TEXT) {
            return Err("label of a detached lock is too long");
        }
        if !is_named(&keys, &resource) {
            return Err("resource of a detached lock is not that of its keys");
        }
        let ttl_ms = self.ttl_ms;
        let life_ms =
            ttl_ms.checked_add(self.lock_delay_ms).filter(|life| *life <= i64::MAX as u64);
        let life_ms = life_ms.ok_or("ttl_ms and lock_delay_ms of a detached lock are too long")?;
        let keep_alive = self.keep_alive_ms.map(|left| match left {
            FOREVER => KeepAlive::FOREVER,
            left => KeepAlive::at_most(Duration::from_millis(left)),
        });
        if self.unsettled.len() > MOST_MASTERS {
            return Err("unsettled of a detached lock has too many masters");
        }
        let lock = DetachedLock {
            keys,
            token: token(&self.token).ok_or("token of a detached lock is missing, or is none")?,
            label,
            ttl: Duration::from_millis(ttl_ms).into(),
            life: Duration::from_millis(life_ms).into(),
            at_least: self.at_least_ms.map(Duration::from_millis),
            keep_alive,
            unsettled: self.unsettled.into_iter().map(Arc::from).collect(),
            fenced,
        };
        let kind = K::won_with(number, None);
        Ok(Detached::new(resource.into(), Box::new(lock), kind))
    }
}

/// Reads keys: at least one, none twice, and not so many that no client would have them.
fn keys(names: Vec<String>) -> Result<Keys, &'static str> {
    let count = names.len();
    if count > MOST_KEYS || names.iter().any(|name| name.len() > LONGEST_TEXT) {
        return Err("keys of a detached lock are too many, or too long");
    }
    let keys = Keys::several(names.into_iter().map(Arc::from));
    keys.filter(|keys| keys.len() == count).ok_or("keys of a detached lock are none, or one twice")
}

/// Returns whether `resource` is what these keys lock: their names behind one and the same prefix. The
/// client that adopts them knows which prefix that has to be.
fn is_named(keys: &Keys, resource: &str) -> bool {
    const BETWEEN: &str = ", ";
    let bytes = keys.iter().map(|key| key.len()).sum::<usize>() + BETWEEN.len() * (keys.len() - 1);
    let Some(prefixes) = bytes.checked_sub(resource.len()) else { return false };
    let Some(prefix) = keys.first().get(..prefixes / keys.len()) else { return false };
    let names: Option<Vec<&str>> = keys.iter().map(|key| key.strip_prefix(prefix)).collect();
    names.is_some_and(|names| names.join(BETWEEN) == resource)
}

/// Reads the 32 digits of a token.
fn token(digits: &str) -> Option<Token> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_token = digits.len() == Token::DIGITS && digits.bytes().all(is_digit);
    is_token.then(|| u128::from_str_radix(digits, 16).ok().map(Token::new)).flatten()
}
