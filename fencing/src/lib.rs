#![cfg_attr(docsrs, feature(doc_cfg))]
// Its examples need all stores.
#![cfg_attr(any(not(doctest), feature = "__tests"), doc = include_str!("../README.md"))]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[macro_use]
mod error;

mod check;
pub mod envelope;
#[cfg(all(feature = "file", unix))]
pub mod file;
#[cfg(feature = "object-store")]
pub mod object_store;
#[cfg(feature = "probe")]
pub mod probe;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "sqlx", feature = "tokio-postgres"))]
pub mod sql;
#[cfg(feature = "sqlx")]
pub mod sqlx;
mod token;
#[cfg(feature = "tokio-postgres")]
pub mod tokio_postgres;
#[cfg(feature = "tower")]
pub mod tower;

pub use check::FenceCheck;
pub use error::{FenceError, InvalidToken, StaleToken};
pub use token::FencingToken;
