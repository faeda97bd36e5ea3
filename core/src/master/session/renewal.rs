//! Credentials that change while a connection lives.
//!
//! A refused `AUTH` leaves a connection with the user that it had. So it stays open for votes, what is
//! queued keeps its order, and the provider is asked again. Whether the server then cuts the connection is
//! its own decision, and costs no more than any other connection that is lost.

use super::Session;
use crate::master::PendingReply;
use crate::quorum::Instant;
use crate::wire::{self, Credentials, Login, Reply};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How long after a failure the provider is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// The renewal of one connection's credentials.
#[derive(Default)]
pub(crate) struct Renewal {
    /// When the provider is to be asked; `None` while it is being asked.
    pub(super) due: Option<Instant>,
    /// The identities that the server was shown and has not judged, in their order.
    shown: VecDeque<Login>,
    /// Why there are no newer credentials than those in use. It outlives the connection.
    pub(crate) problem: Option<Arc<str>>,
}

impl Renewal {
    /// Begins another connection, whose credentials come with it.
    pub(super) fn end(&mut self) {
        self.due = None;
        self.shown.clear();
    }
}

impl Session {
    /// Handles what the provider has returned: for the connection that is being made, or for the one that
    /// lives.
    pub(crate) fn learn_credentials(&mut self, now: Instant, given: Result<Credentials, Arc<str>>) {
        let given = match given {
            Ok(given) => given,
            Err(cause) => return self.not_renewed(now, cause),
        };
        let login = self.login.with(&given);
        self.renewal.due = given.renewal.after().map(|span| now.after(span));
        if !self.has_connection() {
            self.renewal.problem = None;
            self.login = login;
        // A server counts the time of credentials from when it saw them last.
        } else if matches!(given.renewal, wire::Renewal::Within(_))
            || login != *self.renewal.shown.back().unwrap_or(&self.login)
        {
            self.push(PendingReply::Auth, &wire::auth(&login));
            self.renewal.shown.push_back(login);
        } else {
            self.renewal.problem = None;
        }
    }

    pub(super) fn auth_answered(&mut self, now: Instant, reply: &Reply) {
        let Some(login) = self.renewal.shown.pop_front() else { return };
        if let Reply::Okay = reply {
            self.renewal.problem = None;
            self.login = login;
        } else {
            self.not_renewed(now, login.redact(&reply.unexpected()));
        }
    }

    fn not_renewed(&mut self, now: Instant, cause: Arc<str>) {
        self.renewal.problem = Some(cause);
        if self.has_connection() {
            self.renewal.due = Some(now.after(RETRY));
        }
    }

    /// Returns whether the provider is to be asked now, which then happens once.
    pub(super) fn is_to_renew(&mut self, now: Instant) -> bool {
        self.is_open() && self.renewal.due.take_if(|due| *due <= now).is_some()
    }
}
