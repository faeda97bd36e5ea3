//! What a master that may have forgotten waits for.

/// What keeps a master that has lost its memory from voting.
#[cfg_attr(not(feature = "config"), allow(unreachable_pub))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RestartGuard {
    /// It waits until all that it may have granted has expired. The default.
    On,
    /// The same, but for masters that write each command to disk before they answer:
    /// [`trust_persistence`](crate::RedlockBuilder::trust_persistence).
    TrustPersistence,
    /// It votes at once, and may give a second holder what it has forgotten:
    /// [`without_restart_guard`](crate::RedlockBuilder::without_restart_guard).
    Off,
}
