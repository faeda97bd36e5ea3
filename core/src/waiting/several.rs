//! Several resources: an acquire waits in the list of the resource that refuses it. If another one refuses it once it is
//! called, it goes to the list of that one, with its age, and passes the call on. It goes to and fro while a hold lacks its
//! keys at the masters of both lists: then once a second.

use super::{Contention, Waiters};
use crate::shared::{Cx, Keys, RequestId};
use crate::waiting::tuning::CERTAIN_AFTER;
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

    /// Has an acquire that was refused wait in the list of the key that most masters have named. Returns whether it lets
    /// others go first: each list has found its key free, so often that it is no chance, and no quorum has granted.
    pub(super) fn change_list(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) -> bool {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        let (before, named) = (contention.waits_for, contention.named_most());
        // The list has found its key free, and the answer of its master names another one.
        if let Some(entry) = &mut contention.place.entry
            && entry.trial == Some(Trial::FoundFree)
            && contention.refusing.iter().any(|at| at.0 == entry.node && at.1 != before)
        {
            entry.in_vain = entry.in_vain.saturating_add(1);
        }
        if named == before {
            return false;
        }
        let (left, trial) = (contention.list(keys).clone(), contention.trial());
        contention.waits_for = named;
        if let Some(mut entry) = contention.place.entry.take() {
            entry.leave(cx, &left);
        }
        (contention.place.asked_at, contention.since_notice) = (None, None);
        // A call leads it on, too, where many resources are held in turn.
        let found_free = trial == Some(Trial::FoundFree);
        contention.place.moves += u32::from(found_free);
        let rests = found_free && contention.place.moves > CERTAIN_AFTER;
        self.stop_listening(cx, keys);
        if trial.is_some() {
            cx.masters.call_next(cx.now, left);
        }
        rests
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
