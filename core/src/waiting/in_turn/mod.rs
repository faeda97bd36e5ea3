//! Turns: an acquire that waits for its turn, first come, first served among all processes that ask for
//! it so.
//!
//! What a waiter does is the table of `quorum::turns`. It looks at all masters now and then, which
//! note it in their queues, and it tries once it is called, or once a quorum would grant. The scripts
//! are `ask.lua` and `leave.lua`. A queue is no vote, and neither is a key that is kept for a waiter:
//! a holder has the lock by a quorum of tokens, as ever.
//!
//! Of each process, one acquire waits so at a time: the others are behind it in the local queue.

mod begin;
mod leave;
mod look;
mod pace;
mod turn;
mod wait;

pub(crate) use begin::Queues;
pub(crate) use look::{StoredPlace, answer};
pub(crate) use turn::Turn;
