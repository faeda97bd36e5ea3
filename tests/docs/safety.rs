//! The pages of the guarantees: each has the same nine lines, and the rules, flaws and invariants that
//! they name exist.

use crate::source::files;
use crate::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const LINES: [&str; 9] =
    ["Promise", "Why", "Where", "Rests on", "Source", "Tests", "Proof", "Model", "Simulation"];

struct Page {
    path: String,
    title: String,
    /// The label and the text of each line of the list at its head.
    lines: Vec<(String, String)>,
}

impl Page {
    fn new(path: String, text: &str) -> Self {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or("");
        let list = text.split("\n\n").nth(1).unwrap_or("").split("\n- ");
        let lines = list.filter_map(|line| {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            let (label, text) = line.trim_start_matches("- ").split_once(": ")?;
            Some((label.trim_matches('*').to_owned(), text.to_owned()))
        });
        Self { path, title: title.to_owned(), lines: lines.collect() }
    }

    fn line(&self, label: &str) -> &str {
        let found = self.lines.iter().find(|(name, _)| name == label);
        found.map_or("", |(_, text)| text)
    }
}

/// Reads the pages in the order of their names.
fn pages() -> Vec<Page> {
    let entries = fs::read_dir(root().join("docs/safety")).unwrap();
    let names: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let paths = names.into_iter().map(|name| format!("docs/safety/{name}"));
    paths.map(|path| Page::new(path.clone(), &read(&path))).collect()
}

/// Returns what stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns a number of steps, or two of a way without an end: some, and those that are taken again and again.
fn steps_of(text: &str) -> Option<String> {
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    text.split(" + ").all(is_number).then(|| text.to_owned())
}

/// Returns the broken rules that a line names, each with its steps: `a quorum of N/2 (6); …`.
fn rules(line: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for part in line.split(';').flat_map(|part| part.split(". `")) {
        let part = part.rsplit_once("`: ").map_or(part, |(_, rule)| rule).trim();
        let (rule, steps) =
            part.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).ok_or(part)?;
        for number in steps.split(" and ") {
            found.push((rule.to_owned(), steps_of(number).ok_or(part)?));
        }
    }
    Ok(found)
}

/// Reads what the model found: the first cell of each row that has a number of steps, and that number.
fn results() -> Vec<(String, String)> {
    let text = read("proof/model/results.md");
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter_map(|cells| Some((cells.get(1)?.to_string(), steps_of(cells.get(4)?)?))).collect()
}

/// Reads the names of the flaws of the simulation.
fn flaws() -> BTreeSet<String> {
    let text = read("proof/simulation/src/flaw.rs");
    let list = text.split_once("enum Flaw {").unwrap().1.split_once("\n}").unwrap().0;
    let names = list.lines().filter_map(|line| line.trim().strip_suffix(','));
    names.filter(|name| !name.contains(' ')).map(str::to_owned).collect()
}

/// Checks that each file that the line names without a folder is somewhere in `folder`.
fn all_are_in(folder: &str, page: &str, line: &str) {
    let there = files(folder).unwrap();
    for name in quoted(line).filter(|name| name.ends_with(".rs") && !name.contains('/')) {
        assert!(there.keys().any(|path| path.ends_with(name)), "{page}: {name} is not in {folder}");
    }
}

fn is_flaw(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.contains(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

#[test]
fn each_guarantee_has_a_page_with_the_same_nine_lines() {
    let pages = pages();
    for page in &pages {
        let labels: Vec<&str> = page.lines.iter().map(|(label, _)| &**label).collect();
        assert_eq!(labels, LINES, "{}", page.path);
        assert!(page.lines.iter().all(|(_, text)| text.len() > 1), "{}: an empty line", page.path);
        for label in ["Where", "Tests"] {
            let mut paths = quoted(page.line(label)).filter(|name| name.contains('/'));
            assert!(paths.all(|path| root().join(path).exists()), "{}: {label}", page.path);
            let some = quoted(page.line(label)).any(|name| name.contains('/'));
            assert!(some, "{}: {label} names no file", page.path);
        }
    }
    let numbered: Vec<&Page> = pages.iter().filter(|page| page.title.starts_with('G')).collect();
    for (number, page) in (1..).zip(&numbered) {
        let file = format!("docs/safety/g{number:02}-");
        assert!(page.title.starts_with(&format!("G{number}: ")), "{}: {}", page.path, page.title);
        assert!(page.path.starts_with(&file), "{}: {}", page.path, page.title);
    }
    assert_eq!(numbered.len(), 18, "a guarantee is numbered once, and never taken back");
}

#[test]
fn the_index_has_every_page_under_its_title() {
    let safety = read("SAFETY.md");
    let rows =
        safety.lines().filter(|line| line.contains("][docs/safety/") && line.starts_with('|'));
    let expected = pages().into_iter().map(|page| {
        let (number, title) = page.title.split_once(": ").unwrap_or(("", &page.title));
        format!("| {number} | [{title}][{}] | ", page.path)
    });
    let (rows, expected): (Vec<&str>, Vec<String>) = (rows.collect(), expected.collect());
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert!(row.replace("|  |", "| |").starts_with(&expected.replace("|  |", "| |")), "{row}");
    }
}

#[test]
fn every_assumption_that_a_guarantee_rests_on_is_stated() {
    let safety = read("SAFETY.md");
    for page in pages() {
        for assumption in page.line("Rests on").split(' ') {
            let stated = safety.contains(&format!("\n- **{assumption}.** "));
            assert!(stated, "{}: {assumption}", page.path);
        }
    }
}

/// Reads the pages of the proof, by their names, with single spaces.
fn proofs() -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join("proof/induction")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".py") && name != "prove.py");
    let words = |name: &str| read(&format!("proof/induction/{name}"));
    let single = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    pages.map(|name| (name.clone(), single(words(&name)))).collect()
}

#[test]
fn the_proof_has_every_rule_that_a_page_names_and_every_goal_has_its_page() {
    let (proofs, mut named) = (proofs(), 0);
    for page in pages() {
        let line = page.line("Proof");
        let files: Vec<&str> = quoted(line).filter(|name| name.ends_with(".py")).collect();
        let unknown = files.iter().find(|name| !proofs.contains_key(**name));
        assert_eq!(unknown, None, "{}: no such page in proof/induction", page.path);
        let goal = format!("m.goal(\"{}\"", page.title.split(':').next().unwrap());
        for (name, _) in proofs.iter().filter(|(_, text)| text.contains(&goal)) {
            assert!(files.contains(&&**name), "{}: {name} shows it, too", page.path);
        }
        if line.starts_with("none, since ") {
            continue;
        }
        let rules = line.split_once("`: ").unwrap_or_else(|| panic!("{}: no rules", page.path)).1;
        for rule in rules.split("; ") {
            let quoted = format!("\"{rule}\",");
            let found = files.iter().any(|name| proofs[*name].contains(&quoted));
            assert!(found, "{}: {rule} is a rule of none of {files:?}", page.path);
            named += 1;
        }
    }
    assert!(named > 60, "{named}");
}

#[test]
fn the_model_has_broken_every_rule_that_a_page_names_in_as_many_steps() {
    let (results, mut named) = (results(), 0);
    for page in pages() {
        let line = page.line("Model");
        if line.starts_with("none, since ") {
            continue;
        }
        all_are_in("proof/model/src", &page.path, line);
        let rules = rules(line).unwrap_or_else(|part| panic!("{}: no steps: {part}", page.path));
        for (rule, steps) in rules {
            let is_it = |row: &str| row == rule || row.starts_with(&format!("{rule} ("));
            let found = results.iter().any(|(row, number)| is_it(row) && **number == *steps);
            assert!(found, "{}: {rule} ({steps}) is not in results.md", page.path);
            named += 1;
        }
    }
    assert!(named > 80, "{named}");
}

#[test]
fn a_page_names_every_flaw_of_the_simulation_and_invariants_that_are_there() {
    let mut named = BTreeSet::new();
    let pages = pages();
    let lines = pages.iter().map(|page| (&*page.path, page.line("Simulation").to_owned()));
    for (path, line) in lines.chain([("SAFETY.md", read("SAFETY.md"))]) {
        named.extend(quoted(&line).filter(|name| is_flaw(name)).map(str::to_owned));
        if path != "SAFETY.md" {
            all_are_in("proof/simulation/src", path, &line);
        }
    }
    let flaws = flaws();
    assert!(flaws.len() > 40, "{flaws:?}");
    let missing: Vec<&String> = flaws.difference(&named).collect();
    assert!(missing.is_empty(), "no page names {missing:?}");
    for page in &pages {
        let line = page.line("Simulation");
        let unknown = quoted(line).find(|name| is_flaw(name) && !flaws.contains(*name));
        assert_eq!(unknown, None, "{}", page.path);
    }
}

#[test]
fn the_lines_and_the_rules_of_a_page_are_read_whole() {
    let text = "# G1: One\n\n- **Promise**: a\n  b: c\n- **Model**: `x.rs`: rule one (3 and 1); no: rule\n  \
                two (12). `y`: three (4 + 0)\n\nProse.\n- **Why**: no\n";
    let page = Page::new(String::new(), text);
    let labels: Vec<&str> = page.lines.iter().map(|(label, _)| &**label).collect();
    assert_eq!((&*page.title, labels), ("G1: One", vec!["Promise", "Model"]));
    assert_eq!(page.line("Promise"), "a b: c");
    let named = |(rule, steps): &(&str, &str)| (rule.to_string(), steps.to_string());
    let expected =
        [("rule one", "3"), ("rule one", "1"), ("no: rule two", "12"), ("three", "4 + 0")];
    assert_eq!(rules(page.line("Model")), Ok(expected.iter().map(named).collect()));
    assert_eq!(rules("a rule without steps"), Err("a rule without steps".to_owned()));
    assert_eq!(rules("a rule (3 + x)"), Err("a rule (3 + x)".to_owned()));
}
