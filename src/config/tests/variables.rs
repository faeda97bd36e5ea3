//! The variables that are settings, and those that are not.

use super::*;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

fn refusal(name: &str, value: &str) -> String {
    Config::from_vars([(name, value)]).unwrap_err().to_string()
}

#[test]
fn a_misspelt_variable_is_refused_with_the_one_that_was_meant() {
    for (name, hint) in [
        ("QUORUMLOCK_TLL", "did you mean QUORUMLOCK_TTL?"),
        ("QUORUMLOCK_NODE", "did you mean QUORUMLOCK_NODES?"),
        ("QUORUMLOCK_NODS", "did you mean QUORUMLOCK_NODES?"),
        ("QUORUMLOCK_ttl", "did you mean QUORUMLOCK_TTL?"),
        ("QUORUMLOCK_DRIFT", "did you mean QUORUMLOCK_DRIFT_CONSTANT?"),
        ("QUORUMLOCK_FLAVOUR", "it is misspelt, or of another version"),
    ] {
        assert_eq!(refusal(name, "x"), format!("{name}: unknown key: {hint}"));
    }
    let odd = "QUORUMLOCK_redis://me:secret@a";
    assert_eq!(refusal(odd, "x"), "unknown key: it is misspelt, or of another version");
}

#[test]
fn a_value_that_can_not_be_read_names_its_variable() {
    let unit = r#"is not a duration with a unit, or too long: write it like "10s" or "500ms""#;
    for (name, value, problem) in [
        ("QUORUMLOCK_TTL", "10", unit),
        ("QUORUMLOCK_TTL", "", unit),
        ("QUORUMLOCK_WAKE_UPS", "on", "is neither true nor false"),
    ] {
        assert_eq!(refusal(name, value), format!("{name}: {problem}"));
    }
    let many =
        [("QUORUMLOCK_WAKE_UPS", "1"), ("QUORUMLOCK_TTL", "1"), ("QUORUMLOCK_NODES", "redis://")];
    let error = Config::from_vars(many).unwrap_err();
    assert_eq!(error.key.as_deref(), Some("QUORUMLOCK_NODES"), "always the same one");
}

#[cfg(unix)]
#[test]
fn what_is_no_text_is_refused_only_where_it_is_ours() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || OsString::from_vec(vec![0xff, 0xfe]);
    let ours = Config::from_vars([(OsString::from("QUORUMLOCK_TTL"), odd())]).unwrap_err();
    assert_eq!(ours.to_string(), "QUORUMLOCK_TTL: is not UTF-8");
    let others = [("PATH".into(), odd()), (odd(), odd()), ("QUORUMLOCK_RESOURCE".into(), odd())];
    assert_eq!(Config::from_vars(others).unwrap(), Config::default());
}

#[test]
fn variables_set_by_run_or_by_other_programs_are_ignored() {
    for name in [
        "HOME",
        "quorumlock_tll",
        "QUORUMLOCK",
        "QUORUMLOCKS_TTL",
        "QUORUMLOCK_CONFIG",
        "QUORUMLOCK_RESOURCE",
        "QUORUMLOCK_FENCING_TOKEN",
        "QUORUMLOCK_SLOT",
        "QUORUMLOCK_DEADLINE",
        // Set by Kubernetes for services named `quorumlock` and `quorumlock-masters`.
        "QUORUMLOCK_SERVICE_HOST",
        "QUORUMLOCK_SERVICE_PORT_REDIS",
        "QUORUMLOCK_PORT",
        "QUORUMLOCK_PORT_6379_TCP_ADDR",
        "QUORUMLOCK_MASTERS_SERVICE_HOST",
        "QUORUMLOCK_MASTERS_PORT_6379_TCP",
    ] {
        assert_eq!(Config::from_vars([(name, "x")]), Ok(Config::default()), "{name}");
    }
}

/// Returns every name that follows the prefix in `text`.
fn named(text: &str) -> impl Iterator<Item = String> {
    let prefix = "QUORUMLOCK_";
    text.split(prefix).skip(1).filter_map(move |rest| {
        let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        (!name.is_empty()).then(|| format!("{prefix}{name}"))
    })
}

fn visit(path: &Path, seen: &mut impl FnMut(&Path, &str)) {
    let skipped = ["target", ".git", "corpus", "kept", "found", "broken"];
    if path.file_name().is_some_and(|name| skipped.iter().any(|skip| name == *skip)) {
        return;
    }
    if path.is_dir() {
        let mut entries: Vec<_> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| visit(entry, seen));
    } else if let Ok(text) = fs::read_to_string(path) {
        seen(path, &text);
    }
}

/// A program that is configured by the environment must not fail if this repository's tests or
/// scripts have left their variables.
#[test]
fn no_variable_of_this_repository_passes_for_a_misspelt_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for place in [
        "src",
        "tests",
        "examples",
        "benches",
        "proof",
        "fuzz/src",
        "scripts",
        "docker",
        "docs",
        "Makefile",
        "README.md",
        "CONTRIBUTING.md",
    ] {
        visit(&root.join(place), &mut |path, text| {
            // These are the ones that are misspelt on purpose.
            if path.starts_with(root.join("src/config/tests")) {
                return;
            }
            for name in named(text) {
                count += 1;
                if let Err(error) = Config::from_vars([(&name, "x")]) {
                    let unknown = error.problem.starts_with("unknown key");
                    assert!(!unknown, "{}: {error}", path.display());
                }
            }
        });
    }
    assert!(count > 50, "only {count}: has something moved?");
}
