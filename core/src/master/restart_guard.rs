//! The wait of a master that may have forgotten its grants.

/// The rule that keeps a master that has just started, and may have lost its memory, from voting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum RestartGuard {
    /// The master waits, on the client's clock, until every lock that it may have granted before
    /// has expired. That is the greater of `max_ttl` and the width of the fencing window, plus the
    /// drift of that.
    #[default]
    On,
    /// A master votes at once if it writes each command to disk before it answers: it has forgotten
    /// nothing. That takes `appendonly yes`, `appendfsync always` and `no-appendfsync-on-rewrite
    /// no`. A master whose configuration says otherwise is refused. A master that may not show its
    /// configuration (`CONFIG GET` is denied) waits as usual. The disk must keep what it has
    /// confirmed.
    TrustPersistence,
    /// Each master votes at once. One master that returns empty while a lock is held then leads to
    /// two holders. Intended for tests and demos on masters that they have just started themselves.
    Off,
}
