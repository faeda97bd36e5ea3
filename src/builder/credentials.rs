//! The identity of the client at the masters, where it is in no address.

use super::RedlockBuilder;
use crate::credentials::{Asking, Credentials, Source, THREADS, on_a_thread};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

impl RedlockBuilder {
    /// Sets a provider of credentials that change while this client runs. It takes the place of
    /// passwords in the addresses, and may return others for each master, which it is given by its name
    /// (`10.0.0.1:6379`).
    ///
    /// It is asked whenever a connection is made, and again when a fifth of the
    /// [life](Credentials::expires_in) of what it has returned is left. Then `AUTH` goes over the existing
    /// connection, in order with everything else: locks and waiters do not notice. If the master refuses,
    /// the connection stays as it is, and the provider is asked again after a second. It is asked for each
    /// master by itself, so a provider that asks a remote service should keep what it gets.
    ///
    /// A provider that fails, panics or takes more than 5 s costs the master's vote if there is no
    /// connection yet, and nothing otherwise. [`Redlock::status`](crate::Redlock::status), the events
    /// `down` and `credentials not renewed` and a [preflight](crate::preflight) report it, with the text of
    /// its error, which therefore must not contain a secret.
    ///
    /// It runs on the client's tokio runtime and must not block there: for a provider that blocks, use
    /// [`blocking_credentials`](Self::blocking_credentials).
    ///
    /// ```
    /// use quorumlock::{Credentials, Redlock};
    /// use std::time::Duration;
    ///
    /// # #[derive(Clone)] struct Cloud;
    /// # impl Cloud { async fn token(&self, _of: &str) -> Result<String, std::io::Error> { Ok(String::new()) } }
    /// # let cloud = Cloud;
    /// let builder = Redlock::builder().node("redis://10.0.0.1").credentials(move |master| {
    ///     let cloud = cloud.clone();
    ///     async move {
    ///         let token = cloud.token(&master).await?;
    ///         Ok::<_, std::io::Error>(
    ///             Credentials::new("app", token).expires_in(Duration::from_secs(900)),
    ///         )
    ///     }
    /// });
    /// ```
    ///
    /// # From a `StreamingCredentialsProvider`
    ///
    /// That of the redis crate, such as its `EntraIdCredentialsProvider`, yields the latest credentials first
    /// to each that subscribes, so it is a provider as well (feature `token-based-authentication` of `redis`):
    ///
    #[doc = concat!("```\n", include_str!("../../examples/support/streaming_provider.rs"), "```")]
    pub fn credentials<P, F, E>(mut self, provider: P) -> Self
    where
        P: Fn(Arc<str>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Credentials, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let provider = Arc::new(provider);
        let asked = move |master| -> Asking {
            let provider = provider.clone();
            // The call itself may panic, too.
            Box::pin(async move {
                let asked = provider(master).await;
                asked.map_err(|error| format!("their provider failed: {}", error.into()))
            })
        };
        self.credentials = Some(Source { provider: Arc::new(asked), file: None });
        self
    }

    /// Sets a provider of credentials that blocks. It is asked at the same times as one of
    /// [`credentials`](Self::credentials), on threads beside the client's own, of which it may block four.
    ///
    /// ```
    /// use quorumlock::{Credentials, Redlock};
    ///
    /// let builder = Redlock::builder().node("redis://10.0.0.1").blocking_credentials(|_master| {
    ///     std::fs::read_to_string("/run/secrets/redis").map(Credentials::password)
    /// });
    /// ```
    pub fn blocking_credentials<P, E>(self, provider: P) -> Self
    where
        P: Fn(Arc<str>) -> Result<Credentials, E> + Send + Sync + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        let (provider, threads) = (Arc::new(provider), Arc::new(Semaphore::new(THREADS)));
        self.credentials(move |master| {
            let provider = provider.clone();
            let work = move || provider(master).map_err(|error| error.into().to_string());
            on_a_thread(threads.clone(), work)
        })
    }

    /// Sets a file with the credentials for all masters, which may change while this client runs: a secret
    /// of Kubernetes, what an agent of Vault writes. It takes the place of passwords in the addresses.
    ///
    /// The file has one line, the password, or two: the user, then the password. Without a user, the one in
    /// a master's address counts, or `default`. It is read whenever a connection is made, and every 2 s in
    /// between: if its content has changed, the client sends it to the master by `AUTH` on the existing
    /// connection. The path is looked up anew each time, so that a link may be exchanged. If it cannot be
    /// read, the same happens as with a [provider](Self::credentials) that fails. All users that can read
    /// the file can read the password.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder()
    ///     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"])
    ///     .credentials_file("/run/secrets/redis");
    /// ```
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.credentials = Some(Source::file(path.into()));
        self
    }
}
