//! A master's replies, and the accessors that read them.

use std::fmt;
use std::sync::Arc;

/// A reply in RESP3, as far as the differences matter to us.
#[derive(Clone, PartialEq)]
pub enum Reply {
    /// `+OK`.
    Okay,
    Nil,
    Int(i64),
    /// A string of any kind; also a number or a boolean that we never ask for, as it was sent.
    Text(Box<[u8]>),
    /// An error, in the server's own words.
    Error(Arc<str>),
    /// An array or a set.
    Array(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
    /// Not an answer, except for those that confirm a subscription or its end. The kind comes
    /// first.
    Push(Vec<Reply>),
}

impl Reply {
    pub fn text(&self) -> Option<&str> {
        let Self::Text(bytes) = self else { return None };
        std::str::from_utf8(bytes).ok()
    }

    /// Returns one field of a map, if it is a text.
    pub fn field(&self, wanted: &str) -> Option<&str> {
        self.value(wanted).and_then(Self::text)
    }

    /// Returns the kind of a push: `message`, `subscribe`. Nothing else is a push.
    pub fn push_kind(&self) -> Option<&str> {
        let Self::Push(parts) = self else { return None };
        parts.first()?.text()
    }

    /// Returns an error of the server; anything else is not an error.
    pub const fn error(&self) -> Option<&Arc<str>> {
        let Self::Error(error) = self else { return None };
        Some(error)
    }

    /// Returns whether the server does not know the script: nothing was done.
    pub fn is_noscript(&self) -> bool {
        self.error().is_some_and(|error| error.starts_with("NOSCRIPT"))
    }

    /// Returns whether our user may not do this, by itself or within a script, or the server does
    /// not know the command, or was configured not to.
    pub fn is_denied(&self) -> bool {
        self.error().is_some_and(|error| is_denied(error))
    }

    /// Returns whether something of another type has the name of a key.
    pub fn is_wrong_type(&self) -> bool {
        self.error().is_some_and(|error| {
            error.starts_with("WRONGTYPE")
                || error.contains(WRONG_TYPE_WITHIN_A_SCRIPT)
                || error.contains(NO_STRING_TO_DELETE)
        })
    }

    /// Returns the message for a reply that the command cannot have.
    pub fn unexpected(&self) -> Arc<str> {
        match self {
            Self::Error(error) => error.clone(),
            other => format!("unexpected reply {other:?}").into(),
        }
    }

    /// Returns the connection's own id, from the answer to HELLO.
    pub fn hello_id(&self) -> Option<i64> {
        let Some(Self::Int(id)) = self.value("id") else { return None };
        Some(*id)
    }

    fn value(&self, wanted: &str) -> Option<&Self> {
        let Self::Map(fields) = self else { return None };
        fields.iter().find_map(|(name, value)| (name.text() == Some(wanted)).then_some(value))
    }
}

/// The format of errors, whose readers know the protocol's words.
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

/// Returns one field of the text of an INFO reply.
pub fn info_field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_end)
}

/// Returns whether the server does not know the command: it is too old for it, or the command was
/// renamed there.
pub fn is_unknown(error: &str) -> bool {
    UNKNOWN.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// Returns whether our user may not do what it asked for.
pub fn is_denied(error: &str) -> bool {
    error.starts_with("NOPERM") || is_unknown(error) || is_denied_within_a_script(error)
}

/// Returns whether a script of ours called something that our user may not call, or that is
/// unknown.
pub fn is_denied_within_a_script(error: &str) -> bool {
    DENIED_WITHIN_A_SCRIPT.iter().chain(&UNKNOWN_WITHIN_A_SCRIPT).any(|words| error.contains(words))
}

/// 6.2 answers to a script where its error began, and then the error.
const WRONG_TYPE_WITHIN_A_SCRIPT: &str = ": WRONGTYPE ";

/// What `DELEX` answers in place of WRONGTYPE.
const NO_STRING_TO_DELETE: &str = "Key should be of string type";

/// The second one is 6.2's word for a subcommand.
const UNKNOWN: [&str; 3] = ["unknown command", "Unknown subcommand", "unknown subcommand"];

/// The second one is Valkey's.
const UNKNOWN_WITHIN_A_SCRIPT: [&str; 2] =
    ["Unknown Redis command called from", "Unknown command called from"];

/// The first one is used until 7.0, the second from 7.2 on.
const DENIED_WITHIN_A_SCRIPT: [&str; 2] =
    ["The user executing the script can't", "ACL failure in script"];
