//! The identity of this client at a master.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The identity of this client at a master, and the database that it uses.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Login {
    pub username: Option<String>,
    pub password: Option<String>,
    pub database: i64,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("username", &self.username)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("database", &self.database)
            .finish()
    }
}

impl Login {
    /// Returns the login with the identity that a provider has returned.
    #[must_use]
    pub fn with(&self, credentials: &Credentials) -> Self {
        let (username, password) = (credentials.username.clone(), credentials.password.clone());
        Self { username, password: Some(password), ..*self }
    }

    /// Returns a server's words without this login's password: a server that does not know a command
    /// repeats its arguments.
    pub fn redact(&self, words: &str) -> Arc<str> {
        let words = words.split(", with args").next().unwrap_or_default();
        match self.password.as_deref() {
            Some(secret) if !secret.is_empty() => words.replace(secret, "***").into(),
            _ => words.into(),
        }
    }
}

/// What a provider of credentials has returned for one connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user; `default` if there is none.
    pub username: Option<String>,
    pub password: String,
    pub renewal: Renewal,
}

/// When the provider is asked again for a connection that lives on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Renewal {
    /// Only for the next connection.
    Never,
    /// Before this time has passed: the credentials expire then.
    Within(Duration),
    /// Each time that this has passed: they may have changed.
    Every(Duration),
}

impl Renewal {
    /// The shortest time between two questions to a provider.
    const SHORTEST: Duration = Duration::from_millis(50);

    /// Returns after which time the provider is asked again. Of the life of credentials a fifth is left
    /// then, for a provider that is slow, and for a server that refuses.
    pub fn after(self) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::Within(life) => Some((life / 5).saturating_mul(4).max(Self::SHORTEST)),
            Self::Every(span) => Some(span.max(Self::SHORTEST)),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("password", &"***")
            .field("renewal", &self.renewal)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_life_of_credentials_is_left_when_they_are_renewed() {
        for (life, after) in [(900, 720), (10, 8), (0, 0)] {
            let after = Duration::from_secs(after).max(Renewal::SHORTEST);
            assert_eq!(Renewal::Within(Duration::from_secs(life)).after(), Some(after), "{life} s");
        }
        assert!(Renewal::Within(Duration::MAX).after() < Some(Duration::MAX));
        assert_eq!(Renewal::Every(Duration::from_secs(2)).after(), Some(Duration::from_secs(2)));
        assert_eq!(Renewal::Never.after(), None);
    }

    #[test]
    fn no_password_is_shown_by_what_is_printed_of_a_login() {
        let password = "hunter2".to_owned();
        let renewal = Renewal::Never;
        let given = Credentials { username: Some("app".into()), password, renewal };
        let login = Login::default().with(&given);
        let error = "ERR unknown command 'AUTH', with args beginning with: 'app' 'hunter2' ";
        let words = login.redact(error);
        assert_eq!(&*words, "ERR unknown command 'AUTH'");
        assert_eq!(&*login.redact("WRONG hunter2"), "WRONG ***");
        assert!(!format!("{login:?} {given:?}").contains("hunter2"));
    }
}
