//! The setup of a `Redlock`.

#[cfg(feature = "config")]
mod config;
mod connect;

#[cfg(feature = "blocking")]
pub(crate) use connect::Connected;

use crate::address::TlsConfig;
use crate::driver::clock::Clock;
use crate::driver::dial::{BoxStream, Transport};
use crate::lists::{Lists, Named};
use crate::options::Options;
use quorumlock_core::coordinator::RestartGuard;
use quorumlock_core::quorum::{Backoff, Drift, Window};
use redis::IntoConnectionInfo;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// Sets up a [`Redlock`](crate::Redlock).
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
#[must_use = "nothing is connected before `connect`"]
pub struct RedlockBuilder {
    lists: Lists,
    tls: Option<TlsConfig>,
    /// Read by `connect`; they take precedence over `tls`.
    #[cfg(feature = "config")]
    pub(crate) tls_files: crate::config::TlsFiles,
    pub(crate) options: Options,
    clock: Clock,
}

impl RedlockBuilder {
    pub(crate) fn new() -> Self {
        Self {
            lists: Lists::default(),
            tls: None,
            #[cfg(feature = "config")]
            tls_files: crate::config::TlsFiles::default(),
            options: Options::default(),
            clock: Clock::boot(),
        }
    }

    /// Sets the client's clock. Not for a client that must count suspend.
    #[cfg(feature = "embedded")]
    pub(crate) const fn on_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Adds the masters: independent of each other, none a replica of another. Five survive the
    /// loss of two, three the loss of one. An even number survives no more than the odd number
    /// below it, and costs one command more.
    ///
    /// Each address is anything that the `redis` crate takes as one: a URL
    /// (`redis://[user][:password@]host[:port][/db]`, `rediss://` with the feature `tls`,
    /// `unix:///path?db=0&user=…&pass=…`), a `(host, port)`, or a [`redis::ConnectionInfo`].
    /// [`connect`](Self::connect) reports a mistake in it.
    pub fn nodes<I>(self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoConnectionInfo>,
    {
        addresses.into_iter().fold(self, Self::node)
    }

    /// Adds one master, as [`nodes`](Self::nodes) does.
    pub fn node(mut self, address: impl IntoConnectionInfo) -> Self {
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
    ///     .node_via("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn node_via<D, F, S>(mut self, address: impl IntoConnectionInfo, dial: D) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.nodes.push(Named::new(address, Some(custom(dial))));
        self
    }

    /// Adds the masters of a second list, for the time in which one list takes over from another:
    /// `.nodes(new).also(old)`. Addresses are accepted as [`nodes`](Self::nodes) accepts them.
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
    ///     .also(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"]);
    /// ```
    pub fn also<I>(mut self, addresses: I) -> Self
    where
        I: IntoIterator<Item: IntoConnectionInfo>,
    {
        self.lists.also.extend(addresses.into_iter().map(|address| Named::new(address, None)));
        self
    }

    /// Adds one master to the second list, as [`also`](Self::also) does. It is reached through a
    /// stream of your own, as with [`node_via`](Self::node_via). If the first list names the same
    /// address, the master is reached in the way that is given there, and `dial` is not called.
    ///
    /// ```
    /// use quorumlock::Redlock;
    /// use tokio::net::TcpStream;
    ///
    /// let builder = Redlock::builder()
    ///     .node_via("redis://master-2", || TcpStream::connect("127.0.0.1:16380"))
    ///     .also_via("redis://master-1", || TcpStream::connect("127.0.0.1:16379"));
    /// ```
    pub fn also_via<D, F, S>(mut self, address: impl IntoConnectionInfo, dial: D) -> Self
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.lists.also.push(Named::new(address, Some(custom(dial))));
        self
    }

    /// Sets how `rediss://` masters are verified, instead of by the platform's root certificates: a
    /// private authority, client certificates.
    #[cfg(feature = "tls")]
    pub fn tls_config(mut self, config: Arc<tokio_rustls::rustls::ClientConfig>) -> Self {
        self.tls = Some(config);
        #[cfg(feature = "config")]
        {
            self.tls_files = crate::config::TlsFiles::default();
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

    /// Sets the longest ttl that any call may ask for. It also determines how long a master that
    /// has lost its memory must stay away, until nothing that it had granted can still be held. It
    /// must be the same for all clients of these masters, which agree on it through them. Default:
    /// 30 s.
    pub const fn max_ttl(mut self, max_ttl: Duration) -> Self {
        self.options.max_ttl = max_ttl;
        self
    }

    /// Sets for how long `acquire` keeps trying while another holder has the lock or too few
    /// masters answer. A longer wait rides out longer holds and outages, and reports them later.
    /// Default: 10 s. Can be set per call.
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.options.wait = wait;
        self
    }

    /// Sets for how long a lock that is kept alive may be held, from the start of the attempt that
    /// won. It must be at least the ttl. A longer time suits longer work, but a task that hangs
    /// keeps others out for as long. Default: 1 h. Can be set per call,
    /// [`hold_forever`](crate::Acquire::hold_forever) included.
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
    pub const fn drift(mut self, rate_ppm: u32, constant: Duration) -> Self {
        self.options.drift = Drift { rate_ppm, constant };
        self
    }

    /// Sets the pause between attempts of an acquire that waits: a random time up to `base`,
    /// doubling with each attempt up to `cap`. A shorter pause hands over sooner and asks more
    /// often. Default: 5 ms and 250 ms.
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.options.backoff = Backoff { base, cap };
        self
    }

    /// Lets a master that has just started vote at once. By default it waits, on our clock, until
    /// every lock that it may have granted before has expired. That is the greater of
    /// [`max_ttl`](Self::max_ttl) and the width of the [fencing window](Self::fencing_window), plus
    /// the drift of that. Without this wait, one master that returns empty while a lock is held
    /// leads to two holders. Intended for tests and demos on masters that they have just started
    /// themselves.
    pub const fn without_restart_guard(mut self) -> Self {
        self.options.restart_guard = RestartGuard::Off;
        self
    }

    /// Lets a master that has just started vote at once if it writes each command to disk before it
    /// answers (`appendonly yes`, `appendfsync always`, `no-appendfsync-on-rewrite no`): it has
    /// forgotten nothing. A master whose configuration says otherwise is refused. A master that may
    /// not show its configuration (`CONFIG GET` is denied) waits as usual. The disk must keep what
    /// it has confirmed.
    pub const fn trust_persistence(mut self) -> Self {
        self.options.restart_guard = RestartGuard::TrustPersistence;
        self
    }

    /// Sets how far the fencing token that a client proposes may be behind and ahead of a master's
    /// clock. A wider window tolerates clocks that are further apart. Its whole width bounds,
    /// together with [`max_ttl`](Self::max_ttl), how long a restarted master does not vote. Cut to
    /// whole milliseconds. It must be the same for all clients of these masters, which agree on it
    /// through them. Default: 2 s and 2 s.
    pub const fn fencing_window(mut self, back: Duration, ahead: Duration) -> Self {
        self.options.fencing_window = Window { back, ahead };
        self
    }

    /// Sets how much longer than its ttl a key lives, unless it is released. Whatever a crashed or
    /// paused holder still had in flight has this much time before the next holder begins. The
    /// holder itself gains nothing by it, and a lock that is released opens at once. A longer delay
    /// protects work that is slower to arrive, and keeps others out for longer after a crash.
    /// Together with the ttl it must be at most [`max_ttl`](Self::max_ttl). Rounded up to whole
    /// milliseconds. Default: none. Can be set per call.
    pub const fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.options.lock_delay = lock_delay;
        self
    }

    /// Sets a name for the acquirer, shown to anyone who inspects a lock: a host, a process, a
    /// worker's name. At most 128 bytes, no control characters. It excludes no client and proves
    /// nothing. Default: none.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().label("worker-7");
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        let label = label.into();
        self.options.label = (!label.is_empty()).then(|| label.into());
        self
    }

    /// Waits by polling alone: a release notifies no waiter, no client listens, and each attempt
    /// asks all masters. Intended for masters that deny us channels. Between processes a lock is
    /// handed over more slowly, and never wrongly.
    pub const fn without_wake_ups(mut self) -> Self {
        self.options.wakes_up = false;
        self
    }

    /// Restricts the client to looking at locks: it writes nothing to a master. It can
    /// [`inspect`](crate::Redlock::inspect), and [`force_release`](crate::Redlock::force_release),
    /// which deletes the key that it is asked to delete. Each acquire is refused as
    /// [`Invalid`](crate::error::Invalid).
    ///
    /// A handle that acquires records its `max_ttl`, its fencing window and its lists of masters at
    /// each master, and excludes clients that are configured with different ones. This one excludes
    /// no client, so it may name any of the masters. Intended for operators' tools.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().node("redis://10.0.0.1").inspect_only();
    /// ```
    pub const fn inspect_only(mut self) -> Self {
        self.options.inspect_only = true;
        self
    }

    /// Makes [`connect`](Self::connect) fail on any master that answers and cannot be used as
    /// configured, and not only where the other masters are no quorum. Intended for the check of a
    /// deployment. A process then does not start while one of five masters has a problem. Default:
    /// such a master loses its vote.
    pub const fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    /// Sets the prefix of each resource's name in Redis. It must be the same for all clients that
    /// are to exclude each other. It must not contain `quorumlock:`, which marks keys of our own.
    /// Default: none, as with other Redlock clients.
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.options.key_prefix = prefix.into();
        self
    }
}

impl fmt::Debug for RedlockBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedlockBuilder")
            .field("nodes", &self.lists.nodes.len())
            .field("also", &self.lists.also.len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Wraps the user's own way to a master as a transport.
fn custom<D, F, S>(dial: D) -> Transport
where
    D: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Transport::Custom(Arc::new(move || {
        let dialing = dial();
        Box::pin(async move { Ok(Box::new(dialing.await?) as BoxStream) })
    }))
}
