//! The clocks of masters are set forward and back while locks are held: what is kept, and what is
//! lost, as `SAFETY.md` says. The masters are real; libfaketime supplies their time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "stepped_clocks/fenced.rs"]
mod fenced;
#[path = "stepped_clocks/restarts.rs"]
mod restarts;
mod support;
#[path = "stepped_clocks/unfenced.rs"]
mod unfenced;
#[path = "stepped_clocks/world.rs"]
mod world;
