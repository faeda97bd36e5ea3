//! Plain English: clauses without an actor, and locals that are no nouns, only become fewer.

use crate::house::FOLDERS;
use crate::source::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How often each pattern is still there. A number may only fall: after a change that removes many, the
/// test prints the numbers to put here.
const RECORDED: [(&str, usize); 9] = [
    ("who, without a noun before it", 5),
    ("for who", 13),
    ("those who", 0),
    ("the one who", 0),
    ("told", 9),
    ("somebody, nobody", 12),
    ("let told, let said, let one, let it", 0),
    ("|told|, |said|, |one|, |it|", 0),
    ("beside, outside of rw_lock", 278),
];

/// What no local and no argument is called.
const NO_NAMES: [&str; 4] = ["told", "said", "one", "it"];

/// A count may be lower than its record by so many, and by a twentieth of it, before the record has to fall.
const SLACK: usize = 5;

struct Text {
    path: PathBuf,
    raw: String,
    /// In lower case, a paragraph in each line, without the marks of comments and lists.
    prose: String,
}

impl Text {
    fn new(path: PathBuf, raw: String) -> Self {
        let (mut prose, mut was_comment) = (String::new(), false);
        for line in raw.lines() {
            let is_comment = line.trim_start().starts_with("//");
            let line = line.trim_start().trim_start_matches(['/', '!']).trim_start();
            let is_item = is_comment != was_comment
                || ["- ", "* ", "| "].iter().any(|mark| line.starts_with(mark));
            was_comment = is_comment;
            let line = line.trim_start_matches(['-', '*', '|', ' ']).trim_end();
            if line.is_empty() || is_item {
                prose.push('\n');
            } else if !prose.ends_with('\n') {
                prose.push(' ');
            }
            prose.push_str(&line.to_lowercase());
        }
        Self { path, raw, prose }
    }
}

/// Finds where `phrase` is in `text`, as words of their own.
fn occurrences(text: &str, phrase: &str) -> impl Iterator<Item = usize> {
    let ends = |letter: Option<char>| {
        !letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let found = text.match_indices(phrase).filter(move |(at, _)| {
        ends(text[..*at].chars().next_back()) && ends(text[at + phrase.len()..].chars().next())
    });
    found.map(|(at, _)| at)
}

/// Counts each *who* that begins a clause, except in a question.
fn headless(prose: &str) -> usize {
    let paragraphs = prose.lines().map(|line| {
        let starts = occurrences(line, "who").filter(|at| {
            let begins =
                *at == 0 || [". ", "; ", ": ", ", "].iter().any(|end| line[..*at].ends_with(end));
            let rest = &line[at + 3..];
            let sentence = rest.split(". ").next().unwrap_or(rest);
            begins && rest.starts_with(' ') && !sentence.contains('?')
        });
        starts.count()
    });
    paragraphs.sum()
}

fn counts(texts: &[Text]) -> Vec<usize> {
    let sum = |of: &dyn Fn(&Text) -> usize| texts.iter().map(of).sum();
    let phrases = |all: &[&str]| {
        sum(&|text| all.iter().map(|phrase| occurrences(&text.prose, phrase).count()).sum())
    };
    let named = |count: &dyn Fn(&Text, &str) -> usize| {
        sum(&|text| NO_NAMES.iter().map(|name| count(text, name)).sum())
    };
    let beside = |text: &Text| {
        let of_readers = text.path.to_str().is_some_and(|path| path.contains("rw_lock"));
        if of_readers { 0 } else { occurrences(&text.prose, "beside").count() }
    };
    vec![
        sum(&|text| headless(&text.prose)),
        phrases(&["for who"]),
        phrases(&["those who"]),
        phrases(&["the one who"]),
        phrases(&["told"]),
        phrases(&["somebody", "nobody"]),
        named(&|text, name| occurrences(&text.raw, &format!("let {name}")).count()),
        named(&|text, name| text.raw.matches(&format!("|{name}|")).count()),
        sum(&beside),
    ]
}

/// All that people read, but for what a program wrote: sources and documents.
fn prose() -> io::Result<Vec<Text>> {
    let mut texts = Vec::new();
    let others = ["cli/tests", "tests", "examples", "proof", "benches/peers"];
    for folder in FOLDERS.iter().chain(&others) {
        let written = files(folder)?.into_iter().filter(|(path, _)| {
            let generated = path.components().any(|part| part.as_os_str() == "target");
            !generated && path != Path::new("tests/docs/english.rs")
        });
        texts.extend(written.map(|(path, text)| Text::new(path, text)));
    }
    for folder in ["", "docs", "docs/decisions", "docs/safety", "docker", "tests"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path)?;
                texts.push(Text::new(path, text));
            }
        }
    }
    Ok(texts)
}

#[test]
fn clauses_without_an_actor_become_fewer() -> io::Result<()> {
    let texts = prose()?;
    assert!(texts.len() > 500, "{} texts: have the folders moved?", texts.len());
    let (mut more, mut fewer, mut table) = (Vec::new(), Vec::new(), String::new());
    for ((name, recorded), found) in RECORDED.into_iter().zip(counts(&texts)) {
        if found > recorded {
            more.push(format!("{name}: {found} times, {recorded} before"));
        }
        if found + SLACK + recorded / 20 < recorded {
            fewer.push(name);
        }
        table += &format!("    ({name:?}, {found}),\n");
    }
    let table = format!("RECORDED would be\n{table}");
    assert!(
        more.is_empty(),
        "give each clause a noun for its actor:\n{}\n{table}",
        more.join("\n")
    );
    assert!(fewer.is_empty(), "lower the record of {fewer:?}: {table}");
    Ok(())
}

#[test]
fn a_phrase_is_found_whole_and_alone() {
    let text = "nobody, and (nobody) or nobody's; not nobodyness, a_nobody or anobody";
    assert_eq!(occurrences(text, "nobody").count(), 3);
    assert_eq!(occurrences("for who, for whom, therefor who", "for who").count(), 1);
}

#[test]
fn a_who_without_a_noun_is_found_across_lines_and_no_question() {
    let text = |raw: &str| Text::new(PathBuf::new(), raw.to_owned());
    let count = |raw: &str| headless(&text(raw).prose);
    assert_eq!(count("/// Who waits\n/// is first; who leaves, who is gone.\n\n// who"), 3);
    assert_eq!(count("/// The client\n/// who waits, and a waiter who leaves."), 0);
    assert_eq!(count("Who waits? It ends. Who knows how,\nand why?"), 0);
    assert_eq!(count("| a row | of whom |\n- who begins an item\n| who begins a row |"), 2);
}
