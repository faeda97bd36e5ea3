//! The parts of a connection to a master: a stream, and the identity that is valid by now.

use super::Address;
use crate::transport::BoxStream;
use quorumlock_core::coordinator::wire::{Credentials, Renewal};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The result of a dial, or of a renewal of credentials.
pub(crate) struct Brought {
    /// `None` if the address has all.
    pub(crate) credentials: Option<Result<Credentials, Arc<str>>>,
    /// `None` if a connection exists.
    pub(crate) stream: Option<io::Result<BoxStream>>,
}

impl Address {
    /// Asks for credentials, and then dials: credentials valid for minutes are not kept for a slow network. Without a
    /// time `within` which to dial, they are for an existing connection.
    pub(crate) async fn bring(&self, within: Option<Duration>) -> Brought {
        let mut credentials = match &self.credentials {
            Some(source) => Some(source.ask(&self.name, self.login.username.as_deref()).await),
            None => None,
        };
        let Some(within) = within else { return Brought { credentials, stream: None } };
        if let Some(Err(cause)) = &credentials {
            let failed = Err(io::Error::other(format!("no credentials: {cause}")));
            return Brought { credentials, stream: Some(failed) };
        }
        let given_at = Instant::now();
        let stream = Some(self.transport.dial(within).await);
        if let Some(Ok(Credentials { renewal: Renewal::Within(life), .. })) = &mut credentials {
            *life = life.saturating_sub(given_at.elapsed());
        }
        Brought { credentials, stream }
    }
}
