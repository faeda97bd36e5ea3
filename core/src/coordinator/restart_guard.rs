//! The wait of a master that may have forgotten its grants.

/// The rule that keeps a master that has lost its memory from voting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RestartGuard {
    /// The master waits until everything that it may have granted has expired. The default.
    On,
    /// The same, except for masters that write each command to disk before they answer:
    /// `RedlockBuilder::trust_persistence`.
    TrustPersistence,
    /// The master votes at once, and may grant to a second holder what it has forgotten:
    /// `RedlockBuilder::without_restart_guard`.
    Off,
}
