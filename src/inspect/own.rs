//! This client's own knowledge of a holder that masters have named.

use super::{Holder, Inspection, LockState, NodeState};
use crate::driver::Own;

/// Whose hold it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Whose {
    #[default]
    Another,
    Ours,
    /// It is kept warm, and no guard has it.
    OursAndIdle,
}

impl Holder {
    /// Checks whether the client that has inspected or listed the lock, a [`Redlock`](crate::Redlock) with its
    /// clones, has acquired it. Of a lock that is read, each of its [readers](Self::readers) says so for itself. A
    /// lock that was [adopted](crate::Redlock::adopt) counts as held by the client that acquired it. Always `false`
    /// once the client has shut down.
    #[must_use]
    pub fn is_this_client(&self) -> bool {
        self.whose != Whose::Another
    }

    /// Checks whether this client [keeps the lock warm](crate::Acquire::keep_warm) and no guard has it: it was
    /// given back, and waits for this client's next acquire.
    ///
    /// Only the holder itself knows that. To the masters an idle lock is held as any other, so `false` says
    /// nothing of a lock that another client holds: [`ask`](crate::Redlock::ask) for it, and what is idle there is
    /// released at once.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
    /// # let [redlock, other] = [masters.builder().connect().await?, masters.builder().connect().await?];
    /// redlock.acquire("partition:7").keep_warm(Duration::from_secs(5)).await?.release().await?;
    /// let inspection = redlock.inspect("partition:7").await?;
    /// assert!(inspection.holder().is_some_and(|holder| holder.is_idle()));
    /// let elsewhere = other.inspect("partition:7").await?;
    /// assert!(elsewhere.holder().is_some_and(|holder| !holder.is_idle() && !holder.is_this_client()));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.whose == Whose::OursAndIdle
    }

    /// Adds what this client knows of the key in this place.
    pub(crate) fn learn(&mut self, own: &Own, place: usize) {
        let idle = own.idle.get(place).copied().flatten().map(|token| token.to_string());
        let is_idle = |value: &str| idle.is_some_and(|token| value.starts_with(&token));
        let ours = self.owner().is_some_and(|owner| Some(owner.mailbox) == own.mailbox);
        self.whose = match self.value.as_text() {
            Some(value) if ours && is_idle(value) => Whose::OursAndIdle,
            _ if ours => Whose::Ours,
            _ => Whose::Another,
        };
        self.readers.iter_mut().for_each(|reader| reader.learn(own, place));
    }
}

impl Inspection {
    /// Adds what this client knows of the key in this place.
    pub(crate) fn learn(&mut self, own: &Own, place: usize) {
        for node in &mut self.nodes {
            if let NodeState::Held(holder) = &mut node.state {
                holder.learn(own, place);
            }
        }
        if let LockState::Held(holder) = &mut self.state {
            holder.learn(own, place);
        }
    }
}
