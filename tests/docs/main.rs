//! The house rules, the documents and the pictures: no master is started, and each reads files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod circles;
mod clocks;
mod english;
mod house;
mod links;
mod owners;
mod pictures;
mod planted;
#[path = "../support/postgresql.rs"]
#[allow(dead_code, reason = "the tests of fenced stores restart it")]
mod postgresql;
mod postgresql_docs;
#[path = "../support/psql.rs"]
mod psql;
mod readme;
mod safety;
#[path = "../support/source.rs"]
mod source;

use std::fs;
use std::path::PathBuf;

use source::{Token, tokens};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file of this package.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the tokens without the module of tests in the same file.
fn shipped(source: &str) -> Vec<Token> {
    let mut tokens = tokens(source);
    let tests = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let begins =
        |window: &[Token]| window.iter().zip(tests).all(|(token, word)| token.text == word);
    if let Some(at) = tokens.windows(tests.len()).position(begins) {
        tokens.truncate(at);
    }
    tokens
}
