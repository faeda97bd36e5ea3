//! Examples that tests run as programs. Cargo builds them with the tests.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

/// Returns the program of an example.
///
/// # Panics
///
/// If it was not built, or one of its sources has changed since: then it would show nothing.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(name);
    let fix = "build it with: cargo build --all-features --examples";
    let built =
        changed_at(&program).unwrap_or_else(|| panic!("{} is missing: {fix}", program.display()));
    for source in sources(&program.with_extension("d")) {
        let is_older = changed_at(&source).is_some_and(|changed| changed <= built);
        assert!(is_older, "{} is newer than {}: {fix}", source.display(), program.display());
    }
    program
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|facts| facts.modified()).ok()
}

/// Returns the sources that a rule of a makefile names, which cargo writes beside each program. A space in a
/// path has a backslash before it.
fn sources(rule: &Path) -> Vec<PathBuf> {
    let rule = fs::read_to_string(rule).unwrap();
    let (_, sources) = rule.split_once(": ").unwrap();
    let sources = sources.trim_end().replace("\\ ", "\0");
    sources.split(' ').map(|source| source.replace('\0', " ").into()).collect()
}
