//! Chaos on five containers: processes of their own compete for locks while masters and clients are
//! struck by seed, and a checker judges the history of it.
//!
//! | file | |
//! |---|---|
//! | `run.rs` | one run, from the containers to the verdict |
//! | `plan.rs` | what is to befall whom, and when: by the seed alone |
//! | `trouble.rs`, `people.rs` | does it, to the masters and to the client processes |
//! | `client/` | a client process: acquires, holds, extends, writes, lets go |
//! | `store.rs` | what the locks protect; refuses old fencing tokens |
//! | `watch.rs` | looks at the masters' keys meanwhile |
//! | `history.rs`, `journal.rs`, `clock.rs` | what happened, line by line, by one clock |
//! | `story.rs`, `check/` | the history put in order, and what it must show |
//! | `report.rs`, `picture.rs` | the figures, and what there is to see |

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
