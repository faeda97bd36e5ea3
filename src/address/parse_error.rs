//! What a person reads who wrote an address that the `redis` crate did not take.
//!
//! Its own texts say that a URL did not parse, and no more. `tests.rs` pins ours word by word, so
//! that a release of theirs which changes a text below turns red rather than vague.

use redis::RedisError;

use super::{EXAMPLE, NO_TLS};

/// What was wrong with an address that the `redis` crate did not take, and a right one. `input` is
/// what the user wrote, if it was text. It may hold a password anywhere, so nothing of it is shown
/// but a scheme, and a `host:port` that is nothing else.
pub(crate) fn parse_error(input: Option<&str>, error: &RedisError) -> String {
    let error = error.to_string();
    // "description - kind: detail", and the detail may quote the input.
    let description = error.split(" - ").next().unwrap_or_default();
    let problem = match description {
        NO_TLS_IN_REDIS => return NO_TLS.into(),
        "Redis URL did not parse" => match input.map(str::trim) {
            None => "the address is not a URL for Redis".to_owned(),
            Some("") => "the address is empty".to_owned(),
            Some(input) => match input.split_once("://") {
                Some((scheme, _)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
                    MALFORMED.to_owned()
                }
                Some((scheme, _)) if is_word(scheme) => {
                    format!("\"{scheme}\" is not a scheme for Redis")
                }
                _ if is_host_and_port(input) => {
                    return format!("the address has no scheme: write \"redis://{input}\"");
                }
                _ => "the address has no scheme".to_owned(),
            },
        },
        "URL provided is not a redis URL" => "the scheme is not one for Redis".to_owned(),
        "Missing hostname" => "the address has no host".to_owned(),
        "Missing path" => "the address has no absolute path".to_owned(),
        "Invalid database number" => "the database is not a number".to_owned(),
        other => other.to_owned(),
    };
    format!("{problem}: {EXAMPLE}")
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_host_and_port(input: &str) -> bool {
    input.split_once(':').is_some_and(|(host, port)| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        !host.is_empty() && host.bytes().all(plain) && port.parse::<u16>().is_ok()
    })
}

const SCHEMES: [&str; 7] =
    ["redis", "rediss", "valkey", "valkeys", "unix", "redis+unix", "valkey+unix"];
const MALFORMED: &str = "the address is not a valid URL (special characters in a user name or \
                         password are written %XX, a port is at most 65535, IPv6 in brackets)";
const NO_TLS_IN_REDIS: &str = "can't connect with TLS, the feature is not enabled";
