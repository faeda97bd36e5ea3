#![doc = include_str!("../docs/fencing.md")]

mod check;
mod token;

pub use check::{FenceCheck, StaleToken};
pub use token::{FencingToken, InvalidToken};
