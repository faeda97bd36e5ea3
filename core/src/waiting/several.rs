//! Several resources: an acquire waits in the list of the resource that refuses it. Where another one refuses it once it is
//! called, it goes to the list of that one, with its age, and passes the call on.

use super::{Contention, Waiters};
use crate::shared::{Cx, Keys, RequestId};
use crate::waiting::waitlist::Trial;
use crate::wire::Reply;
use std::sync::Arc;

impl Waiters {
    /// Learns from a refusal which of several keys is in the way at a master.
    pub(crate) fn learn_refusing(&mut self, request: RequestId, node: usize, parts: &[Reply]) {
        if let [Reply::Int(0), _, _, _, Reply::Int(place)] = parts
            && let Ok(place) = usize::try_from(*place)
            && let Some(contention) = self.acquisitions.contention_mut(request)
        {
            contention.refusing.push((node, place));
        }
    }

    /// Has an acquire that was refused wait in the list of the key that most masters have named.
    pub(super) fn go_where_refused(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        // A single key has one list.
        if keys.len() == 1 {
            return;
        }
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let named = contention.named_most();
        let moves = named != contention.waits_for;
        // The list said that the key is free, and another one was in the way: a hold may lack its keys where the lists are.
        if let Some(entry) = &mut contention.place.entry
            && entry.trial == Some(Trial::FoundFree)
            && (moves || contention.refusing.iter().any(|(node, _)| *node == entry.node))
        {
            entry.in_vain = entry.in_vain.saturating_add(1);
        }
        if !moves || contention.lacks_key() {
            return;
        }
        let (left, was_called) = (contention.list(keys).clone(), contention.trial().is_some());
        contention.waits_for = named;
        if let Some(mut entry) = contention.place.entry.take() {
            entry.leave(cx, &left);
            contention.place.in_vain = entry.in_vain;
        }
        (contention.place.asked_at, contention.since_notice) = (None, None);
        self.stop_listening(cx, keys);
        if was_called {
            cx.masters.call_next(cx.now, left);
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

    /// Returns which key was in the way of the latest attempt, by its place.
    fn named_most(&self) -> usize {
        let places = || self.refusing.iter().map(|(_, place)| *place);
        places()
            .max_by_key(|place| places().filter(|other| other == place).count())
            .unwrap_or(self.waits_for)
    }
}
