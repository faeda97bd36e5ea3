//! Whole clusters in one loop: the machine that ships, several times, against masters that are
//! machines, too, with real scripts. Clocks differ, the network delays and breaks, processes stop,
//! die and come back. There is no runtime and no socket; everything follows from one seed.
//!
//! A world is drawn from its seed: its settings (`setup`), and the actions and faults in it
//! (`plan`). Then its queue is played to the end (`world`), and after each step the `invariants`
//! look at it. Once all faults are over, everything must come to rest, and every lock must be
//! available (`aftermath`).
//!
//! A `crowd` has a loop of its own, in which nothing fails: it counts what a hand-over costs.

#![cfg(test)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acts;
mod aftermath;
mod agenda;
mod beside;
mod bounds;
mod burst;
mod callers;
mod client;
mod clock;
mod commands;
mod crossing;
mod crowd;
mod driver;
mod executes;
mod faults;
mod flaw;
mod hand_over;
mod history;
mod in_time;
mod invariants;
mod jam;
mod judge;
mod kinds;
mod knowledge;
mod line;
mod liveness;
mod marks;
mod master;
mod matched;
mod misfortunes;
mod network;
mod nights;
mod odds;
mod order;
mod own;
mod picture;
mod plan;
mod play;
mod processes;
mod replaced;
mod report;
mod results;
mod schedules;
#[allow(dead_code)] // Other tests use the rest of it.
#[path = "../../../tests/support/seed.rs"]
mod seed;
mod setup;
mod shrink;
#[path = "../../../tests/support/timeline/mod.rs"]
mod timeline;
mod trials;
mod unwanted;
mod wanted;
mod warm;
mod world;
