//! Questions of an operator, which no lock asks: whether the masters are fit, and which locks are held. Both have connections
//! of their own. They use the rest of the crate, and it uses none of them (`tests/docs/owners.rs`).

pub(crate) mod list;
pub mod preflight;

use tokio::task::AbortHandle;

/// Ends a task once no caller waits for it any more.
pub(crate) struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
