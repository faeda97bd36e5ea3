//! What a master says, and what we read in it.

use std::fmt;
use std::sync::Arc;

/// A reply in RESP3, as far as it makes a difference to us.
#[derive(Clone, PartialEq)]
pub(crate) enum Reply {
    /// `+OK`.
    Okay,
    Nil,
    Int(i64),
    /// A string of any kind; a number or a truth value that we never ask for, as it was sent.
    Text(Box<[u8]>),
    /// In the server's own words.
    Error(Arc<str>),
    /// A set, too.
    Array(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
    /// No answer, but for those that confirm a subscription or its end. What it is comes first.
    Push(Vec<Reply>),
}

impl Reply {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// One field of a map, if it is a text.
    pub(crate) fn field(&self, wanted: &str) -> Option<&str> {
        self.value(wanted).and_then(Self::text)
    }

    /// What a push is: `message`, `subscribe`; nothing else is one.
    pub(crate) fn push_kind(&self) -> Option<&str> {
        match self {
            Self::Push(parts) => parts.first()?.text(),
            _ => None,
        }
    }

    /// An error of the server; anything else is none.
    pub(crate) const fn error(&self) -> Option<&Arc<str>> {
        match self {
            Self::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The server does not know the script: nothing was done.
    pub(crate) fn is_noscript(&self) -> bool {
        self.error().is_some_and(|error| error.starts_with("NOSCRIPT"))
    }

    /// Our user may not, by itself or within a script, or the server does not know the command, or was
    /// told not to.
    pub(crate) fn is_denied(&self) -> bool {
        self.error().is_some_and(|error| {
            error.starts_with("NOPERM") || is_unknown(error) || is_denied_within_a_script(error)
        })
    }

    /// What to say of a reply that the command cannot have.
    pub(crate) fn unexpected(&self) -> Arc<str> {
        match self {
            Self::Error(error) => error.clone(),
            other => format!("unexpected reply {other:?}").into(),
        }
    }

    /// The connection's own id, from the answer to HELLO.
    pub(crate) fn hello_id(&self) -> Option<i64> {
        match self.value("id") {
            Some(Self::Int(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether the server has `DELIFEQ`, from the answer to HELLO: Valkey has it from 9 on.
    pub(crate) fn has_delifeq(&self) -> bool {
        let version = self.field("version").and_then(|version| version.split('.').next());
        let major = version.and_then(|major| major.parse::<u32>().ok());
        self.field("server") == Some("valkey") && major.is_some_and(|major| major >= 9)
    }

    fn value(&self, wanted: &str) -> Option<&Self> {
        let Self::Map(fields) = self else { return None };
        fields.iter().find_map(|(name, value)| (name.text() == Some(wanted)).then_some(value))
    }
}

/// For errors, whose readers know the protocol's words.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Okay => f.write_str("OK"),
            Self::Nil => f.write_str("nil"),
            Self::Int(number) => write!(f, "int({number})"),
            Self::Text(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Self::Error(error) => write!(f, "error({error})"),
            Self::Array(parts) => f.debug_list().entries(parts).finish(),
            Self::Map(fields) => {
                f.debug_map().entries(fields.iter().map(|(name, value)| (name, value))).finish()
            }
            Self::Push(parts) => f.debug_tuple("push").field(parts).finish(),
        }
    }
}

/// One field of the text of an INFO reply.
pub(crate) fn info_field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_end)
}

/// The server does not know the command: it is too old for it, or it was renamed there.
pub(crate) fn is_unknown(error: &str) -> bool {
    UNKNOWN.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// What a script of ours called is not for our user, or not known.
pub(crate) fn is_denied_within_a_script(error: &str) -> bool {
    DENIED_WITHIN_A_SCRIPT.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// The second is 6.2's word for a subcommand.
const UNKNOWN: [&str; 3] = ["unknown command", "Unknown subcommand", "unknown subcommand"];

/// The second is Valkey's.
const UNKNOWN_WITHIN_A_SCRIPT: [&str; 2] =
    ["Unknown Redis command called from", "Unknown command called from"];

/// Until 7.0, and from 7.2 on.
const DENIED_WITHIN_A_SCRIPT: [&str; 2] =
    ["The user executing the script can't", "ACL failure in script"];
