//! The kinds of lock by name, as metrics have them.

/// The name of a [kind](crate::kind), which a lock of an election has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindName {
    Plain,
    Fenced,
    Permit,
    Reader,
    Writer,
    Leader,
}

/// How many there are of each kind, in the order of [`KindName::WORDS`].
pub(crate) type ByKind = [usize; KindName::WORDS.len()];

impl KindName {
    pub(crate) const WORDS: [&'static str; 6] =
        ["plain", "fenced", "permit", "reader", "writer", "leader"];

    pub(crate) const fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}
