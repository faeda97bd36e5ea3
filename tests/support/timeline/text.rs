//! Texts and numbers as the picture shows them.

use std::time::Duration;

/// Escapes a text for the content of an element and for an attribute. Characters that XML can't
/// carry become `\u{fffd}`.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            control if control.is_control() => safe.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Formats a coordinate to the hundredth.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns how wide a text of this size usually is at most: there is no font to ask.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    f64::from(letters) * size * 0.58
}

/// Returns the text, or as much of it as fits.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() && width(&format!("{}…", String::from_iter(&kept)), size) > room {
        kept.pop();
    }
    if kept.is_empty() { String::new() } else { format!("{}…", String::from_iter(kept)) }
}

/// Formats an instant of the run to the millisecond, or to the microsecond in a short run.
pub(super) fn instant(at: Duration, whole: Duration) -> String {
    if whole < Duration::from_millis(100) {
        format!("{:.6} s", at.as_secs_f64())
    } else {
        format!("{:.3} s", at.as_secs_f64())
    }
}

pub(super) fn length(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    if seconds >= 120.0 {
        format!("{}:{:02} min", span.as_secs() / 60, span.as_secs() % 60)
    } else if seconds >= 1.0 {
        format!("{} s", px(seconds))
    } else if seconds >= 0.001 {
        format!("{} ms", px(seconds * 1e3))
    } else {
        format!("{} µs", px(seconds * 1e6))
    }
}

/// Formats `1 hold`, `2 holds`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
