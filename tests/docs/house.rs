//! The house rules that can be checked automatically: no file grows past a bound, and a module
//! declares every file.

use crate::source::{files, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Lines in a file. About 220 is comfortable; this bound may be lowered and never raised.
const LONGEST: usize = 400;

/// Source folders of each published package.
pub(crate) const FOLDERS: [&str; 5] = ["src", "cli/src", "core/src", "embedded/src", "fencing/src"];

/// Folders of test binaries with modules. A module that is not declared would not be tested.
const ROOMS: [&str; 7] = [
    "cli/tests/command",
    "tests/alone",
    "tests/docker",
    "tests/docs",
    "tests/embedded",
    "tests/observability",
    "tests/redis",
];

type Sources = BTreeMap<PathBuf, String>;

fn too_long(sources: &Sources) -> Vec<String> {
    let lines = sources.iter().map(|(path, text)| (path, text.lines().count()));
    let long = lines.filter(|(_, lines)| *lines > LONGEST);
    long.map(|(path, lines)| format!("{}: {lines} lines", path.display())).collect()
}

/// Returns the modules that `text` declares and does not contain.
fn declared(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let declares = tokens
        .windows(3)
        .filter(|three| three[0].text == "mod" && three[1].is_word() && three[2].text == ";");
    declares.map(|three| three[1].text.clone()).collect()
}

/// Checks whether cargo compiles the file without a declaration.
fn is_root(path: &Path) -> bool {
    let (file, folder) = (path.file_name(), path.parent());
    let in_bin = |folder: &Path| folder.ends_with("src/bin");
    let main = file.is_some_and(|file| file == "main.rs");
    path.ends_with("src/lib.rs")
        || path.ends_with("src/main.rs")
        || folder.is_some_and(in_bin)
        || (main && folder.and_then(Path::parent).is_some_and(in_bin))
        || (main && ROOMS.iter().any(|room| folder == Some(Path::new(room))))
}

/// Returns the folder of the modules that the file at `path` declares.
fn folder_of_modules(path: &Path) -> PathBuf {
    let named_for_its_folder = path.file_name().is_some_and(|file| file == "mod.rs");
    if named_for_its_folder || is_root(path) {
        path.parent().unwrap_or(path).to_path_buf()
    } else {
        path.with_extension("")
    }
}

fn undeclared(sources: &Sources) -> Vec<PathBuf> {
    let mut reached: BTreeSet<PathBuf> = BTreeSet::new();
    let mut queue: Vec<PathBuf> = sources.keys().filter(|path| is_root(path)).cloned().collect();
    while let Some(path) = queue.pop() {
        let Some(text) = sources.get(&path).filter(|_| reached.insert(path.clone())) else {
            continue;
        };
        let folder = folder_of_modules(&path);
        for module in declared(text) {
            queue.push(folder.join(format!("{module}.rs")));
            queue.push(folder.join(module).join("mod.rs"));
        }
    }
    sources.keys().filter(|path| !reached.contains(*path)).cloned().collect()
}

#[test]
fn no_source_is_longer_than_400_lines() -> io::Result<()> {
    let mut long = Vec::new();
    for folder in FOLDERS {
        long.extend(too_long(&files(folder)?));
    }
    assert!(long.is_empty(), "more than {LONGEST} lines, so two ideas:\n{}", long.join("\n"));
    Ok(())
}

#[test]
fn every_source_is_declared_by_a_module() -> io::Result<()> {
    for folder in FOLDERS.into_iter().chain(ROOMS) {
        let sources = files(folder)?;
        let root = |path: &Path| is_root(path) && path.parent() == Some(Path::new(folder));
        assert!(sources.keys().any(|path| root(path)), "{folder} has neither lib.rs nor main.rs");
        let left = undeclared(&sources);
        assert!(left.is_empty(), "no `mod` declares {left:?}");
    }
    Ok(())
}

#[test]
fn every_test_in_the_room_alone_waits_for_its_turn() -> io::Result<()> {
    for (path, text) in files("tests/alone")? {
        let count =
            |begin: &str| text.lines().filter(|line| line.trim().starts_with(begin)).count();
        let tests = count("#[test]") + count("#[tokio::test");
        assert_eq!(count("let _turn = "), tests, "{}", path.display());
    }
    Ok(())
}

fn sources<const N: usize>(texts: [(&str, &str); N]) -> Sources {
    texts.into_iter().map(|(path, text)| (path.into(), text.into())).collect()
}

#[test]
fn a_file_one_line_too_long_is_found() {
    let lines = "//\n".repeat(LONGEST);
    let longer = format!("{lines}//");
    let found = too_long(&sources([("src/fits.rs", &lines), ("src/long.rs", &longer)]));
    assert_eq!(found, ["src/long.rs: 401 lines"]);
}

#[test]
fn a_file_that_is_only_mentioned_is_found() {
    let house = sources([
        ("src/lib.rs", "pub mod a; // mod lost;\n/* mod lost; */ const B: &str = \"mod lost;\";"),
        ("src/a/mod.rs", "mod b;\n#[cfg(test)]\nmod tests;"),
        ("src/a/b.rs", "pub(crate) mod c;"),
        ("src/a/b/c.rs", ""),
        ("src/a/tests/mod.rs", ""),
        ("src/a/c.rs", ""),
        ("src/lost.rs", "mod found;"),
        ("src/lost/found.rs", ""),
        ("src/bin/tool.rs", "mod part;"),
        ("src/bin/other/main.rs", "mod piece;"),
        ("src/bin/other/piece.rs", ""),
        ("src/bin/other/spare.rs", ""),
    ]);
    let expected = ["src/a/c.rs", "src/bin/other/spare.rs", "src/lost/found.rs", "src/lost.rs"];
    assert_eq!(undeclared(&house), expected.map(PathBuf::from));
}
