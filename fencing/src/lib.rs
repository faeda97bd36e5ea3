#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod check;
mod error;
mod token;

pub use check::FenceCheck;
pub use error::{InvalidToken, StaleToken};
pub use token::FencingToken;
