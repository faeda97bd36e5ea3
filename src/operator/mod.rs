//! Questions of an operator, which no lock asks: whether the masters are fit, and which locks are held. Both have connections
//! of their own. They use the rest of the crate, and it uses none of them (`tests/docs/owners.rs`).

pub(crate) mod list;
pub mod preflight;
