//! The values that each kind of key takes, whatever their source. A value from the environment is
//! always a string.
//!
//! Errors leave out the value: there may be a password in an unexpected place.

use super::NodeAddress;
use crate::RestartGuard;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// Reads a list of masters, which may be empty.
pub(super) fn addresses(value: Value) -> Result<Vec<NodeAddress>, String> {
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

pub(super) fn span(value: Value) -> Result<Duration, String> {
    let span = value.as_str().and_then(|text| humantime::parse_duration(text.trim()).ok());
    span.ok_or_else(|| {
        "is not a duration with a unit, or too long: write it like \"10s\" or \"500ms\"".to_owned()
    })
}

pub(super) fn ppm(value: Value) -> Result<u32, String> {
    let ppm = value.as_integer().or_else(|| value.as_str()?.trim().parse().ok());
    let ppm = ppm.and_then(|ppm| u32::try_from(ppm).ok());
    ppm.ok_or_else(|| "is not a whole number of parts per million: 10000 are 1 %".to_owned())
}

pub(super) fn guard(value: Value) -> Result<RestartGuard, String> {
    match value.as_str().map(str::trim) {
        Some("on") => Ok(RestartGuard::On),
        Some("off") => Ok(RestartGuard::Off),
        Some("trust-persistence") => Ok(RestartGuard::TrustPersistence),
        _ => Err("is none of \"on\", \"off\" and \"trust-persistence\"".to_owned()),
    }
}

pub(super) fn switch(value: Value) -> Result<bool, String> {
    let on = value.as_bool().or_else(|| value.as_str()?.trim().parse().ok());
    on.ok_or_else(|| "is neither true nor false".to_owned())
}

pub(super) fn text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err("is not a string: put it in quotes".to_owned()),
    }
}

pub(super) fn path(value: Value) -> Result<PathBuf, String> {
    match text(value)? {
        path if path.is_empty() => Err("is empty: name a file, or leave it out".to_owned()),
        path => Ok(path.into()),
    }
}
