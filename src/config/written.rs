//! A value as it was written, whatever its source, and what each kind of key makes of it.
//!
//! Errors leave out the value: there may be a password in an unexpected place.

use super::{NodeAddress, RestartGuard};
use std::path::PathBuf;
use std::time::Duration;

pub(super) enum Written {
    /// Text; a value from the environment always is.
    Text(String),
    /// A number; `None` if it is not a whole number of 32 bits.
    Number(Option<u32>),
    Switch(bool),
    List(Vec<Written>),
    /// A table, a date, nothing: no key takes it.
    Other,
}

const DURATION: &str = "write it like \"10s\" or \"500ms\"";

pub(super) fn nodes(value: Written, may_be_empty: bool) -> Result<Vec<NodeAddress>, String> {
    let addresses: Vec<Option<String>> = match value {
        Written::Text(text) => {
            let parts = text.split(|c: char| c == ',' || c.is_whitespace());
            parts.filter(|part| !part.is_empty()).map(|part| Some(part.to_owned())).collect()
        }
        Written::List(items) => items.into_iter().map(|item| text(item).ok()).collect(),
        Written::Number(_) | Written::Switch(_) | Written::Other => {
            return Err("is not a list: write it like [\"redis://10.0.0.1\", …]".to_owned());
        }
    };
    if addresses.is_empty() && !may_be_empty {
        let problem = "there is none: name the masters, five usually, such as redis://10.0.0.1";
        return Err(problem.to_owned());
    }
    let count = addresses.len();
    let parsed = addresses.into_iter().enumerate().map(|(at, address)| {
        let told = |problem: &str| format!("node {} of {count}: {problem}", at + 1);
        let address = address.ok_or_else(|| told("is not a string: put the address in quotes"))?;
        address.parse::<NodeAddress>().map_err(|error| told(&error.problem))
    });
    parsed.collect()
}

pub(super) fn span(value: &Written) -> Result<Duration, String> {
    let bare = || Err(format!("a bare number has no unit: {DURATION}"));
    match value {
        Written::Text(text) if text.trim().parse::<f64>().is_ok() => bare(),
        Written::Text(text) => humantime::parse_duration(text.trim())
            .map_err(|_| format!("is not a duration, or too long: {DURATION}")),
        Written::Number(_) => bare(),
        _ => Err(format!("is not a duration: {DURATION}, in quotes")),
    }
}

pub(super) fn ppm(value: &Written) -> Result<u32, String> {
    let ppm = match value {
        Written::Text(text) => text.trim().parse().ok(),
        Written::Number(number) => *number,
        _ => None,
    };
    ppm.ok_or_else(|| "is not a whole number of parts per million: 10000 are 1 %".to_owned())
}

pub(super) fn guard(value: &Written) -> Result<RestartGuard, String> {
    let text = if let Written::Text(text) = value { text.trim() } else { "" };
    match text {
        "on" => Ok(RestartGuard::On),
        "off" => Ok(RestartGuard::Off),
        "trust-persistence" => Ok(RestartGuard::TrustPersistence),
        _ => Err("is none of \"on\", \"off\" and \"trust-persistence\"".to_owned()),
    }
}

pub(super) fn switch(value: &Written) -> Result<bool, String> {
    match value {
        Written::Switch(on) => Ok(*on),
        Written::Text(text) if text.trim() == "true" => Ok(true),
        Written::Text(text) if text.trim() == "false" => Ok(false),
        _ => Err("is neither true nor false".to_owned()),
    }
}

pub(super) fn text(value: Written) -> Result<String, String> {
    match value {
        Written::Text(text) => Ok(text),
        _ => Err("is not a string: put it in quotes".to_owned()),
    }
}

pub(super) fn pem(value: Written) -> Result<PathBuf, String> {
    if !cfg!(feature = "tls") {
        return Err(super::tls_files::NO_TLS.to_owned());
    }
    match text(value)? {
        path if path.is_empty() => Err("is empty: name a PEM file, or leave it out".to_owned()),
        path => Ok(path.into()),
    }
}
