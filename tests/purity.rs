//! The layers that decide do no I/O: `quorum/` knows nothing but values, `coordinator/` no
//! socket, task, clock or randomness of its own, and the embedded master's machine neither.
//!
//! The sources are read as tokens. Imports are spelled out in full (`use std::{net, fs as f}`
//! names `std::net` and `std::fs`), comments and strings don't count, unit tests neither.

#[path = "support/paths.rs"]
mod paths;
#[path = "support/source.rs"]
mod source;

use paths::{Named, is_float, names};
use source::{files, tokens};
use std::path::Path;
use std::{fs, io};

struct Layer {
    folder: &'static str,
    /// The dependencies that it may name.
    crates: &'static [&'static str],
    /// What it may name of the standard library; nothing here means all that `never` leaves.
    std: &'static [&'static str],
    /// The modules of this crate that it may name; nothing here means all that `never` leaves.
    ours: &'static [&'static str],
    /// What it never names, wherever in a path, and the reason.
    never: &'static [&'static [(&'static str, &'static str)]],
}

/// What no layer names.
const IMPURE: &[(&str, &str)] = &[
    ("async", "waits"),
    ("await", "waits"),
    ("time::Instant", "a clock"),
    ("Instant::now", "a clock"),
    ("SystemTime", "a clock"),
    ("rand", "randomness"),
    ("getrandom", "randomness"),
    ("HashMap", "its order is random"),
    ("HashSet", "its order is random"),
    ("RandomState", "randomness"),
    ("println", "output"),
    ("eprintln", "output"),
    ("dbg", "output"),
    ("extern", "another crate"),
    ("thread_local", "hidden state"),
];

/// What a layer does not name of the standard library that has no list of what it may.
const IO: &[(&str, &str)] = &[
    ("std::future", "waits"),
    ("std::task", "waits"),
    ("std::net", "a socket"),
    ("std::os", "a socket"),
    ("std::thread", "a task"),
    ("std::process", "a task"),
    ("std::fs", "I/O"),
    ("std::env", "I/O"),
];

const QUORUM: Layer = Layer {
    folder: "src/quorum",
    crates: &[],
    std: &[
        "std::array",
        "std::cmp",
        "std::collections::BTreeMap",
        "std::collections::BTreeSet",
        "std::collections::VecDeque",
        "std::fmt",
        "std::iter",
        "std::mem",
        "std::num",
        "std::ops",
        "std::time::Duration",
    ],
    ours: &["crate::quorum"],
    never: &[
        IMPURE,
        &[
            ("super::super", "reaches beyond its own folder"),
            ("f32", "rounds as it likes"),
            ("f64", "rounds as it likes"),
            ("mul_f32", "rounds as it likes"),
            ("mul_f64", "rounds as it likes"),
            ("as_secs_f32", "rounds as it likes"),
            ("as_secs_f64", "rounds as it likes"),
            ("from_secs_f32", "rounds as it likes"),
            ("from_secs_f64", "rounds as it likes"),
            ("print", "output"),
            ("eprint", "output"),
            ("static", "hidden state"),
        ],
    ],
};

const COORDINATOR: Layer = Layer {
    folder: "src/coordinator",
    crates: &["bytes", "humantime", "redis", "thiserror"],
    std: &[],
    ours: &[],
    never: &[
        IMPURE,
        IO,
        &[
            ("crate::driver", "reaches for the layer above"),
            ("crate::telemetry", "reaches for the layer above"),
            ("super::driver", "reaches for the layer above"),
            ("humantime::Timestamp", "a clock"),
            ("redis::aio", "a socket"),
            ("redis::Client", "a socket"),
            ("redis::Connection", "a socket"),
        ],
    ],
};

const EMBEDDED: Layer = Layer {
    folder: "src/embedded/machine",
    crates: &["mlua", "sha1_smol"],
    std: &[],
    ours: &["crate::embedded::machine"],
    never: &[
        IMPURE,
        IO,
        &[
            ("super::super::shell", "reaches for the layer above"),
            ("std::io", "I/O"),
            ("StdLib::ALL", "gives scripts I/O and a clock"),
            ("StdLib::ALL_SAFE", "gives scripts I/O and a clock"),
            ("StdLib::IO", "gives scripts I/O"),
            ("StdLib::OS", "gives scripts a clock"),
            ("static", "hidden state"),
        ],
    ],
};

impl Layer {
    /// What `source` names that this layer may not, each with its line. `dependencies` are the
    /// crates that a source of this package could name.
    fn violations(&self, source: &str, dependencies: &[String]) -> Vec<String> {
        let wrong = |named: &Named| {
            let reason = self.reason(named, dependencies)?;
            Some(format!("line {}: {} ({reason})", named.line, named.path))
        };
        names(&tokens(source)).iter().filter_map(wrong).collect()
    }

    fn reason(&self, named: &Named, dependencies: &[String]) -> Option<&'static str> {
        let path = named.path.as_str();
        let framed = format!("::{path}::");
        let never = |(never, _): &&(&str, &str)| framed.contains(&format!("::{never}::"));
        if let Some((_, reason)) = self.never.iter().copied().flatten().find(never) {
            return Some(reason);
        }
        let within = |allowed: &[&str]| {
            allowed.is_empty()
                || allowed.iter().any(|root| framed.starts_with(&format!("::{root}::")))
        };
        let (root, is_path) = (path.split("::").next()?, path.contains("::"));
        match root {
            "std" if (is_path || named.imported) && !within(self.std) => Some("no plain value"),
            "crate" if is_path && !within(self.ours) => Some("another layer"),
            _ if is_float(path) && !self.std.is_empty() => Some("rounds as it likes"),
            _ if (is_path || named.imported)
                && dependencies.iter().any(|name| name == root)
                && !self.crates.contains(&root) =>
            {
                Some("another crate")
            }
            _ => None,
        }
    }
}

/// The crates that Cargo.toml lists, as sources name them, and some that are not there yet.
fn dependencies() -> io::Result<Vec<String>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut listed = false;
    let mut names: Vec<String> = ["rand", "getrandom", "tokio", "futures"].map(String::from).into();
    for line in fs::read_to_string(manifest)?.lines() {
        if line.starts_with('[') {
            listed = line.ends_with("dependencies]");
        } else if let Some((name, _)) = line.split_once('=').filter(|_| listed) {
            names.push(name.trim().replace('-', "_"));
        }
    }
    Ok(names)
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
}

fn assert_pure(layer: &Layer) -> io::Result<()> {
    let dependencies = dependencies()?;
    let sources = files(layer.folder)?;
    let mut read = 0;
    let mut violations = Vec::new();
    for (path, source) in sources.iter().filter(|(path, _)| !is_test(path)) {
        read += 1;
        for violation in layer.violations(source, &dependencies) {
            violations.push(format!("{}, {violation}", path.display()));
        }
    }
    assert!(read >= 5, "only {read} sources in {}: has the folder moved?", layer.folder);
    assert!(violations.is_empty(), "{} is not pure:\n{}", layer.folder, violations.join("\n"));
    Ok(())
}

#[test]
fn what_is_decided_names_nothing_but_values() -> io::Result<()> {
    assert_pure(&QUORUM)
}

#[test]
fn what_is_done_about_it_names_no_socket_task_clock_or_randomness() -> io::Result<()> {
    assert_pure(&COORDINATOR)
}

#[test]
fn the_embedded_master_is_a_machine_without_socket_task_clock_or_randomness() -> io::Result<()> {
    assert_pure(&EMBEDDED)
}

#[test]
fn every_forbidden_name_is_found_in_an_import_and_in_an_expression() -> io::Result<()> {
    let dependencies = dependencies()?;
    for layer in [&QUORUM, &COORDINATOR, &EMBEDDED] {
        for (name, _) in layer.never.iter().copied().flatten() {
            for source in [format!("use a::{{b, {name}}};"), format!("fn f() {{ g({name}) }}")] {
                let found = layer.violations(&source, &dependencies);
                assert_eq!(found.len(), 1, "{}: {source}", layer.folder);
            }
            let hidden = format!("// {name}\n/* {name} /* */ {name} */ fn f() {{ \"{name}\"; }}");
            let found = layer.violations(&hidden, &dependencies);
            assert!(found.is_empty(), "{}: {hidden}: {found:?}", layer.folder);
        }
    }
    Ok(())
}

/// Violations in disguise, and the path that they come to.
const PLANTED: [(&Layer, &str, &str); 39] = [
    (&QUORUM, "use tokio::time::sleep;", "tokio::time::sleep"),
    (&QUORUM, "fn f() { ::tokio::spawn(g()); }", "tokio::spawn"),
    (&QUORUM, "use redis;", "redis"),
    (&QUORUM, "use bytes::Bytes;", "bytes::Bytes"),
    (&QUORUM, "async fn f() {}", "async"),
    (&QUORUM, "fn f() { g().await; }", "await"),
    (&QUORUM, "use std::time::Instant;", "std::time::Instant"),
    (&QUORUM, "use std::time::{Duration, Instant as Now};", "std::time::Instant"),
    (&QUORUM, "use core::time;", "std::time"),
    (&QUORUM, "use std::time::*;", "std::time"),
    (&QUORUM, "use std;", "std"),
    (&QUORUM, "use std::{fmt, net::{self, TcpStream}};", "std::net"),
    (&QUORUM, "use {\n    std::fmt,\n    std::thread,\n};", "std::thread"),
    (&QUORUM, "fn f() { std::fs::read(p); }", "std::fs::read"),
    (&QUORUM, "fn f() -> std::io::Result<()> {}", "std::io::Result"),
    (&QUORUM, "fn f() { std::env::var(\"A\"); }", "std::env::var"),
    (&QUORUM, "use std::sync::atomic::AtomicU64;", "std::sync::atomic::AtomicU64"),
    (&QUORUM, "use crate::driver::Clock;", "crate::driver::Clock"),
    (&QUORUM, "use super::super::driver;", "super::super::driver"),
    (&QUORUM, "fn f() { let a = 0.5; }", "0.5"),
    (&QUORUM, "fn f() { let a = 1e-3; }", "1e"),
    (&QUORUM, "fn f() { let a = 1.; }", "1."),
    (&QUORUM, "fn f(a: u32) { a as f64; }", "f64"),
    (&QUORUM, "fn f() { println!(\"//\"); }", "println"),
    (&QUORUM, "let a = '\"'; use std::fs; let b = '\"';", "std::fs"),
    (&QUORUM, "let a = r#\"\"\"#; use std::fs; let b = \"\\\"\";", "std::fs"),
    (&COORDINATOR, "use tokio::sync::oneshot;", "tokio::sync::oneshot"),
    (&COORDINATOR, "use socket2::Socket;", "socket2::Socket"),
    (&COORDINATOR, "fn f() { tracing::info!(\"f\") }", "tracing::info"),
    (&COORDINATOR, "use metrics::counter;", "metrics::counter"),
    (&COORDINATOR, "use std::{net::SocketAddr, fmt};", "std::net::SocketAddr"),
    (&COORDINATOR, "use std::time;\nfn f() { time::Instant::now(); }", "time::Instant::now"),
    (&COORDINATOR, "use std::time::*;\nfn f() { Instant::now(); }", "Instant::now"),
    (&COORDINATOR, "use std::collections::HashMap;", "std::collections::HashMap"),
    (&COORDINATOR, "use crate::{quorum, driver::dial};", "crate::driver::dial"),
    (&COORDINATOR, "use redis::{Value, aio::ConnectionLike};", "redis::aio::ConnectionLike"),
    (&EMBEDDED, "use tokio::io::duplex;", "tokio::io::duplex"),
    (&EMBEDDED, "use crate::embedded::shell::Shell;", "crate::embedded::shell::Shell"),
    (&EMBEDDED, "fn f() { Lua::new_with(StdLib::ALL_SAFE, o) }", "StdLib::ALL_SAFE"),
];

#[test]
fn a_violation_is_found_whatever_its_disguise() -> io::Result<()> {
    let dependencies = dependencies()?;
    for (layer, source, path) in PLANTED {
        let found = layer.violations(source, &dependencies);
        let told = found.iter().any(|told| told.contains(&format!(": {path} (")));
        assert!(told, "{}: {source} gave {found:?}", layer.folder);
    }
    Ok(())
}

/// What looks like a violation and is none.
const TOLERATED: [(&Layer, &str); 13] = [
    (&QUORUM, "use super::{Instant, Membership, validity};"),
    (&QUORUM, "use std::{\n    fmt::{self, Debug},\n    time::Duration,\n};"),
    (&QUORUM, "pub(crate) use backoff::Backoff;"),
    (&QUORUM, "fn f(bytes: &[u8], redis: u64, std: u8) { bytes.len() + redis }"),
    (&QUORUM, "fn f<'a>(a: &'a str) -> &'static str { a }"),
    (&QUORUM, "fn f() { (0..=9, 1_000, pair.0.1, 0xe1, 1.max(2), 7u64, 1_usize) }"),
    (&QUORUM, "// tokio::spawn\n/// `async fn`, std::net\nfn f() { \"tokio::spawn(\\\")\" }"),
    (&QUORUM, "fn printed() { asynchronous(awaited) }"),
    (&COORDINATOR, "use bytes::{Buf, Bytes};\nuse redis::{Cmd, Value};"),
    (&COORDINATOR, "use std::io::{self, Read};\nuse std::collections::BTreeMap;"),
    (&COORDINATOR, "use crate::quorum::{Instant, backoff};\nuse crate::report::Reason;"),
    (&EMBEDDED, "use crate::embedded::machine::reply::Reply;\nuse mlua::{Lua, Value};"),
    (&COORDINATOR, "fn f() { redis::cmd(\"TIME\"); redis::Parser::new() }"),
];

#[test]
fn what_is_no_violation_is_let_through() -> io::Result<()> {
    let dependencies = dependencies()?;
    for (layer, source) in TOLERATED {
        let found = layer.violations(source, &dependencies);
        assert!(found.is_empty(), "{}: {source} gave {found:?}", layer.folder);
    }
    Ok(())
}
