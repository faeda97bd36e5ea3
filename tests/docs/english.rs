//! Plain English: clauses without an actor, and locals that are no nouns, only become fewer.

use crate::house::FOLDERS;
use crate::source::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How often each pattern is still there. A number may only fall: after a change that removes many, the
/// test prints the numbers to put here.
const RECORDED: [(&str, usize); 15] = [
    ("who, without a noun before it", 5),
    ("for who", 10),
    ("those who", 0),
    ("the one who", 0),
    ("told", 9),
    ("somebody, nobody", 12),
    ("let told, let said, let one, let it", 0),
    ("|told|, |said|, |one|, |it|", 0),
    ("beside, outside of rw_lock", 270),
    ("one that, those that", 386),
    ("a clause begins with what, whatever", 608),
    ("a clause begins with no, nothing, none", 514),
    ("a sentence ends in there, here, then, so, for, by, with", 300),
    ("stands, stood", 400),
    ("lately, in vain, elsewhere, lacks", 246),
];

/// The last ones, which what users read has none of: README, the guide, and the documentation of the API.
const SHAPES: [fn(&str) -> usize; 6] = [
    |line| phrases(line, &["one that", "ones that", "those that", "that which"]),
    |line| beginnings(line, &["what", "whatever"]),
    |line| beginnings(line, &["no", "nothing", "none"]),
    |line| endings(line, &["there", "here", "then", "so", "for", "by", "with"]),
    |line| phrases(line, &["stands", "stood"]),
    |line| phrases(line, &["lately", "in vain", "elsewhere", "lacks"]),
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

fn phrases(line: &str, phrases: &[&str]) -> usize {
    phrases.iter().map(|phrase| occurrences(line, phrase).count()).sum()
}

/// Counts the clauses that begin with a word, behind one of these ends of another, but for questions.
fn clauses(line: &str, word: &str, ends: &[&str]) -> usize {
    let starts = occurrences(line, word).filter(|at| {
        let is_first = *at == 0 || ends.iter().any(|end| line[..*at].ends_with(end));
        let sentence = line[*at..].split(". ").next().unwrap_or_default();
        is_first && line[at + word.len()..].starts_with(' ') && !sentence.contains('?')
    });
    starts.count()
}

/// Counts the clauses that begin with one of these words, and not behind a comma.
fn beginnings(line: &str, words: &[&str]) -> usize {
    words.iter().map(|word| clauses(line, word, &[". ", "; ", ": "])).sum()
}

/// Counts the sentences that end in one of these words.
fn endings(line: &str, words: &[&str]) -> usize {
    let ends = |word: &&str| {
        let ends = occurrences(line, word).filter(|at| {
            let rest = line[at + word.len()..].strip_prefix('.');
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        ends.count()
    };
    words.iter().map(ends).sum()
}

/// Returns the documentation in a source of what it declares, without examples, like the prose of a text.
fn rustdoc(raw: &str) -> String {
    let (mut doc, mut is_example) = (String::new(), false);
    for line in raw.lines() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            doc.push('\n');
            continue;
        };
        if text.trim_start().starts_with("```") {
            is_example = !is_example;
        } else if !is_example {
            doc += &format!("//{text}\n");
        }
    }
    Text::new(PathBuf::new(), doc).prose
}

/// Counts each *who* that begins a clause, except in a question.
fn headless(prose: &str) -> usize {
    prose.lines().map(|line| clauses(line, "who", &[". ", "; ", ": ", ", "])).sum()
}

fn counts(texts: &[Text]) -> Vec<usize> {
    let sum = |of: &dyn Fn(&Text) -> usize| texts.iter().map(of).sum();
    let phrases = |all: &[&str]| sum(&|text| phrases(&text.prose, all));
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
    .into_iter()
    .chain(SHAPES.map(|shape| sum(&|text: &Text| text.prose.lines().map(shape).sum())))
    .collect()
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
fn what_users_read_has_none_of_these_shapes() -> io::Result<()> {
    let mut read = Vec::new();
    for name in ["README.md", "docs/guide.md"] {
        let text = crate::read(name);
        // A code block is no prose.
        let prose = text.split("```").step_by(2).collect::<Vec<_>>().join("\n\n");
        read.push((PathBuf::from(name), Text::new(PathBuf::new(), prose).prose));
    }
    let is_test = |path: &Path| path.iter().any(|part| part == "tests" || part == "tests.rs");
    let sources = files("src")?.into_iter().filter(|(path, _)| !is_test(path));
    read.extend(sources.map(|(path, raw)| (path, rustdoc(&raw))));
    assert!(read.len() > 100, "{} texts: have the folders moved?", read.len());
    let mut found = Vec::new();
    for (path, prose) in &read {
        for line in prose.lines() {
            let names = SHAPES.iter().zip(RECORDED.iter().skip(RECORDED.len() - SHAPES.len()));
            let names = names.filter(|(shape, _)| shape(line) > 0);
            found.extend(names.map(|(_, (name, _))| format!("{}: {name}: {line}", path.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[test]
fn each_shape_is_found_where_it_is_one() {
    let count = |shape: usize, line: &str| SHAPES[shape](line);
    assert_eq!(count(0, "the one that waits, and those that wait; that one, thatched"), 2);
    assert_eq!(count(1, "what waits is first: whatever it is. what is it?"), 2);
    assert_eq!(count(2, "no one. none is left; nothing else, no more"), 3);
    assert_eq!(count(3, "it is there. so be it. what it is for. there it is, for now"), 2);
    assert_eq!(count(4, "it stands, as it stood, and withstands"), 2);
    assert_eq!(count(5, "it lacks one in vain, lately."), 3);
    let source =
        "/// No such one\n/// is left.\nfn f() {}\n// No comment.\n/// ```\n/// None.\n/// ```";
    let lines: usize = rustdoc(source).lines().map(SHAPES[2]).sum();
    assert_eq!(lines, 1, "{}", rustdoc(source));
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
