//! The identity of this client at a master.

use std::fmt;

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
