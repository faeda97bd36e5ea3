//! The identity of this client at the masters, where it changes while it runs: tokens of a cloud, secrets that
//! are rotated.

mod source;

pub(crate) use source::{Asking, Source, THREADS, on_a_thread};

use std::fmt;
use std::time::Duration;

/// The user and the password, or the token in its place, with which this client logs in to a master, as
/// returned by a [provider](crate::RedlockBuilder::credentials). When printed, it has no password.
///
/// ```
/// use quorumlock::Credentials;
/// use std::time::Duration;
///
/// let token = "eyJ0eXAi"; // from a cloud, say
/// let credentials = Credentials::new("app", token).expires_in(Duration::from_secs(900));
/// assert!(!format!("{credentials:?}").contains(token));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use = "a provider returns it"]
pub struct Credentials {
    username: Option<String>,
    password: String,
    life: Option<Duration>,
}

impl Credentials {
    /// Returns a user with its password.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: Some(username.into()), ..Self::password(password) }
    }

    /// Returns a password alone. The user is the one in the master's address, or `default`.
    pub fn password(password: impl Into<String>) -> Self {
        Self { username: None, password: password.into(), life: None }
    }

    /// Sets how long they are valid from now on: the provider is asked again when a fifth of that is left,
    /// and the master is shown the new ones on the existing connection. Default: they do not expire,
    /// and the provider is only asked for each connection.
    pub const fn expires_in(mut self, life: Duration) -> Self {
        self.life = Some(life);
        self
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("password", &"***")
            .field("expires_in", &self.life)
            .finish()
    }
}

#[cfg(test)]
mod tests;
