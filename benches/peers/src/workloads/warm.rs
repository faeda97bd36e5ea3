//! W10: locks that one process wants again and again, and keeps warm in between. Its tasks are those of W2.

/// The last one is what the masters have counted.
pub(crate) const METRICS: [&str; 4] =
    ["cycles/s", "CPU us/cycle", "masters' CPU us/cycle", "commands/cycle"];
