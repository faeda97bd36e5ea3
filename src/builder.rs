//! The setup of a `Redlock`.

mod connect;
mod credentials;
mod nodes;

use crate::address::TlsConfig;
use crate::credentials::Source;
use crate::driver::clock::Clock;
use crate::lists::Lists;
use crate::options::Options;
use crate::redlock::Redlock;
use crate::{Backoff, ClockDrift, FencingWindow, RestartGuard};
use std::fmt;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

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
    /// Sets the client's clock. Not for a client that must count suspend.
    #[cfg(feature = "embedded")]
    pub(crate) const fn on_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

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

    /// Sets how long a key lives unless it is released or extended, and so how long a crashed
    /// holder keeps others out. A longer ttl means fewer extensions and a longer wait after a
    /// crash. Default: 10 s. Can be set per call.
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.options.ttl = ttl;
        self
    }

    /// Sets the longest ttl that any call may request. It also determines how long a master that
    /// has lost its memory must stay away, until nothing that it had granted can still be held. It
    /// must be the same for all clients of these masters with the same [prefix](Self::key_prefix), which
    /// agree on it through them. Default: 30 s. Above 24 h it needs [`allow_long_max_ttl`](Self::allow_long_max_ttl).
    pub const fn max_ttl(mut self, max_ttl: Duration) -> Self {
        self.options.max_ttl = max_ttl;
        self
    }

    /// Sets whether a [`max_ttl`](Self::max_ttl) above 24 h is accepted. Masters that have just started do not vote for
    /// that long, and clients with another `max_ttl` are refused for that long once a client with this
    /// one has used the masters. Default: `false`: it is an [`InvalidSetting`](crate::InvalidSetting).
    ///
    /// ```
    /// let days = std::time::Duration::from_secs(3 * 86_400);
    /// let builder = quorumlock::Redlock::builder().max_ttl(days).allow_long_max_ttl(true);
    /// ```
    pub const fn allow_long_max_ttl(mut self, allow: bool) -> Self {
        self.options.allow_long_max_ttl = allow;
        self
    }

    /// Sets for how long `acquire` keeps trying while another holder has the lock or too few
    /// masters answer. A longer time rides out longer holds and outages, and reports them later.
    /// Default: 10 s. Can be set per call: [`timeout`](crate::Acquire::timeout).
    pub const fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.options.acquire_timeout = timeout;
        self
    }

    /// Sets for how long a lock that is kept alive may be held, from the start of the attempt that
    /// won. It must be at least the ttl. A longer time suits longer work, but a task that hangs
    /// keeps others out for as long. Default: 1 h. Can be set per call:
    /// [`keep_alive_for`](crate::Acquire::keep_alive_for). [`Duration::MAX`] has no end.
    pub const fn max_hold(mut self, max_hold: Duration) -> Self {
        self.options.max_hold = max_hold;
        self
    }

    /// Sets how long one master may take to answer before its vote is unknown; never more than a
    /// tenth of the ttl. A master that is silent for three times as long is reconnected. A longer
    /// timeout tolerates slower masters, and shows an outage later. Default: 200 ms.
    pub const fn operation_timeout(mut self, timeout: Duration) -> Self {
        self.options.operation_timeout = timeout;
        self
    }

    /// Sets how long resolving, connecting and a TLS handshake may take together, and the first
    /// answers after that. It is never on the path of an acquire while enough other masters answer.
    /// Default: 500 ms.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout;
        self
    }

    /// Sets what is subtracted from each ttl because clocks run at different speeds: a share in
    /// parts per million, and a constant. More is safer and shortens every hold. Default:
    /// 10,000 ppm (1 %) and 2 ms.
    ///
    /// ```
    /// use quorumlock::{ClockDrift, Redlock};
    /// use std::time::Duration;
    ///
    /// let drift = ClockDrift { rate_ppm: 20_000, constant: Duration::from_millis(5) };
    /// let builder = Redlock::builder().drift(drift);
    /// ```
    pub const fn drift(mut self, drift: ClockDrift) -> Self {
        self.options.drift = drift;
        self
    }

    /// Sets the pause between attempts of an acquire that waits: a random time up to `base`,
    /// doubling with each attempt up to `cap`. A shorter pause hands over sooner and asks more
    /// often. Default: 5 ms and 250 ms.
    ///
    /// ```
    /// use quorumlock::{Backoff, Redlock};
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff { cap: Duration::from_secs(1), ..Backoff::default() };
    /// let builder = Redlock::builder().backoff(backoff);
    /// ```
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.options.backoff = backoff;
        self
    }

    /// Sets whether a master that has just started, and may have lost its memory, waits before it
    /// votes. Default: [`RestartGuard::On`].
    ///
    /// ```
    /// use quorumlock::{Redlock, RestartGuard};
    ///
    /// let builder = Redlock::builder().restart_guard(RestartGuard::TrustPersistence);
    /// ```
    pub const fn restart_guard(mut self, guard: RestartGuard) -> Self {
        self.options.restart_guard = guard;
        self
    }

    /// Sets how far the fencing token that a client proposes may be behind and ahead of a master's
    /// clock. A wider window tolerates clocks that are further apart. Its whole width bounds,
    /// together with [`max_ttl`](Self::max_ttl), how long a restarted master does not vote. Cut to
    /// whole milliseconds. It must be the same for all clients of these masters, which agree on it
    /// through them. Default: 2 s and 2 s.
    ///
    /// ```
    /// use quorumlock::{FencingWindow, Redlock};
    /// use std::time::Duration;
    ///
    /// let window = FencingWindow { ahead: Duration::from_secs(5), ..FencingWindow::default() };
    /// let builder = Redlock::builder().fencing_window(window);
    /// ```
    pub const fn fencing_window(mut self, window: FencingWindow) -> Self {
        self.options.fencing_window = window;
        self
    }

    /// Sets how much longer than its ttl a key lives, unless it is released. Work that a crashed or
    /// paused holder still had in flight has this much time before the next holder begins. The
    /// holder itself gains nothing by it, and a lock that is released opens at once. A longer delay
    /// protects work that is slower to arrive, and keeps others out for longer after a crash.
    /// Together with the ttl it must be at most [`max_ttl`](Self::max_ttl). Rounded up to whole
    /// milliseconds. Default: zero. Can be set per call.
    pub const fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.options.lock_delay = lock_delay;
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

    /// Sets whether waiters of different processes stand in a waitlist, and a release calls the first of them: a
    /// hand-over costs the same, however many wait. With `false`, no client listens, and waiters poll all masters:
    /// for masters that deny us channels. Between processes a lock is then handed over more slowly, and never
    /// wrongly. Set it alike in all clients of a resource. Default: `true`.
    pub const fn wake_ups(mut self, wake_ups: bool) -> Self {
        self.options.wake_ups = wake_ups;
        self
    }

    /// Sets whether waiters are served in order of arrival, across processes: as if each acquire of
    /// one resource, or of a permit, said [`fair`](crate::Acquire::fair). It does not apply to several
    /// resources that are locked together, to readers and writers of an [`RwLock`](crate::RwLock), nor
    /// to candidates of an election. Set it in all clients of a resource, with `wake_ups`. Default:
    /// `false`.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().fair(true);
    /// ```
    pub const fn fair(mut self, fair: bool) -> Self {
        self.options.fair = fair;
        self
    }

    /// Sets for how long a lock stays in this process after its release, for the next acquire
    /// here: as if each acquire of one resource said [`keep_warm`](crate::Acquire::keep_warm), which has
    /// the whole story. It does not apply to several resources that are locked together, to permits, to
    /// readers and writers of an [`RwLock`](crate::RwLock), to candidates of an election, nor to acquires with
    /// an option that has their lock released. Default: zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// let builder = quorumlock::Redlock::builder().keep_warm(Duration::from_secs(2));
    /// ```
    pub const fn keep_warm(mut self, span: Duration) -> Self {
        self.options.keep_warm = span;
        self
    }

    /// Sets whether the client only looks at locks: it then writes nothing to a master. It can
    /// [`inspect`](crate::Redlock::inspect), and [`force_release`](crate::Redlock::force_release),
    /// which deletes the key that it is asked to delete. Each acquire is refused as an
    /// [`InvalidSetting`](crate::InvalidSetting). Default: `false`.
    ///
    /// A handle that acquires records its `max_ttl`, its fencing window and its lists of masters at
    /// each master, and excludes clients that are configured with different ones. This one excludes
    /// no client, so it may name any of the masters. A [`preflight`](Self::preflight) then sets no key,
    /// and does not try the rights that locks need. Intended for operators' tools.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().node("redis://10.0.0.1").inspect_only(true);
    /// ```
    pub const fn inspect_only(mut self, inspect_only: bool) -> Self {
        self.options.inspect_only = inspect_only;
        self
    }

    /// Sets whether [`connect`](Self::connect) fails on any master that answers and cannot
    /// be used as configured, and not only where the other masters are no quorum. Intended for the
    /// check of a deployment. A process then does not start while one of five masters has a
    /// problem. Default: `false`, and such a master loses its vote.
    pub const fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
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
}

impl fmt::Debug for RedlockBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedlockBuilder")
            .field("nodes", &self.lists.nodes.len())
            .field("joint_with", &self.lists.joint_with.len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
