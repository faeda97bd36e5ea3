//! The options that are plain values: a row for each.

use crate::RedlockBuilder;
use quorumlock_core::coordinator::RestartGuard;
use quorumlock_core::pace::Backoff;
use quorumlock_core::quorum::{ClockDrift, FencingWindow};
use std::sync::Arc;
use std::time::Duration;

/// Each row is an option's documentation, its name, the argument of its setter, and its default.
macro_rules! options {
    ($($(#[$about:meta])+ $option:ident($argument:ident: $type:ty) = $default:expr;)+) => {
        /// The options of a `Redlock`.
        #[derive(Clone, Debug)]
        pub(crate) struct Options {
            $(pub(crate) $option: $type,)+
            pub(crate) key_prefix: String,
            /// Empty for none at all; `None` for that of the process.
            pub(crate) label: Option<Arc<str>>,
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($option: $default,)+ key_prefix: String::new(), label: None }
            }
        }

        impl RedlockBuilder {$(
            $(#[$about])+
            pub const fn $option(mut self, $argument: $type) -> Self {
                self.options.$option = $argument;
                self
            }
        )+}
    };
}

options! {
    /// Sets how long a key lives unless it is released or extended, and so how long a crashed
    /// holder keeps others out. A longer ttl means fewer extensions and a longer wait after a
    /// crash. Default: 10 s. Can be set per call.
    ttl(ttl: Duration) = Duration::from_secs(10);

    /// Sets the longest ttl that any call may request. It also determines how long a master that
    /// has lost its memory must stay away, until nothing that it had granted can still be held. It
    /// must be the same for all clients of these masters with the same [prefix](Self::key_prefix), which
    /// agree on it through them. Default: 30 s. Above 24 h it needs [`allow_long_max_ttl`](Self::allow_long_max_ttl).
    max_ttl(max_ttl: Duration) = Duration::from_secs(30);

    /// Sets whether a [`max_ttl`](Self::max_ttl) above 24 h is accepted. Masters that have just started do not vote for
    /// that long, and clients with another `max_ttl` are refused for that long once a client with this
    /// one has used the masters. Default: `false`: it is an [`InvalidSetting`](crate::InvalidSetting).
    ///
    /// ```
    /// let days = std::time::Duration::from_secs(3 * 86_400);
    /// let builder = quorumlock::Redlock::builder().max_ttl(days).allow_long_max_ttl(true);
    /// ```
    allow_long_max_ttl(allow: bool) = false;

    /// Sets for how long `acquire` keeps trying while another holder has the lock or too few
    /// masters answer. A longer time rides out longer holds and outages, and reports them later.
    /// Default: 10 s. Can be set per call: [`timeout`](crate::Acquire::timeout).
    acquire_timeout(timeout: Duration) = Duration::from_secs(10);

    /// Sets for how long a lock that is kept alive may be held, from the start of the attempt that
    /// won. It must be at least the ttl. A longer time suits longer work, but a task that hangs
    /// keeps others out for as long. Default: 1 h. Can be set per call:
    /// [`keep_alive_for`](crate::Acquire::keep_alive_for). [`Duration::MAX`] has no end.
    max_hold(max_hold: Duration) = Duration::from_secs(3600);

    /// Sets how long one master may take to answer before its vote is unknown; never more than a
    /// tenth of the ttl. A master that is silent for three times as long is reconnected. A longer
    /// timeout tolerates slower masters, and shows an outage later. Default: 200 ms.
    operation_timeout(timeout: Duration) = Duration::from_millis(200);

    /// Sets how long resolving, connecting and a TLS handshake may take together, and the first
    /// answers after that. It is never on the path of an acquire while enough other masters answer.
    /// Default: 500 ms.
    connect_timeout(timeout: Duration) = Duration::from_millis(500);

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
    drift(drift: ClockDrift) = ClockDrift::default();

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
    backoff(backoff: Backoff) = Backoff::default();

    /// Sets whether a master that has just started, and may have lost its memory, waits before it
    /// votes. Default: [`RestartGuard::On`].
    ///
    /// ```
    /// use quorumlock::{Redlock, RestartGuard};
    ///
    /// let builder = Redlock::builder().restart_guard(RestartGuard::TrustPersistence);
    /// ```
    restart_guard(guard: RestartGuard) = RestartGuard::default();

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
    fencing_window(window: FencingWindow) = FencingWindow::default();

    /// Sets how much longer than its ttl a key lives, unless it is released. Work that a crashed or
    /// paused holder still had in flight has this much time before the next holder begins. The
    /// holder itself gains nothing by it, and a lock that is released opens at once. A longer delay
    /// protects work that is slower to arrive, and keeps others out for longer after a crash.
    /// Together with the ttl it must be at most [`max_ttl`](Self::max_ttl). Rounded up to whole
    /// milliseconds. Default: zero. Can be set per call.
    lock_delay(lock_delay: Duration) = Duration::ZERO;

    /// Sets whether waiters of different processes stand in a waitlist, and a release calls the first of them: a
    /// hand-over costs the same, however many wait. With `false`, no client listens, and waiters poll all masters:
    /// for masters that deny us channels. Between processes a lock is then handed over more slowly, and never
    /// wrongly. Set it alike in all clients of a resource. Default: `true`.
    wake_ups(wake_ups: bool) = true;

    /// Sets whether waiters are served in order of arrival, across processes: as if each acquire of
    /// one resource, or of a permit, said [`fair`](crate::Acquire::fair). It does not apply to several
    /// resources that are locked together, to readers and writers of an [`RwLock`](crate::RwLock), nor
    /// to candidates of an election. Set it in all clients of a resource, with `wake_ups`. Default:
    /// `false`.
    ///
    /// ```
    /// let builder = quorumlock::Redlock::builder().fair(true);
    /// ```
    fair(fair: bool) = false;

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
    keep_warm(span: Duration) = Duration::ZERO;

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
    inspect_only(inspect_only: bool) = false;

    /// Sets whether [`connect`](Self::connect) fails on any master that answers and cannot
    /// be used as configured, and not only where the other masters are no quorum. Intended for the
    /// check of a deployment. A process then does not start while one of five masters has a
    /// problem. Default: `false`, and such a master loses its vote.
    strict(strict: bool) = false;
}
