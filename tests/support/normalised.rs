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

/// Shows the masters as `<1>`, `<2>`, in their order, whether they have their own addresses or those
/// of a recording: `10.0.0.1:6379`.
pub(crate) fn without_addresses(text: &str, masters: &[Server]) -> String {
    masters.iter().zip(1..).fold(text.to_owned(), |text, (server, place)| {
        text.replace(&server.addr().to_string(), &format!("<{place}>"))
            .replace(&format!("10.0.0.{place}:6379"), &format!("<{place}>"))
    })
}

/// Replaces each span of time (`1.2 ms`, `2 min 3 s`, and `1m 20s` of a setting) with one `<time>`; what
/// follows it stays.
pub(crate) fn without_times(text: &str) -> String {
    const UNITS: [&str; 6] = ["µs", "ms", "s", "min", "h", "d"];
    let bare = |word: &str| word.trim_end_matches([',', ';', ':', ')']).to_owned();
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let unit = |word: &str| {
        word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned()
    };
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.split(' ').peekable();
    while let Some(word) = rest.next() {
        let (named, after) = (unit(&bare(word)), rest.peek().map(|word| bare(word)));
        let last = if !is_number(word) {
            None
        } else if named.is_empty() && after.is_some_and(|after| UNITS.contains(&&*after)) {
            rest.next()
        } else {
            Some(word).filter(|_| UNITS.contains(&&*named) || named == "m")
        };
        match last {
            None => words.push(word.to_owned()),
            Some(last) => {
                words.pop_if(|last| last == "<time>");
                words.push(format!("<time>{}", &last[bare(last).len()..]));
            }
        }
    }
    words.join(" ")
}
