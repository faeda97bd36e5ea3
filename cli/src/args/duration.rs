//! Durations, as people write them.

use std::time::Duration;

/// Parses `10s`, `500ms`, `1m 30s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}: write it like 10s, 500ms or \"1m 30s\""))
}

/// The shortest pause between two looks at all masters.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// Parses the pause between two looks.
pub(super) fn pause(text: &str) -> Result<Duration, String> {
    let pause = duration(text)?;
    let is_long_enough = pause >= SHORTEST_PAUSE;
    is_long_enough.then_some(pause).ok_or_else(|| "use at least 100ms".to_owned())
}
