//! The house rules, the documents and the pictures: no master is started, and each reads files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod house;
mod links;
mod pictures;
mod postgresql_docs;
mod readme;
