#![doc = include_str!("../docs/fencing.md")]

mod check;
mod token;

pub use check::FenceCheck;
pub use token::FencingToken;
