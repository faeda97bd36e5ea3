//! The futures that users can obtain, read from the sources: a new one that is not dropped here
//! fails a test.

#[path = "../../../../tests/support/source.rs"]
mod source;

use source::{Token, files, tokens};
use std::collections::BTreeSet;
use std::path::Path;

/// Words which show that a returned value is awaited.
const AWAITED: [&str; 4] = ["Future", "IntoFuture", "BoxFuture", "LocalBoxFuture"];

/// Returns the public async functions of one source, its functions that return a future, and its
/// types that are futures: `module::name`.
fn offered(module: &str, text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let text: Vec<&str> = tokens.iter().map(|token: &Token| token.text.as_str()).collect();
    let is_public = |name: &str| {
        text.windows(3)
            .any(|at| at[0] == "pub" && ["struct", "enum"].contains(&at[1]) && at[2] == name)
    };
    let awaited = |rest: &[&str]| returned(rest).iter().any(|word| AWAITED.contains(word));
    let name_at = |at: usize| match &text[at..] {
        ["pub", "async", "fn", ..] => Some(at + 3),
        ["pub", "const" | "unsafe", "fn", _, rest @ ..] if awaited(rest) => Some(at + 3),
        ["pub", "fn", _, rest @ ..] if awaited(rest) => Some(at + 2),
        ["Future", "for", name, ..] if is_public(name) => Some(at + 2),
        _ => None,
    };
    let names = (0..text.len()).filter_map(name_at).filter(|at| tokens[*at].is_word());
    names.map(|at| format!("{module}::{}", text[at])).collect()
}

/// Returns the return type in the text after a function's name.
fn returned<'a>(signature: &'a [&'a str]) -> &'a [&'a str] {
    let parameters = match signature.first() {
        Some(&"<") => closing(signature, "<", ">"),
        _ => 0,
    };
    let arguments = parameters + closing(&signature[parameters..], "(", ")");
    let rest = &signature[arguments..];
    let end = rest.iter().position(|word| ["{", ";", "where"].contains(word));
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns where the first bracket that opens is closed; the head of an arrow closes nothing.
fn closing(words: &[&str], open: &str, close: &str) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        let arrow = close == ">" && at > 0 && words[at - 1] == "-";
        depth += i32::from(*word == open) - i32::from(*word == close && !arrow);
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

fn is_test(path: &Path) -> bool {
    let named = |part: &str| part == "tests" || part == "tests.rs";
    path.components().any(|part| part.as_os_str().to_str().is_some_and(named))
}

#[test]
fn every_future_that_users_can_get_hold_of_is_dropped_here() {
    let mut found = BTreeSet::new();
    for (path, text) in files("src").unwrap() {
        let module = path.with_extension("");
        let module = module.strip_prefix("src").unwrap().to_str().unwrap().to_owned();
        if !is_test(&path) {
            found.extend(offered(&module, &text));
        }
    }
    let dropped = super::operations::ALL.iter().map(|operation| operation.future.to_owned());
    assert_eq!(dropped.collect::<BTreeSet<_>>(), found, "dropped here, and found in the sources");
}

#[test]
fn a_future_is_found_in_each_of_its_forms() {
    let forms = [
        "impl A { pub async fn found(&self) {} }",
        "impl<K: Kind> Acquire<K> { pub async fn found<T, F>(self, f: F) -> T where F: B {} }",
        "pub fn found() -> impl Future<Output = ()> { async {} }",
        "pub fn found(&self, f: impl Fn(u8) -> u8) -> Pin<Box<dyn Future<Output = u8> + '_>> {}",
        "pub const fn found<F: Fn() -> u8>(f: F) -> impl IntoFuture { f }",
        "pub fn found() -> BoxFuture<'static, ()> {}",
        "pub struct found<K> { k: K } impl<K: Kind> Future for found<K> { type Output = (); }",
    ];
    for text in forms {
        assert_eq!(offered("m", text), BTreeSet::from(["m::found".to_owned()]), "{text}");
    }
    let others = [
        "async fn private() {} pub(crate) async fn within() {}",
        "pub(crate) struct Driver; impl Future for Driver { type Output = (); }",
        "// pub async fn said()\nconst A: &str = \"pub async fn quoted()\";",
        "pub fn node_with_connector<D, F>(self, dial: D) -> Self where D: Fn() -> F, F: Future<Output = A> {}",
        "pub fn takes(future: impl Future<Output = ()>) -> bool { true }",
        "pub fn generic<F: Future<Output = u8>>(future: F) -> u8 { 0 }",
    ];
    for text in others {
        assert_eq!(offered("m", text), BTreeSet::new(), "{text}");
    }
}
