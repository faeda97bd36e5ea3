//! The message for a person who wrote an address that the `redis` crate did not take.
//!
//! Its own texts say that a URL did not parse, and no more. `tests.rs` pins ours word by word. If a
//! release of that crate changes a text below, a test fails instead of ours becoming vague.

use redis::RedisError;

use super::{EXAMPLE, NO_TLS};

/// Returns what was wrong with an address that the `redis` crate did not take, and a correct one.
/// The text shows nothing of the address, which may hold a password anywhere.
pub(crate) fn parse_error(error: &RedisError) -> String {
    let error = error.to_string();
    // "description - kind: detail", and the detail may quote the address.
    let problem = match error.split(" - ").next().unwrap_or_default() {
        NO_TLS_IN_REDIS => return NO_TLS.into(),
        "Redis URL did not parse" => NO_URL,
        "URL provided is not a redis URL" => "the scheme is not one for Redis",
        "Missing hostname" => "the address has no host",
        "Missing path" => "the address has no absolute path",
        "Invalid database number" => "the database is not a number",
        other => other,
    };
    format!("{problem}: {EXAMPLE}")
}

const NO_URL: &str = "the address is not a URL for Redis (it needs a scheme such as redis://, %XX for \
                      special characters in a user name or password, brackets around IPv6)";
const NO_TLS_IN_REDIS: &str = "can't connect with TLS, the feature is not enabled";
