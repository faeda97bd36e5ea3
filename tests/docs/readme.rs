//! The documents are right: the defaults are those of the code, and the paths exist.

use crate::{read, root};
use quorumlock::{Backoff, ClockDrift, FencingWindow, Redlock};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMAT: &str = "the table of options reads `| `name` | default | … |`";

/// Reads the name and default of each option from the table of the guide.
fn documented() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let guide = read("docs/guide.md");
    let rows = guide.lines().skip_while(|line| !line.starts_with("| option | default |")).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|row| {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        Some((name.to_owned(), cells.next()?.to_owned()))
    });
    Ok(cells.collect::<Option<_>>().ok_or(FORMAT)?)
}

/// Returns the options of a builder, from its `Debug`: the names at the first level of `options`.
fn options_of_the_code() -> Vec<String> {
    let debug = format!("{:#?}", Redlock::builder());
    let fields = debug.lines().filter_map(|line| line.strip_prefix("        "));
    let names = fields.filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    names.filter_map(|line| line.split(':').next()).map(str::to_owned).collect()
}

#[test]
fn every_option_has_a_row_in_the_table_of_the_guide() -> Result<(), Box<dyn Error>> {
    let mut options = options_of_the_code();
    options.sort_unstable();
    let documented: Vec<String> = documented()?.into_keys().collect();
    assert_eq!(documented, options);
    Ok(())
}

#[test]
fn to_set_the_documented_defaults_changes_nothing() -> Result<(), Box<dyn Error>> {
    let table = documented()?;
    let text = |name: &str| table.get(name).map(String::as_str).ok_or(format!("no row: {name}"));
    let duration = |name: &str| -> Result<Duration, Box<dyn Error>> {
        Ok(humantime::parse_duration(text(name)?)?)
    };
    let pair = |name: &str, between: &str| -> Result<(String, Duration), Box<dyn Error>> {
        let (first, other) = text(name)?.split_once(between).ok_or(FORMAT)?;
        Ok((first.to_owned(), humantime::parse_duration(other)?))
    };
    let (percent, constant) = pair("drift", " % + ")?;
    let (back, ahead) = pair("fencing_window", " and ")?;
    let (base, cap) = pair("backoff", " to ")?;
    let or_none = |name: &str| text(name).map(|value| if value == "none" { "" } else { value });

    let built = Redlock::builder()
        .ttl(duration("ttl")?)
        .max_ttl(duration("max_ttl")?)
        .max_hold(duration("max_hold")?)
        .acquire_timeout(duration("acquire_timeout")?)
        .operation_timeout(duration("operation_timeout")?)
        .connect_timeout(duration("connect_timeout")?)
        .drift(ClockDrift { rate_ppm: percent.parse::<u32>()? * 10_000, constant })
        .backoff(Backoff { base: humantime::parse_duration(&base)?, cap })
        .key_prefix(or_none("key_prefix")?)
        .fencing_window(FencingWindow { back: humantime::parse_duration(&back)?, ahead })
        .keep_warm(duration("keep_warm")?)
        .lock_delay(duration("lock_delay")?);
    let built = format!("{built:#?}");
    assert_eq!(built, format!("{:#?}", Redlock::builder()));
    // It is another one in each process.
    assert!(text("label")? == "host:pid" && built.contains("label: None"));
    // It can only be switched off.
    assert!(text("restart_guard")? == "on" && built.contains("restart_guard: On"));
    assert!(text("wake_ups")? == "on" && built.contains("wake_ups: true"));
    assert!(text("fair")? == "off" && built.contains("fair: false"));
    Ok(())
}

/// On docs.rs, where all features are on, each item shows which one it needs.
#[test]
fn every_feature_has_a_row_in_the_table_of_the_readme() -> Result<(), Box<dyn Error>> {
    let manifest = read("Cargo.toml");
    let section = manifest.split_once("\n[features]\n").ok_or("no features")?.1;
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter(|line| !line.starts_with([' ', '#', ']']));
    let mut features: Vec<&str> =
        names.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    // Two underscores mark what is not a part of the API.
    features.retain(|name| *name != "default" && !name.starts_with("__"));
    let readme = read("README.md");
    let rows = readme.lines().skip_while(|line| !line.starts_with("| feature | ")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let documented: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(documented, features, "in the order of Cargo.toml");
    assert!(manifest.contains("all-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]"));
    assert!(read("src/lib.rs").contains("#![cfg_attr(docsrs, feature(doc_cfg))]"));
    Ok(())
}

#[test]
fn every_file_and_command_that_a_document_names_is_there() -> Result<(), Box<dyn Error>> {
    let makefile = read("Makefile");
    let mut own: Vec<PathBuf> = Vec::new();
    for folder in ["docs", "docs/decisions", "docs/safety"] {
        for entry in fs::read_dir(root().join(folder))? {
            let path = Some(entry?.path());
            own.extend(path.filter(|path| path.extension().is_some_and(|suffix| suffix == "md")));
        }
    }
    assert!(own.len() > 5, "{own:?}");
    let of_all =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SAFETY.md", "tests/README.md"];
    for path in of_all.into_iter().map(PathBuf::from).chain(own) {
        let (text, document) = (fs::read_to_string(root().join(&path))?, path.display());
        let named: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let is_path = |name: &&&str| {
            let folders = [
                "src/",
                "core/",
                "embedded/",
                "cli/",
                "tests/",
                "docker/",
                "docs/",
                "examples/",
                "scripts/",
                "proof/",
                ".ci/",
            ];
            folders.iter().any(|folder| name.starts_with(folder))
        };
        for path in named.iter().filter(is_path) {
            assert!(Path::exists(&root().join(path)), "{document}: {path} is not there");
        }
        for words in named.iter().filter_map(|name| name.strip_prefix("make ")) {
            // Variables may follow.
            let target = words.split(' ').next().unwrap_or_default();
            let rule = format!("\n{target}: ");
            assert!(makefile.contains(&rule), "{document}: no `make {target}`");
        }
    }
    Ok(())
}

/// What a page tells the reader to install is this release, on a compiler that it needs.
#[test]
fn the_pages_install_this_version_and_name_the_compiler_that_it_needs() -> Result<(), Box<dyn Error>>
{
    let manifest = read("Cargo.toml");
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.and_then(|value| value.strip_suffix('"')).ok_or(format!("no {key}"))
    };
    let (version, rust) = (value("version")?, value("rust-version")?);
    let minor = version.rsplit_once('.').ok_or("three numbers")?.0;
    let mut installed = 0;
    for page in ["README.md", "docs/guide.md", "docs/observability.md"] {
        let text = read(page);
        for line in text.lines().filter(|line| line.starts_with("quorumlock = ")) {
            let is_this = line == format!("quorumlock = \"{minor}\"")
                || line.starts_with(&format!("quorumlock = {{ version = \"{minor}\", "));
            assert!(is_this, "{page}: {line}");
            installed += 1;
        }
    }
    assert_eq!(installed, 3);
    let readme = read("README.md");
    assert!(readme.contains(&format!("It needs Rust {rust} or later.")), "rust-version is {rust}");
    assert!(readme.contains("quorumlock = { path = \"../quorumlock\" }"), "the other way");
    Ok(())
}

/// The registry refuses a package otherwise, and only when it is published.
#[test]
fn every_published_package_has_what_the_registry_asks_for() -> Result<(), Box<dyn Error>> {
    const CATEGORIES: [&str; 5] = [
        "asynchronous",
        "command-line-utilities",
        "concurrency",
        "database",
        "development-tools::testing",
    ];
    for package in ["", "cli/", "core/", "embedded/", "fencing/"] {
        let manifest = &format!("{package}Cargo.toml");
        let text = read(manifest);
        let list = |key: &str| -> Result<Vec<String>, String> {
            let (_, below) =
                text.split_once(&format!("\n{key} = [")).ok_or(format!("{manifest}: no {key}"))?;
            let items = below.split(']').next().unwrap_or_default().split(',');
            Ok(items.map(|item| item.trim().trim_matches('"').to_owned()).collect())
        };
        let (keywords, categories) = (list("keywords")?, list("categories")?);
        assert!((1..=5).contains(&keywords.len()), "{manifest}: {keywords:?}");
        for keyword in keywords {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-+".contains(letter);
            assert!(keyword.len() <= 20 && keyword.chars().all(is_plain), "{manifest}: {keyword}");
        }
        for category in categories {
            assert!(CATEGORIES.contains(&&*category), "{manifest}: is there a {category}?");
        }
        for key in ["description = \"", "license.workspace", "readme = ", "documentation = "] {
            assert!(text.contains(&format!("\n{key}")), "{manifest} has no {key}");
        }
    }
    Ok(())
}
