//! EDN, as far as a history of Jepsen's needs it: nil, integers, keywords, strings, vectors, and maps
//! with keywords as keys.
//!
//! It names nothing of the crate: `proof/judge` reads histories with this file, too.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edn {
    Nil,
    Integer(u64),
    Keyword(String),
    Text(String),
    Vector(Vec<Edn>),
    Map(Vec<(String, Edn)>),
}

impl Edn {
    pub(crate) fn keyword(word: &str) -> Self {
        Self::Keyword(word.to_owned())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn map<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Returns the value under a key; `Nil` if there is none, or if this is no map.
    pub(crate) fn get(&self, key: &str) -> &Self {
        let Self::Map(entries) = self else { return &Self::Nil };
        entries.iter().find(|(known, _)| known == key).map_or(&Self::Nil, |(_, value)| value)
    }

    pub(crate) const fn as_integer(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    pub(crate) fn as_keyword(&self) -> Option<&str> {
        if let Self::Keyword(word) = self { Some(word) } else { None }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_vector(&self) -> Option<&[Self]> {
        if let Self::Vector(values) = self { Some(values) } else { None }
    }

    /// Reads one value that fills the text.
    ///
    /// # Errors
    ///
    /// What was expected, and the rest of the text from there.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text };
        let value = reader.value()?;
        reader.skip();
        if reader.rest.is_empty() { Ok(value) } else { Err(reader.wants("the end of the line")) }
    }
}

impl fmt::Display for Edn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("nil"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Keyword(word) => write!(f, ":{word}"),
            Self::Text(text) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                write!(f, "\"{text}\"")
            }
            Self::Vector(values) => {
                let values: Vec<String> = values.iter().map(Self::to_string).collect();
                write!(f, "[{}]", values.join(" "))
            }
            Self::Map(entries) => {
                let entry = |(key, value): &(String, Self)| format!(":{key} {value}");
                let entries: Vec<String> = entries.iter().map(entry).collect();
                write!(f, "{{{}}}", entries.join(", "))
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn wants(&self, what: &str) -> String {
        match self.rest.chars().take(30).collect::<String>() {
            rest if rest.is_empty() => format!("{what} is missing at the end"),
            rest => format!("{what} is missing at {rest:?}"),
        }
    }

    /// To EDN a comma is a space.
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ',']);
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> &'a str {
        let is_part = |letter: char| letter.is_alphanumeric() || "-_.?!*+/<>=".contains(letter);
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn value(&mut self) -> Result<Edn, String> {
        self.skip();
        if self.takes(':') {
            return match self.word() {
                "" => Err(self.wants("the name of a keyword")),
                word => Ok(Edn::keyword(word)),
            };
        }
        if self.takes('"') {
            return self.text();
        }
        if self.takes('[') {
            return Ok(Edn::Vector(self.until(']', Self::value)?));
        }
        if self.takes('{') {
            return Ok(Edn::Map(self.until('}', Self::entry)?));
        }
        let from = self.rest;
        match self.word() {
            "nil" => Ok(Edn::Nil),
            word => word.parse().map(Edn::Integer).map_err(|_| {
                self.rest = from;
                self.wants("nil, an integer from zero on, a keyword, a string, a vector or a map")
            }),
        }
    }

    fn until<T>(
        &mut self,
        end: char,
        next: fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut found = Vec::new();
        loop {
            self.skip();
            if self.takes(end) {
                return Ok(found);
            }
            found.push(next(self)?);
        }
    }

    fn entry(&mut self) -> Result<(String, Edn), String> {
        let from = self.rest;
        match self.value()? {
            Edn::Keyword(key) => Ok((key, self.value()?)),
            _ => {
                self.rest = from;
                Err(self.wants("a keyword as the key of a map"))
            }
        }
    }

    fn text(&mut self) -> Result<Edn, String> {
        let (mut text, mut letters) = (String::new(), self.rest.chars());
        loop {
            let letter = match letters.next() {
                Some('"') => break,
                Some('\\') => match letters.next() {
                    Some('n') => Some('\n'),
                    other => other.filter(|letter| ['"', '\\'].contains(letter)),
                },
                other => other,
            };
            text.push(letter.ok_or_else(|| self.wants("the end of a string"))?);
        }
        self.rest = letters.as_str();
        Ok(Edn::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_as_it_was_written() {
        let value = Edn::map([
            ("type", Edn::keyword("ok")),
            ("none", Edn::Nil),
            ("value", Edn::Vector(vec![Edn::text("a \"b\" \\ \n c"), Edn::Integer(7)])),
            ("map", Edn::map([])),
        ]);
        assert_eq!(Edn::parse(&value.to_string()), Ok(value));
        assert_eq!(Edn::parse(" { :a   [1,2 ] }").unwrap().to_string(), "{:a [1 2]}");
    }

    #[test]
    fn an_error_says_what_is_missing_and_where() {
        for (text, expected) in [
            (
                "",
                "nil, an integer from zero on, a keyword, a string, a vector or a map is missing at the end",
            ),
            ("{:a 1", "a keyword, a string, a vector or a map is missing at the end"),
            ("{:a 1} x", "the end of the line is missing at \"x\""),
            ("{1 2}", "a keyword as the key of a map is missing at \"1 2}\""),
            (
                "[-1]",
                "an integer from zero on, a keyword, a string, a vector or a map is missing at \"-1]\"",
            ),
            ("\"a", "the end of a string is missing at \"a\""),
            ("\"\\t\"", "the end of a string is missing"),
            (":", "the name of a keyword is missing"),
        ] {
            let error = Edn::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
