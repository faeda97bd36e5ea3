//! The API for threads has what the async API has: each public method of a type is one of its twin, too.

use crate::source::{files, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// What threads do not have, and why.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("Leaders", "next", "an iterator has it from its trait"),
    ("LockList", "next", "an iterator has it from its trait"),
];

/// Types of the async API that threads use as they are.
const SHARED: [&str; 2] = ["Lease", "RedlockBuilder"];

type Methods = BTreeMap<String, BTreeSet<String>>;

/// Returns the public methods of each type in these files, by the type's name: the asynchronous ones, or all.
fn methods<'a>(sources: impl Iterator<Item = &'a String>, only_async: bool) -> Methods {
    let mut found = Methods::new();
    for source in sources {
        let tokens = tokens(source);
        let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        for (at, _) in words.iter().enumerate().filter(|(_, word)| **word == "impl") {
            // Not that of a trait, nor `impl Trait` within a signature.
            let begins = at == 0 || matches!(words[at - 1], "}" | ";" | "]");
            let Some(open) = words[at..].iter().position(|word| *word == "{").map(|to| at + to)
            else {
                continue;
            };
            let header = &words[at + 1..open];
            if !begins || header.contains(&"for") {
                continue;
            }
            let name = &header[generics(header)..];
            // `super::Guard<K>`: the last part of the path.
            let path = name.iter().take_while(|word| !matches!(**word, "<" | "where"));
            let Some(name) = path.filter(|word| **word != "::").last() else { continue };
            found.entry((*name).to_owned()).or_default().extend(public(&words[open..], only_async));
        }
    }
    found
}

/// Returns the number of tokens of the generics with which a header begins.
fn generics(header: &[&str]) -> usize {
    let mut depth = 0;
    for (at, word) in header.iter().enumerate() {
        match *word {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if header[0] == "<" { at + 1 } else { 0 };
        }
    }
    0
}

/// Returns the names of the public functions in the block that begins here.
fn public(block: &[&str], only_async: bool) -> Vec<String> {
    let mut depth = 0;
    let end = block.iter().position(|word| {
        depth += match *word {
            "{" => 1,
            "}" => -1,
            _ => 0,
        };
        depth == 0
    });
    let block = &block[..end.unwrap_or(block.len())];
    let public = (0..block.len()).filter(|at| block[*at] == "pub").filter_map(|at| {
        let signature = block[at + 1..].iter().take(4);
        let words: Vec<&str> = signature.copied().collect();
        let at = words.iter().position(|word| *word == "fn")?;
        let is_plain = words[..at].iter().all(|word| matches!(*word, "const" | "async"));
        let is_meant = is_plain && (!only_async || words[..at].contains(&"async"));
        words.get(at + 1).filter(|_| is_meant).map(|name| (*name).to_owned())
    });
    public.collect()
}

/// Returns the sources for tasks, and those for threads.
fn sources() -> io::Result<[BTreeMap<PathBuf, String>; 2]> {
    let is_test = |path: &Path| path.iter().any(|part| part == "tests" || part == "tests.rs");
    let all = files("src")?.into_iter().filter(|(path, _)| !is_test(path));
    let (threads, tasks) = all.partition(|(path, _)| path.starts_with("src/blocking"));
    Ok([tasks, threads])
}

/// Returns the types that a file exports.
fn exported(path: &str) -> BTreeSet<String> {
    let source = crate::read(path);
    let exports = source.split(';').filter(|statement| statement.contains("pub use"));
    let words = exports.flat_map(|export| export.split(|sign: char| !sign.is_alphanumeric()));
    words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

#[test]
fn threads_have_every_method_that_tasks_have() -> io::Result<()> {
    let [tasks, threads] = sources()?.map(|files| methods(files.values(), false));
    assert!(threads["Redlock"].len() > 15 && threads["Acquire"].len() > 10, "{threads:?}");
    let mut lacking = BTreeSet::new();
    for name in exported("src/blocking/mod.rs").difference(&SHARED.map(str::to_owned).into()) {
        let [of_tasks, of_threads] =
            [&tasks, &threads].map(|all| all.get(name).cloned().unwrap_or_default());
        let missing = of_tasks.difference(&of_threads);
        lacking.extend(missing.map(|method| (name.clone(), method.clone())));
    }
    let excepted = EXCEPTIONS.map(|(name, method, _)| (name.to_owned(), method.to_owned()));
    assert_eq!(lacking, excepted.into(), "`quorumlock::blocking` lacks these, of the async API");
    Ok(())
}

#[test]
fn every_type_that_is_awaited_has_a_twin_for_threads() -> io::Result<()> {
    let (public, twins) = (exported("src/lib.rs"), exported("src/blocking/mod.rs"));
    let [tasks, _] = sources()?;
    let awaited = methods(tasks.values(), true).into_iter();
    let awaited = awaited.filter(|(name, methods)| public.contains(name) && !methods.is_empty());
    let awaited: BTreeSet<String> = awaited.map(|(name, _)| name).collect();
    assert!(awaited.contains("Redlock") && awaited.contains("LockList"), "{awaited:?}");
    let without = awaited.difference(&twins).filter(|name| !SHARED.contains(&name.as_str()));
    assert_eq!(without.collect::<Vec<_>>(), Vec::<&String>::new());
    Ok(())
}
