//! Several resources: an acquire waits in the list of the resource that refuses it. Where another one refuses it once it is
//! called, it goes to the list of that one, with its age, and passes the call on.

use super::{Contention, Waiters};
use crate::shared::{Cx, Keys, RequestId};
use crate::wire::Reply;
use std::sync::Arc;

impl Waiters {
    /// Learns from a refusal which of several keys is in the way at a master.
    pub(crate) fn learn_refusing(&mut self, request: RequestId, parts: &[Reply]) {
        if let [Reply::Int(0), _, _, _, Reply::Int(place)] = parts
            && let Ok(place) = usize::try_from(*place)
            && let Some(contention) = self.acquisitions.contention_mut(request)
        {
            contention.refusing.push(place);
        }
    }

    /// Has an acquire that was refused wait in the list of the key that most masters have named.
    pub(super) fn go_where_refused(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        // A single key has one list.
        if keys.len() == 1 {
            return;
        }
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let left = contention.list(keys).clone();
        let was_called = contention.is_called();
        if contention.waits_where_refused() {
            if let Some(mut entry) = contention.place.entry.take() {
                entry.leave(cx, &left);
            }
            contention.place.asked_at = None;
            contention.since_notice = None;
            self.stop_listening(cx, keys);
            if was_called {
                cx.masters.call_next(cx.now, left);
            }
        }
    }
}

impl Contention {
    /// Returns the name of the list in which it waits, or would: of a key, or of its semaphore.
    pub(super) fn list<'a>(&self, keys: &'a Keys) -> &'a Arc<str> {
        let channel = keys.channels().nth(self.waits_for).map(|(_, channel)| channel);
        channel.unwrap_or_else(|| keys.first())
    }

    /// Returns those of its keys of which it hears, and whose holders it asks: of several, the resource that refuses it.
    pub(super) fn awaited(&self, keys: &Keys) -> Keys {
        if keys.len() > 1 { Keys::one(self.list(keys).clone()) } else { keys.clone() }
    }

    /// Notes which key was in the way of the latest attempt. Returns whether that is another one than before.
    fn waits_where_refused(&mut self) -> bool {
        let named = |place: &usize| self.refusing.iter().filter(|other| *other == place).count();
        let place = self.refusing.iter().copied().max_by_key(named);
        let before = self.waits_for;
        self.waits_for = place.unwrap_or(before);
        self.waits_for != before
    }
}
