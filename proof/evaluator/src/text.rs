//! S-expressions, as SMT-LIB writes them.

/// An expression: a word, or several in parentheses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Text {
    Word(String),
    List(Vec<Text>),
}

impl Text {
    /// Returns the words and lists of a file, without its remarks.
    pub(crate) fn read(file: &str) -> Result<Vec<Self>, String> {
        let mut open: Vec<Vec<Self>> = vec![Vec::new()];
        let mut rest = file;
        loop {
            rest = rest.trim_start();
            let Some(first) = rest.chars().next() else { break };
            match first {
                ';' => rest = rest.split_once('\n').map_or("", |(_, next)| next),
                '(' => {
                    open.push(Vec::new());
                    rest = &rest[1..];
                }
                ')' => {
                    let list = open.pop().unwrap_or_default();
                    let outer =
                        open.last_mut().ok_or("a parenthesis is closed that is not open")?;
                    outer.push(Self::List(list));
                    rest = &rest[1..];
                }
                '|' => {
                    let (name, next) = rest[1..].split_once('|').ok_or("a name has no end")?;
                    open.last_mut().ok_or("no place")?.push(Self::Word(name.to_owned()));
                    rest = next;
                }
                _ => {
                    let ends = |letter: char| letter.is_whitespace() || "();|".contains(letter);
                    let (word, next) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
                    open.last_mut().ok_or("no place")?.push(Self::Word(word.to_owned()));
                    rest = next;
                }
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some(all), true) => Ok(all),
            _ => Err("a parenthesis is open at the end".into()),
        }
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::List(_) => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            Self::Word(_) => None,
        }
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::List(list) => {
                f.write_str("(")?;
                for (place, part) in list.iter().enumerate() {
                    write!(f, "{}{part}", if place == 0 { "" } else { " " })?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn lists_words_names_and_remarks_are_read() {
        let read = Text::read("; a remark (\n(a (b |c d|) ; another\n)e").unwrap();
        let shown: Vec<String> = read.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["(a (b c d))", "e"]);
        for wrong in ["(a", "a)", "|a"] {
            assert!(Text::read(wrong).is_err(), "{wrong}");
        }
    }
}
