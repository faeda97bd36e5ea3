//! Durations, as people write them.

use std::time::Duration;

/// Parses `10s`, `500ms`, `1m 30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| {
        let unitless = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            _ if text.starts_with("--") => "the duration is missing".to_owned(),
            _ if text.starts_with('-') => "a duration is never negative".to_owned(),
            "0" => "write 0s".to_owned(),
            _ if unitless => format!("a unit is missing: write {text}s or {text}ms"),
            _ => format!("{error}: write it like 10s, 500ms or \"1m 30s\""),
        }
    })
}

/// The shortest pause between two looks at all masters.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// Parses the pause between two looks.
pub(super) fn pause(text: &str) -> Result<Duration, String> {
    let pause = duration(text)?;
    let is_long_enough = pause >= SHORTEST_PAUSE;
    is_long_enough.then_some(pause).ok_or_else(|| "use at least 100ms".to_owned())
}
