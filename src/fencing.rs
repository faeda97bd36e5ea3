#![doc = include_str!("../docs/fencing.md")]

pub use quorumlock_fencing::{FenceCheck, FencingToken, InvalidToken, StaleToken};
