//! The setup of a `Redlock`.

mod nodes;

use crate::address::TlsConfig;
use crate::credentials::{self, Source};
use crate::driver::clock::Clock;
use crate::driver::random::OsRandom;
use crate::driver::{Connected, Driver, Setup, runtime};
use crate::failure::{Closed, ConnectError, InvalidSetting, NoRandomness};
use crate::lists::{Lists, Resolved};
use crate::options::Options;
use crate::own_thread;
use crate::redlock::Redlock;
use quorumlock_core::coordinator::Random;
use std::sync::Arc;
use tokio::runtime::Handle as Runtime;

/// Sets up a [`Redlock`].
///
/// ```no_run
/// # async fn example() -> Result<(), quorumlock::ConnectError> {
/// use quorumlock::Redlock;
/// use std::time::Duration;
///
/// let redlock = Redlock::builder()
///     .nodes([
///         "redis://10.0.0.1",
///         "redis://10.0.0.2",
///         "redis://10.0.0.3",
///         "redis://10.0.0.4",
///         "redis://10.0.0.5",
///     ])
///     .ttl(Duration::from_secs(10))
///     .connect()
///     .await?;
/// # Ok(()) }
/// ```
///
/// # Seven spans
///
/// ```text
/// call      the attempt that wins        deadline        keys expire, if not released
///  |                |------- ttl, less drift -|-- lock_delay --|
///  |-- acquire_timeout: the last attempt begins within it --|
///                   |-- operation_timeout: each attempt, extension and release --|
///                   |-- min_hold: closed to others, even if released before --|
///                   |-- max_hold: no extension moves the deadline beyond it --|
/// ```
///
/// The seventh is [`max_ttl`](Self::max_ttl), the most for [`ttl`](Self::ttl) and
/// [`lock_delay`](Self::lock_delay) together, and for [`min_hold`](crate::Acquire::min_hold). A master
/// that has lost its memory does not vote for a little longer than that. An extension starts a new
/// ttl; [`max_hold`](Self::max_hold) is for locks that are kept alive.
#[must_use = "nothing is connected before `connect`"]
pub struct RedlockBuilder {
    lists: Lists,
    tls: Option<TlsConfig>,
    /// Read by `connect`; they take precedence over `tls`.
    #[cfg(feature = "config")]
    pub(crate) tls_files: crate::tls_files::TlsFiles,
    /// Where credentials come from that are in no address.
    pub(crate) credentials: Option<Source>,
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) own_thread: bool,
}

impl Redlock {
    /// Returns a builder with an empty list of masters, and defaults for everything else.
    pub fn builder() -> RedlockBuilder {
        RedlockBuilder {
            lists: Lists::default(),
            tls: None,
            #[cfg(feature = "config")]
            tls_files: crate::tls_files::TlsFiles::default(),
            credentials: None,
            options: Options::default(),
            clock: Clock::boot(),
            own_thread: false,
        }
    }
}

impl RedlockBuilder {
    /// Sets how `rediss://` masters are verified, instead of by the platform's root certificates: a
    /// private authority, client certificates. Feature `tls`, whose [`rustls`](crate::rustls) is at
    /// hand.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::rustls::pki_types::{CertificateDer, pem::PemObject};
    /// use quorumlock::rustls::{ClientConfig, RootCertStore, crypto::ring};
    ///
    /// let mut roots = RootCertStore::empty();
    /// roots.add(CertificateDer::from_pem_file("/etc/redis/ca.pem")?)?;
    /// let config = ClientConfig::builder_with_provider(ring::default_provider().into())
    ///     .with_safe_default_protocol_versions()?
    ///     .with_root_certificates(roots)
    ///     .with_no_client_auth();
    /// let builder = quorumlock::Redlock::builder().tls_config(config.into());
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "tls")]
    pub fn tls_config(mut self, config: Arc<crate::rustls::ClientConfig>) -> Self {
        self.tls = Some(TlsConfig::Fixed(config));
        #[cfg(feature = "config")]
        {
            self.tls_files = crate::tls_files::TlsFiles::default();
        }
        self
    }

    /// Sets a name for the acquirer, shown to anyone who inspects a lock or finds it held: a host, a
    /// process, a worker's name. At most 512 bytes without control characters, and not ending like
    /// the term of an election (`;term=7`). It excludes no client and proves nothing, and is never a
    /// secret: keys, `MONITOR`, errors and logs show it. Default: the host's name and the number of
    /// the process, such as `web-3:4711`; with an empty
    /// one, no client learns from the masters which host and process holds a lock. Can be set
    /// [per call](crate::Acquire::label).
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().label("worker-7");
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.options.label = Some(label.into().into());
        self
    }

    /// Sets the prefix of each resource's name in Redis. It must be the same for all clients that
    /// are to exclude each other. It must not contain `quorumlock:`, which marks keys of our own. Of
    /// two prefixes on the same masters, neither should begin the other: with `a:`, the resource `b:c`
    /// has the same key as `c` with `a:b:`. Default: empty, as with other Redlock clients.
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.options.key_prefix = prefix.into();
        self
    }

    /// Sets whether [`connect`](Self::connect) starts a thread, named `quorumlock`, on which the client
    /// runs. It then needs no tokio runtime, and does not stall with the caller's. The thread ends when the
    /// last handle, guard and lease are gone and what they owe is settled, or by a
    /// [`shutdown`](Redlock::shutdown). A preflight and a list have such a thread for as long as they take,
    /// and a [stream of your own](Self::node_with_connector) is dialled within its runtime. Default: `false`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::ConnectError> {
    /// use quorumlock::{Redlock, Wait};
    ///
    /// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let redlock = Redlock::builder().nodes(nodes).own_thread(true).connect().wait()?;
    /// # Ok(()) }
    /// ```
    pub const fn own_thread(mut self, own_thread: bool) -> Self {
        self.own_thread = own_thread;
        self
    }

    /// Connects, on the tokio runtime that this is awaited on, or on a [thread](Self::own_thread). Returns once each master has
    /// answered or failed, even when none is up; masters that are down are redialled in the
    /// background.
    ///
    /// A master that answers and cannot be used as configured loses its vote, and is reported
    /// loudly: by [`Redlock::status`], by the event `unfit` and the metric
    /// `quorumlock_node_standing` of the features `tracing` and `metrics`, and by the command on
    /// stderr. It is asked again and again, and votes once it is fixed. [`strict`](Self::strict)
    /// turns it into an error.
    ///
    /// # Errors
    ///
    /// - [`InvalidSetting`](ConnectError::InvalidSetting): a setting (or an address) that cannot
    ///   work; the call sent nothing.
    /// - [`WrongContext`](ConnectError::WrongContext): the call has no tokio runtime to run on, or a
    ///   runtime built without its time or I/O driver (`enable_all()` has both), or no thread; it sent
    ///   nothing. tokio answers that question with a panic, which is caught here: its text still
    ///   appears on stderr.
    /// - [`NoRandomness`](ConnectError::NoRandomness): the operating system provides no random bytes
    ///   for tokens; the call sent nothing.
    /// - [`Unfit`](ConnectError::Unfit): masters answer and cannot be used as configured (wrong
    ///   credentials, a replica, the same server twice), and without them a list has no quorum.
    ///   With [`strict`](Self::strict), any such master is enough.
    /// - [`Disagreement`](ConnectError::Disagreement): another client of a master is configured with
    ///   another `max_ttl` or fencing window, or with a list of masters that could win beside this one's;
    ///   or the masters that do not know such a client are no quorum. Otherwise a master that knows a
    ///   client of another list is reported as an unfit one, and votes once that client has gone. With
    ///   [`strict`](Self::strict), any such master is enough.
    /// - [`Closed`](ConnectError::Closed): the runtime ended in the meantime.
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it takes back what it has recorded at the masters, and closes what it has
    /// opened.
    pub async fn connect(self) -> Result<Redlock, ConnectError> {
        let own_thread = self.own_thread;
        let begin = || {
            let (redlock, driver, connected) = self.prepare()?;
            Ok::<_, ConnectError>(((redlock, connected), tokio::spawn(driver)))
        };
        let (redlock, connected) = own_thread::begin(own_thread, begin)?;
        connected.await.map_err(|_| Closed::ENDED)??;
        redlock.driver.in_use();
        Ok(redlock)
    }

    /// Returns every master once, and which master belongs to which list.
    pub(crate) fn masters(&self) -> Result<Resolved, InvalidSetting> {
        let credentials = self.credentials.as_ref();
        let file = credentials.and_then(|source| source.file.as_ref());
        let read = file.map_or(Ok(()), |file| credentials::read(file).map(drop));
        read.map_err(|problem| InvalidSetting::new("credentials_file", problem))?;
        #[cfg(feature = "config")]
        if let Some(config) = self.tls_files.read()? {
            return self.lists.resolve(Some(&config), credentials);
        }
        self.lists.resolve(self.tls.as_ref(), credentials)
    }

    /// Prepares everything but the run itself: the driver notifies `connected` when every node has
    /// answered or failed.
    pub(crate) fn prepare(self) -> Result<(Redlock, Driver, Connected), ConnectError> {
        self.options.check()?;
        let (addresses, membership) = self.masters()?;
        if OsRandom::new().bits().is_none() {
            return Err(NoRandomness.into());
        }
        runtime::check("connect()", addresses.iter().map(|address| &address.transport))?;

        let setup = Arc::new(Setup {
            options: self.options,
            masters: (addresses, membership),
            own_runtime: self.own_thread.then(Runtime::current),
        });
        let (driver, task, connected) = Driver::begin(setup.clone(), self.clock);
        Ok((Redlock { setup, driver }, task, connected))
    }
}

debug_fields!(
    RedlockBuilder,
    builder {
        nodes: builder.lists.nodes.len(),
        joint_with: builder.lists.joint_with.len(),
        options: builder.options,
    }
);

#[cfg(all(test, feature = "embedded"))]
impl RedlockBuilder {
    pub(crate) const fn on_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    pub(crate) async fn connect_on(self, clock: Clock) -> Result<Redlock, ConnectError> {
        self.on_clock(clock).connect().await
    }
}
