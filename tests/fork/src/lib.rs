//! Processes that fork with a client. The child learns at once that it has to connect for itself, and the parent's locks
//! and sockets are as they were.

#![cfg(all(test, unix))]

mod async_calls;
mod child;
mod masters;
mod runtimes;
mod thread_calls;

use std::fmt::Display;

/// What each call in a fork has to say.
const REMEDY: &str = "connect after the fork";

/// Returns the text of what has to be an error.
fn refused<T>(result: Result<T, impl Display>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "it worked".into())
}

/// Checks that each of `calls` calls was refused, with the remedy.
fn assert_all_refused(lines: &[String], calls: usize) {
    let wrong: Vec<_> = lines.iter().filter(|line| !line.contains(REMEDY)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(lines.len(), calls, "{lines:#?}");
}
