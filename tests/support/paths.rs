//! What a source names: its paths, with every import spelled out.

use crate::source::Token;

/// A path as the code means it, `std` for `core` and `alloc` too.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) path: String,
    /// Named by a `use`.
    pub(crate) imported: bool,
}

/// Every path and single word of a source.
pub(crate) fn names(tokens: &[Token]) -> Vec<Named> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "use" => at = import(tokens, at + 1, "", &mut names),
            text if token.is_word() || text == "::" => {
                let (end, path) = path(tokens, at);
                names.push(Named { line: token.line, path: in_std(&path), imported: false });
                at = end;
            }
            text => {
                if is_float(text) {
                    let path = text.to_owned();
                    names.push(Named { line: token.line, path, imported: false });
                }
                at += 1;
            }
        }
    }
    names
}

/// The words from `at` on that `::` joins, and where they end.
fn path(tokens: &[Token], mut at: usize) -> (usize, String) {
    let mut words = Vec::new();
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        if token.is_word() {
            words.push(token.text.as_str());
            at += 1;
            if next.is_none_or(|next| next.text != "::") {
                break;
            }
        } else if token.text == "::" {
            at += 1;
            if !next.is_some_and(Token::is_word) {
                break;
            }
        } else {
            break;
        }
    }
    (at, words.join("::"))
}

/// One tree of an import, every leaf spelled out after `prefix`. Returns where it ends.
fn import(tokens: &[Token], at: usize, prefix: &str, names: &mut Vec<Named>) -> usize {
    let line = tokens.get(at).map_or(0, |token| token.line);
    let (mut at, own) = path(tokens, at);
    let joined = [prefix, own.as_str()].into_iter().filter(|part| !part.is_empty());
    let whole = joined.collect::<Vec<_>>().join("::");
    match tokens.get(at).map(|token| token.text.as_str()) {
        Some("{") => {
            while tokens.get(at).is_some_and(|token| token.text == "{" || token.text == ",") {
                at = import(tokens, at + 1, &whole, names);
            }
            return at + 1;
        }
        Some("*") => at += 1,
        _ if own.is_empty() => return at,
        _ => {}
    }
    let path = in_std(whole.trim_end_matches("::self"));
    names.push(Named { line, path, imported: true });
    if tokens.get(at).is_some_and(|token| token.text == "as") {
        at += 2;
    }
    at
}

fn in_std(path: &str) -> String {
    match path.split_once("::") {
        Some(("core" | "alloc", rest)) => format!("std::{rest}"),
        _ => path.to_owned(),
    }
}

/// Whether a number is one: `1.5`, `1.`, `1e3`, `1e` before a signed exponent, `1f64`.
pub(crate) fn is_float(number: &str) -> bool {
    let digits = |part: &str| part.chars().all(|sign| sign.is_ascii_digit() || sign == '_');
    let decimal = number.starts_with(|first: char| first.is_ascii_digit())
        && !["0x", "0b", "0o"].iter().any(|base| number.starts_with(base));
    let exponent = |(before, after): (&str, &str)| digits(before) && digits(after);
    let suffixed = number.ends_with("f32") || number.ends_with("f64");
    let scientific = number.split_once(['e', 'E']).is_some_and(exponent);
    decimal && (number.contains('.') || suffixed || scientific)
}
