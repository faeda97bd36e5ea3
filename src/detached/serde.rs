//! A value as it goes from process to process, in whatever format serde writes and reads. The
//! input may have been written by anyone: it is not believed before it is checked.

use super::Detached;
use crate::fencing::FencingToken;
use crate::kind::{Detachable, Kind};
use quorumlock_core::coordinator::wire::{Millis, Token, millis};
use quorumlock_core::coordinator::{DetachedFences, DetachedLock, Keys};
use quorumlock_core::quorum::Nanos;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The version of what is written. A reader refuses any other, whatever else it finds.
const VERSION: u64 = 1;
const OTHER_VERSION: &str = "another version of quorumlock has written it";

/// A keep-alive without an end, as it is written: some formats have no greater numbers.
const FOREVER: u64 = i64::MAX as u64;

/// The most keys, masters and bytes that are read. Clients do not write more.
const MOST_KEYS: usize = 64;
const MOST_MASTERS: usize = 64;
const LONGEST_TEXT: usize = 64 * 8192;

/// The value as it is written. Formats without names write the fields in this order.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Detached", deny_unknown_fields)]
struct Wire {
    #[serde(deserialize_with = "version")]
    version: u64,
    resource: String,
    keys: Vec<String>,
    fences: Option<Vec<String>>,
    token: String,
    label: Option<String>,
    fencing_token: Option<NonZeroU64>,
    greatest_asked: Option<NonZeroU64>,
    ttl_ms: u64,
    lock_delay_ms: u64,
    at_least_ms: Option<u64>,
    keep_alive_ms: Option<u64>,
    unsettled: Vec<String>,
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let version = u64::deserialize(deserializer).ok().filter(|version| *version == VERSION);
    version.ok_or_else(|| D::Error::custom(OTHER_VERSION))
}

impl<K: Kind> Serialize for Detached<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lock = &self.lock;
        let texts = |keys: &Keys| keys.iter().map(|key| key.to_string()).collect::<Vec<_>>();
        let wire = Wire {
            version: VERSION,
            resource: self.resource.to_string(),
            keys: texts(&lock.keys),
            fences: lock.fenced.as_ref().map(|fenced| texts(&fenced.fences)),
            token: lock.token.to_string(),
            label: lock.label.as_deref().map(str::to_owned),
            fencing_token: lock.fenced.as_ref().map(|fenced| fenced.number),
            greatest_asked: lock.fenced.as_ref().map(|fenced| fenced.greatest),
            ttl_ms: millis(lock.ttl.span()),
            lock_delay_ms: millis(lock.life.span()) - millis(lock.ttl.span()),
            // Rounded up: the keys stay no shorter.
            at_least_ms: lock.at_least.map(|span| millis(Millis::rounded_up(span).span())),
            keep_alive_ms: lock.keep_alive.map(|keep_alive| match keep_alive {
                Nanos::FOREVER => FOREVER,
                // Rounded down: no deadline is moved beyond the end.
                limited => millis(limited.span()),
            }),
            unsettled: lock.unsettled.iter().map(ToString::to_string).collect(),
        };
        wire.serialize(serializer)
    }
}

impl<'de, K: Detachable> Deserialize<'de> for Detached<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer).map_err(|error| problem(&error.to_string()));
        wire.and_then(Wire::into_detached).map_err(|problem| {
            D::Error::custom(format_args!("a detached lock cannot be read: {problem}"))
        })
    }
}

/// Repeats what serde says, but for values and unknown names: the token may be among them.
fn problem(text: &str) -> String {
    match text.split('`').collect::<Vec<_>>()[..] {
        ["missing field ", field, ..] => format!("{field} is missing"),
        ["duplicate field ", field, ..] => format!("{field} is there twice"),
        ["unknown field ", ..] => "it has a field that is not known".into(),
        _ if text.starts_with(OTHER_VERSION) => OTHER_VERSION.into(),
        _ => "it was cut off, or serialized twice, or a field has a wrong value".into(),
    }
}

impl Wire {
    /// Checks all that can be checked without a client. The rest is checked when it is adopted.
    fn into_detached<K: Detachable>(self) -> Result<Detached<K>, String> {
        let keys = keys(self.keys)?;
        let fences = self.fences.map(self::keys).transpose()?.map(Arc::new);
        let fenced = fences.zip(self.fencing_token).zip(self.greatest_asked);
        let fenced =
            fenced.map(|((fences, number), greatest)| DetachedFences { fences, number, greatest });
        let fits = |DetachedFences { fences, number, greatest }: &DetachedFences| {
            let is_token = FencingToken::try_from(greatest.get()).is_ok();
            fences.len() == keys.len() && number <= greatest && is_token
        };
        let life_ms = self.ttl_ms.saturating_add(self.lock_delay_ms);
        let token = u128::from_str_radix(&self.token, 16).map(Token::new).unwrap_or(Token::new(0));
        let checks = [
            (
                fenced.as_ref().is_none_or(fits),
                "fences, fencing_token and greatest_asked do not go together",
            ),
            (
                fenced.is_some() || !K::IS_FENCED,
                "its fences, fencing_token or greatest_asked are missing: read it as a Detached",
            ),
            (
                self.fencing_token.is_none() || K::IS_FENCED,
                "it has a fencing token: read it as a FencedDetached",
            ),
            (self.label.iter().all(|label| label.len() <= LONGEST_TEXT), "label is too long"),
            (life_ms <= i64::MAX as u64, "ttl_ms and lock_delay_ms are too long"),
            (self.unsettled.len() <= MOST_MASTERS, "unsettled has too many masters"),
            (token.to_string() == self.token, "token is missing, or is none"),
        ];
        if let Some((_, problem)) = checks.into_iter().find(|(is_right, _)| !is_right) {
            return Err(problem.into());
        }
        let lock = DetachedLock {
            keys,
            token,
            label: self.label.map(Arc::from),
            ttl: Duration::from_millis(self.ttl_ms).into(),
            life: Duration::from_millis(life_ms).into(),
            at_least: self.at_least_ms.map(Duration::from_millis),
            // So many milliseconds as are written for it have no end.
            keep_alive: self.keep_alive_ms.map(Duration::from_millis).map(Nanos::of),
            unsettled: self.unsettled.into_iter().map(Arc::from).collect(),
            fenced,
        };
        Ok(Detached::new(self.resource.into(), Box::new(lock)))
    }
}

/// Reads keys: at least one, none twice, and not so many that no client would have them.
fn keys(names: Vec<String>) -> Result<Keys, String> {
    let count = names.len();
    if count > MOST_KEYS || names.iter().any(|name| name.len() > LONGEST_TEXT) {
        return Err("keys are too many, or too long".into());
    }
    let keys = Keys::several(names.into_iter().map(Arc::from));
    keys.filter(|keys| keys.len() == count).ok_or("keys are none, or one twice".into())
}
