//! Another client asks for a lock that this process holds.

use crate::lock::{Around, Attempt, Locks};
use crate::shared::{Event, IdleEnd};
use std::sync::Arc;

impl Locks {
    /// Gives way to another client that has asked for `key`: what is idle there is released. A guard that
    /// has the key is notified, and keeps it.
    pub(crate) fn give_way(&mut self, at: &mut Around, key: &Arc<str>) {
        if let Some(id) = at.waiters.idle(key)
            && self.release_idle(at, id, IdleEnd::Asked)
        {
            return;
        }
        let has_it = |attempt: &Attempt| {
            attempt.hold().is_some() && attempt.claim.keys.iter().any(|held| held == key)
        };
        let holds = self.attempts.ids(has_it).into_iter();
        holds.for_each(|attempt| at.cx.events.push(Event::Wanted { attempt }));
    }
}
