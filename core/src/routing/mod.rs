//! Which master is asked first, and where waiters are notified and called: all clients agree on it as far as they can. Votes do
//! not rest on it.

pub(crate) mod first_node;
pub(crate) mod laggards;
mod messages;
