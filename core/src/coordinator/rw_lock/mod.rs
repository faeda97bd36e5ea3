//! Read-write locks: many readers, or one writer.
//!
//! On each master, the key of a resource has the value of a writer, or a mark while there are
//! readers. SET NX is refused by either, so plain clients are writers that need not know of
//! readers. Every reader needs a quorum, as a writer does, and so they share a master.
//!
//! A writer that was refused sets a hint on every master, and so does one that waits in this process
//! behind an acquire that was refused. No new reader is let in where the hint stands, so readers that
//! overlap do not keep a writer out.

mod downgrade;
mod hint;
mod readers;

pub(super) use downgrade::Downgrade;
pub(super) use hint::Hints;
pub(super) use readers::Readers;
