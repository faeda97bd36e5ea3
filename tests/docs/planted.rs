//! The changes of `scripts/planted` still apply to the code that ships, and each says what it changes. What `make mutants`
//! changes is there.

use super::root;
use crate::source::files;
use std::fs;
use std::process::Command;

#[test]
fn each_planted_change_applies_to_the_code_and_says_what_it_changes() {
    let folders = ["proof/planted", "proof/planted/waiting", "proof/planted/liveness"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(paths.len() >= 54, "{}", paths.len());
    for path in paths.iter().filter(|path| path.is_file()) {
        let (name, patch) = (path.display(), fs::read_to_string(path).unwrap());
        let (words, rest) = patch.split_once("\n\n").unwrap();
        assert!(words.ends_with('.') && !words.contains('\n'), "{name}: {words}");
        let changed = rest.lines().filter_map(|line| line.strip_prefix("+++ b/"));
        let mut others = changed.filter(|file| !file.starts_with("core/src/"));
        assert_eq!(others.next(), None, "{name} changes what does not ship");
        let mut check = Command::new("git");
        let check =
            check.args(["apply", "--check"]).arg(path).current_dir(root()).output().unwrap();
        let error = String::from_utf8_lossy(&check.stderr);
        assert!(check.status.success(), "{name} no longer applies: {error}");
    }
}

#[test]
fn each_function_that_make_mutants_is_to_change_is_there() {
    let list =
        r#"eval "$(sed -n '/^votes=(/,/^)/p' scripts/mutants)" && printf '%s\n' "${votes[@]}""#;
    let list = Command::new("bash").args(["-c", list]).current_dir(root()).output().unwrap();
    let names = String::from_utf8(list.stdout).unwrap();
    let code: String = files("core/src").unwrap().into_values().collect();
    let functions = names.lines().map(|name| name.rsplit("::").next().unwrap());
    let functions: Vec<_> = functions.filter(|name| *name != "\\w+").collect();
    assert!(functions.len() > 60, "{names}");
    for name in functions {
        let is_there = ["(", "<"].iter().any(|next| code.contains(&format!("fn {name}{next}")));
        assert!(is_there, "scripts/mutants: no function is called {name}");
    }
}
