//! Another client asks for a lock that this process holds.

use crate::lock::{Attempt, Locks};
use crate::shared::{AttemptId, Cx, Event, IdleEnd};
use crate::waiting::Waiters;
use std::sync::Arc;

impl Locks {
    /// Gives way to another client that has asked for `key`: what is idle there is released. A guard that
    /// has the key is notified, and keeps it.
    pub(crate) fn give_way(&mut self, cx: &mut Cx, waiters: &mut Waiters, key: &Arc<str>) {
        if let Some(id) = waiters.idle(key)
            && self.release_idle(cx, waiters, id, IdleEnd::Asked)
        {
            return;
        }
        let has_it = |attempt: &Attempt| {
            attempt.hold().is_some() && attempt.claim.keys.iter().any(|held| held == key)
        };
        let holds: Vec<AttemptId> = self.attempts.ids(has_it);
        if !holds.is_empty() {
            waiters.asked_for(key);
        }
        holds.into_iter().for_each(|attempt| cx.events.push(Event::Wanted { attempt }));
    }

    /// Listens for other clients that ask for this hold.
    pub(crate) fn hear_asks(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(id) {
            attempt.hear_asks(cx, waiters);
        }
    }

    /// Listens again where other clients now ask for holds of this process: a node has come or gone.
    pub(crate) fn hear_asks_anew(&mut self, cx: &mut Cx, waiters: &mut Waiters) {
        for id in self.attempts.ids(|attempt| attempt.hears_asks) {
            self.hear_asks(cx, waiters, id);
        }
    }
}

impl Attempt {
    /// Listens for other clients that ask for this hold.
    pub(crate) fn hear_asks(&mut self, cx: &mut Cx, waiters: &mut Waiters) {
        self.hears_asks = true;
        if cx.masters.settings.wake_ups {
            waiters.open_mailbox(cx, &self.claim.keys);
        }
    }
}
