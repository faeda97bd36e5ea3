//! Chaos on five containers: separate processes compete for locks while masters and clients suffer
//! faults chosen by seed, and a checker judges the history.
//!
//! | file | |
//! |---|---|
//! | `run.rs` | one run, from the containers to the verdict |
//! | `plan.rs` | the faults and their times, by the seed alone |
//! | `trouble.rs`, `people.rs` | inflict them on the masters and on the client processes |
//! | `client/` | a client process: acquires, holds, extends, writes, releases |
//! | `store.rs` | what the locks protect; refuses old fencing tokens |
//! | `watch.rs` | looks at the masters' keys in the meantime |
//! | `history.rs`, `journal.rs`, `clock.rs` | what happened, line by line, by one clock |
//! | `story.rs`, `check/` | the history put in order, and what it must show |
//! | `report.rs`, `picture.rs` | the figures, and the picture |

pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod clock;
pub(crate) mod history;
pub(crate) mod journal;
pub(crate) mod people;
pub(crate) mod picture;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod store;
pub(crate) mod story;
pub(crate) mod trouble;
pub(crate) mod watch;
