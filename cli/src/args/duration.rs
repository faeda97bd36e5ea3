//! Durations, as people write them.

use std::time::Duration;

/// Parses `10s`, `500ms`, `1m 30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| {
        let unitless = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "0" => "write 0s".to_owned(),
            _ if unitless => format!("a unit is missing: write {text}s or {text}ms"),
            _ => format!("{error}: write it like 10s, 500ms or \"1m 30s\""),
        }
    })
}
