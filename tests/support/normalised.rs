//! Texts without the parts that differ from run to run, so that they can be compared word by word.

use super::server::Server;
use std::fmt::Display;

/// Shows the masters' ports as `<1>`, `<2>`, in the masters' order.
pub(crate) fn without_ports(error: impl Display, masters: &[Server]) -> String {
    let ports = masters.iter().enumerate();
    ports.fold(error.to_string(), |text, (node, server)| {
        text.replace(&format!(":{}", server.port()), &format!(":<{}>", node + 1))
    })
}

/// Replaces each span of time (`1ms 20us`) with one `<time>`; what follows it stays.
pub(crate) fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let unit = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        unit.len() < word.len() && ["us", "ms", "s"].contains(&unit)
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let span = word.trim_end_matches([',', ';', ':', ')']);
        if !is_time(span) {
            words.push(word.to_owned());
            continue;
        }
        words.pop_if(|last| last == "<time>");
        words.push(format!("<time>{}", &word[span.len()..]));
    }
    words.join(" ")
}
