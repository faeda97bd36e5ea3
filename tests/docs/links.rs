//! Links between the documents have a target: an existing file, an existing heading, and on
//! docs.rs, where there are no files, a page.

#[path = "../support/markdown.rs"]
mod markdown;

use crate::{read, root};
use markdown::{Document, Link};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reads the documents, by their paths from the root.
fn documents() -> BTreeMap<String, Document> {
    let folders = [
        "",
        "docs",
        "docs/decisions",
        "docs/safety",
        "docker",
        "tests",
        "proof/model",
        "proof/induction",
        "benches/peers",
    ];
    let files = folders.into_iter().flat_map(|folder| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        entries.map(move |entry| Path::new(folder).join(entry.unwrap().file_name()))
    });
    let markdown = files.filter(|path| path.extension().is_some_and(|suffix| suffix == "md"));
    let named = markdown.map(|path| path.to_str().unwrap().to_owned());
    named.map(|path| (path.clone(), Document::new(&read(&path)))).collect()
}

/// Resolves a link: `docs/acl.md` is `acl.md` when seen from `docs/faq.md`.
fn from_the_root(document: &str, target: &str) -> String {
    let mut path: Vec<&str> = document.split('/').collect();
    path.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(path.pop().expect("a target within the repository")),
            "." => {}
            part => path.push(part),
        }
    }
    path.join("/")
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("data:") && !target.starts_with("mailto:")
}

/// Returns the sources of the pages on docs.rs.
fn published() -> Vec<String> {
    let mut found = Vec::new();
    for source in ["src/lib.rs", "src/guide.rs", "src/fencing.rs"] {
        let text = read(source);
        let included = text.split('"').filter(|part| part.ends_with(".md"));
        let paths = included.filter_map(|path| path.strip_prefix("../"));
        // Its snippets are tests; it is no page.
        found.extend(paths.filter(|path| *path != "README.md").map(str::to_owned));
    }
    assert!(found.len() > 5 && found.contains(&"docs/guide.md".into()), "{found:?}");
    found
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let documents = documents();
    assert!(documents.len() > 10, "{:?}", documents.keys());
    let mut broken = Vec::new();
    for (name, document) in &documents {
        for Link { target, .. } in document.links.iter().filter(|link| is_relative(&link.target)) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => name.clone(),
                path => from_the_root(name, path),
            };
            let is_there = match documents.get(&path) {
                Some(there) => {
                    heading.is_empty() || there.headings.iter().any(|known| known == heading)
                }
                None => heading.is_empty() && root().join(&path).exists(),
            };
            if !is_there {
                broken.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "these lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_used_label_is_defined_and_every_defined_one_is_used() {
    for (name, document) in documents() {
        let defined: Vec<&str> = document.definitions().collect();
        for used in document.used() {
            assert!(defined.contains(&used), "{name}: [{used}] is not defined");
        }
        for label in defined {
            assert!(document.used().any(|used| used == label), "{name}: [{label}] is not used");
        }
    }
}

/// There, a definition of the same name, which comes first, leads to the page of the document.
#[test]
fn on_docs_rs_no_link_leads_to_a_file() {
    let pages = Document::new(&read("src/guide/links.md"));
    let redirected: Vec<&str> = pages.definitions().collect();
    let documents = documents();
    for name in published() {
        let Some(document) = documents.get(&name) else { continue };
        for Link { label, target } in &document.links {
            if !is_relative(target) || target.starts_with('#') {
                continue;
            }
            let path = from_the_root(&name, target);
            let Some(label) = label else {
                panic!(
                    "{name}: ({target}) works on GitHub alone; write [{path}], and define it below"
                )
            };
            assert_eq!(*label, path, "{name}: a label is the path from the root");
            assert!(
                redirected.contains(&&**label),
                "{name}: [{label}] needs a line in src/guide/links.md"
            );
        }
    }
}

#[test]
fn a_link_that_leads_nowhere_is_seen() {
    let text = "# One\n[a](b.md#c) `[no](no.md)` ![d][e]\n```text\n[no](no.md)\n# No\n```\n\
                ## Two, `x` & [three](f.md)\n## One\n\n[e]: <g.svg>\n";
    let document = Document::new(text);
    let targets: Vec<&str> = document.links.iter().map(|link| &*link.target).collect();
    assert_eq!(targets, ["b.md#c", "f.md", "g.svg"]);
    assert_eq!(document.headings, ["one", "two-x--three", "one-1"]);
    assert_eq!(document.used().collect::<Vec<_>>(), ["e"]);
    assert_eq!(from_the_root("docs/faq.md", "../SAFETY.md"), "SAFETY.md");
    assert_eq!(from_the_root("docs/faq.md", "acl.md"), "docs/acl.md");
}

/// Returns the second-level headings of a document, and the entries of its table of contents, which stands before the
/// first of them: as `- [heading](#anchor)`.
fn sections_and_contents(text: &str) -> (Vec<String>, Vec<String>) {
    let mut in_block = false;
    let mut sections = Vec::new();
    let mut contents = Vec::new();
    for line in text.lines() {
        in_block ^= line.starts_with("```");
        if let Some(section) = line.strip_prefix("## ").filter(|_| !in_block) {
            let anchors = Document::new(line).headings;
            sections.push(format!("- [{section}](#{})", anchors.join("")));
        } else if sections.is_empty() && line.starts_with("- [") && line.contains("](#") {
            contents.push(line.to_owned());
        }
    }
    (sections, contents)
}

#[test]
fn a_table_of_contents_has_every_section_and_a_long_page_has_one() {
    let mut with_one = 0;
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let Some("md") = path.extension().and_then(|extension| extension.to_str()) else {
            continue;
        };
        let (sections, contents) = sections_and_contents(&fs::read_to_string(&path).unwrap());
        if !contents.is_empty() || sections.len() > 7 {
            assert_eq!(contents, sections, "{}", path.display());
            with_one += 1;
        }
    }
    assert!(with_one > 3, "{with_one}");
}
