//! The masters of a builder: one list, or two while one takes over from the other; and the identity of the client at
//! them, where it is in no address.

use super::RedlockBuilder;
use crate::address::IntoNode;
use crate::credentials::{Asking, Credentials, Source, THREADS, on_a_thread};
use crate::lists::Named;
use crate::transport::{BoxStream, Stream, Transport};
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

impl RedlockBuilder {
    /// Adds the masters: independent of each other, none a replica of another. Five survive the
    /// loss of two, three the loss of one. An even number survives no more than the odd number
    /// below it, and costs one command more.
    ///
    /// Each address is a [`IntoNode`]: usually a URL (`redis://[user][:password@]host[:port][/db]`,
    /// `rediss://` with the feature `tls`, `unix:///path?db=0&user=…&pass=…`), or a `&redis::Client`,
    /// of which only the address, the login and the database are taken.
    /// [`connect`](RedlockBuilder::connect) reports a mistake in it.
    ///
    /// ```
    /// use quorumlock::Redlock;
    ///
    /// let urls = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let builder = Redlock::builder().nodes(urls);
    /// let urls: Vec<String> = urls.map(str::to_owned).into(); // from a configuration, say
    /// let builder = Redlock::builder().nodes(&urls);
    /// ```
    pub fn nodes<I, Form>(self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoNode<Form>>,
    {
        addresses.into_iter().fold(self, |builder, address| builder.node(address))
    }

    /// Adds one master, as [`nodes`](Self::nodes) does.
    pub fn node<Form>(mut self, address: impl IntoNode<Form>) -> Self {
        self.lists.nodes.push(Named::new(address, None));
        self
    }

    /// Adds one master that is reached through a stream of your own: a tunnel, a service mesh, a
    /// test. `address` names it and supplies the credentials and the database. `dial` is called for
    /// each connection, and is bounded by the connect timeout.
    ///
    /// One stream must be one ordered connection to one server: rollback relies on it.
    ///
    /// ```
    /// use quorumlock::Redlock;
    /// use tokio::net::TcpStream;
    ///
    /// let builder = Redlock::builder()
    ///     .node_with_connector("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn node_with_connector<D, F, S, Form>(
        mut self,
        address: impl IntoNode<Form>,
        dial: D,
    ) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.nodes.push(Named::new(address, Some(custom(dial))));
        self
    }

    /// Adds the masters of a second list, for the time in which one list takes over from another:
    /// `.nodes(new).joint_with(old)`. Addresses are accepted as [`nodes`](Self::nodes) accepts
    /// them.
    ///
    /// A lock then needs both lists: a quorum of each to be won and to be extended. It is lost once
    /// one of these quorums is out of reach. Two clients exclude each other as long as they have a
    /// list in common. Two clients without a common list may both win, even if a single master was
    /// exchanged. `docs/replacing-a-master.md` in the repository describes the change step by step.
    ///
    /// A master that is in both lists is written the same way in both, credentials and database
    /// included. It is connected to and asked once, in the way that `nodes` specifies. An empty
    /// list changes nothing, so a program can always pass what its configuration has.
    ///
    /// ```
    /// use quorumlock::Redlock;
    ///
    /// // 10.0.0.3 goes, 10.0.0.4 comes.
    /// let builder = Redlock::builder()
    ///     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.4"])
    ///     .joint_with(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"]);
    /// ```
    pub fn joint_with<I, Form>(mut self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoNode<Form>>,
    {
        let named = |address| Named::new(address, None);
        self.lists.joint_with.extend(addresses.into_iter().map(named));
        self
    }

    /// Adds one master to the second list, as [`joint_with`](Self::joint_with) does. It is reached
    /// through a stream of your own, as with [`node_with_connector`](Self::node_with_connector). If
    /// the first list names the same address, the master is reached in the way that is given there,
    /// and `dial` is not called.
    ///
    /// ```
    /// use quorumlock::Redlock;
    /// use tokio::net::TcpStream;
    ///
    /// let builder = Redlock::builder()
    ///     .node_with_connector("redis://master-2", || TcpStream::connect("127.0.0.1:16380"))
    ///     .joint_with_connector("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn joint_with_connector<D, F, S, Form>(
        mut self,
        address: impl IntoNode<Form>,
        dial: D,
    ) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.joint_with.push(Named::new(address, Some(custom(dial))));
        self
    }

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

/// Wraps the user's own way to a master as a transport.
fn custom<F, S: Stream>(dial: impl Fn() -> F + Send + Sync + 'static) -> Transport
where
    F: Future<Output = io::Result<S>> + Send + 'static,
{
    Transport::Custom(Arc::new(move || {
        let dialing = dial();
        Box::pin(async move { Ok(Box::new(dialing.await?) as BoxStream) })
    }))
}
