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

/// How many there are of each kind, in the order of [`KindName::ALL`].
pub(crate) type ByKind = [usize; KindName::ALL.len()];

impl KindName {
    pub(crate) const ALL: [Self; 6] =
        [Self::Plain, Self::Fenced, Self::Permit, Self::Reader, Self::Writer, Self::Leader];

    #[cfg(feature = "metrics")]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Fenced => "fenced",
            Self::Permit => "permit",
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Leader => "leader",
        }
    }
}
