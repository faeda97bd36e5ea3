//! The clocks of masters are set forward and back while locks are held: what is kept, and what is
//! lost, as `SAFETY.md` says. The masters are real; libfaketime supplies their time.

mod fenced;
mod restarts;
mod turns;
mod unfenced;
mod world;
