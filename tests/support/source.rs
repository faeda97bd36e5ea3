//! Rust sources as tokens, for the tests that enforce the house rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A word, a number or a sign, and its line. Comments are left out, strings and characters become
/// `""`, and `::` is one sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Token {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

/// Reads the text of every `.rs` file under `folder` of this package, by its path from the package.
pub(crate) fn files(folder: &str) -> io::Result<BTreeMap<PathBuf, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
                found.insert(name, fs::read_to_string(&path)?);
            }
        }
    }
    Ok(found)
}

pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut reader = Reader { chars: source.chars().collect(), at: 0, line: 1 };
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(first) = reader.peek(0) {
        let line = reader.line;
        let after_dot = tokens.last().is_some_and(|token| token.text == ".");
        if let Some(text) = reader.token(first, after_dot) {
            tokens.push(Token { line, text });
        }
    }
    tokens
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while self.peek(0).is_some_and(&wanted) {
            taken.extend(self.next());
        }
        taken
    }

    fn token(&mut self, first: char, after_dot: bool) -> Option<String> {
        match (first, self.peek(1)) {
            ('/', Some('/')) => drop(self.take(|next| next != '\n')),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => return Some(self.string(0, true)),
            ('\'', _) => return self.quote(),
            (':', Some(':')) => {
                self.at += 2;
                return Some("::".into());
            }
            _ if first.is_whitespace() => drop(self.next()),
            _ if first.is_ascii_digit() => return Some(self.number(after_dot)),
            _ if word(first) => return Some(self.word()),
            _ => return self.next().map(String::from),
        }
        None
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (None, _) => return,
                _ => {
                    self.next();
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads from the opening quote to the closing one, which is followed by `hashes` signs.
    fn string(&mut self, hashes: usize, escapes: bool) -> String {
        self.next();
        while let Some(next) = self.next() {
            if next == '\\' && escapes {
                self.next();
            } else if next == '"' && (0..hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                self.at += hashes;
                break;
            }
        }
        "\"\"".into()
    }

    /// Reads a character, or a lifetime, which is not a token.
    fn quote(&mut self) -> Option<String> {
        let escaped = self.peek(1) == Some('\\');
        if !escaped && self.peek(2) != Some('\'') {
            self.next();
            self.take(word);
            return None;
        }
        self.at += if escaped { 3 } else { 2 };
        self.take(|next| next != '\'');
        self.next();
        Some("\"\"".into())
    }

    fn word(&mut self) -> String {
        let text = self.take(word);
        let hashes = (0..).take_while(|&ahead| self.peek(ahead) == Some('#')).count();
        match text.as_str() {
            "r" | "br" | "cr" if self.peek(hashes) == Some('"') => {
                self.at += hashes;
                self.string(hashes, false)
            }
            "b" | "c" if self.peek(0) == Some('"') => self.string(0, true),
            "r" if hashes == 1 => {
                self.next();
                self.take(word)
            }
            _ => text,
        }
    }

    /// Reads digits, suffix and fraction; `.0` of a tuple has no fraction.
    fn number(&mut self, after_dot: bool) -> String {
        let mut text = self.take(word);
        let fraction =
            self.peek(1).is_none_or(|next| next != '.' && (next.is_ascii_digit() || !word(next)));
        if !after_dot && self.peek(0) == Some('.') && fraction {
            text.extend(self.next());
            text += &self.take(word);
        }
        text
    }
}

fn word(next: char) -> bool {
    next.is_alphanumeric() || next == '_'
}
