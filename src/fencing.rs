#![doc = include_str!("../docs/fencing.md")]

mod check;
mod error;
mod token;

pub use check::FenceCheck;
pub use error::{InvalidToken, StaleToken};
pub use token::FencingToken;
