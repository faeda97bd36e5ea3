//! The clocks of masters are set forward and back while locks are held: what is kept, and what is
//! lost, as `SAFETY.md` says. The masters are real; libfaketime supplies their time. What
//! takes long to show is in `tests/embedded/client/stepped_clocks.rs`, on clocks that pause.

mod fenced;
mod speed;
#[cfg(feature = "embedded")]
mod turns;
mod unfenced;
mod world;
