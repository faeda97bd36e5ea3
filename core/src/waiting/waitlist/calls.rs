//! The calls: of a waiter that is to try, and of one that watches. What becomes of an entry afterwards.

use super::Place;
use super::entry::{Entry, Trial};
use crate::shared::{Cx, RequestId};
use crate::waiting::Waiters;
use crate::waiting::rules::News;

impl Waiters {
    /// Handles the call of a waiter. If it no longer waits here, the next is called.
    pub(crate) fn called_to_try(&mut self, cx: &mut Cx, waiter: &str, key: &str) {
        let Some(request) = self.waiter_called(waiter, key) else {
            return cx.masters.call_next(cx.now, key.into());
        };
        if let Some(contention) = self.acquisitions.contention_mut(request)
            && let Some(entry) = &mut contention.place.entry
        {
            // A question under way enters it again.
            entry.stands = entry.asked_at.is_some();
            let tries = entry.tries(cx.now, 0);
            if tries {
                entry.trial = Some(Trial::Called);
                contention.notice(cx.now, &cx.masters.settings);
            }
            self.learns(cx, request, if tries { News::Called } else { News::Look });
        }
    }

    /// Lets a waiter ask once the moment is over in which only the called one tries.
    pub(crate) fn watch_call(&mut self, cx: &mut Cx, waiter: &str, key: &str) {
        match self.waiter_called(waiter, key) {
            Some(request) => _ = self.watches(cx, request),
            None => self.pool_watches(cx, key),
        }
    }

    /// Does the same for the first of a list. Returns `false` if none here stands in it.
    pub(crate) fn watch(&mut self, cx: &mut Cx, key: &str) -> bool {
        let listed = self.listed_in(key).map(|(request, _)| request);
        listed.is_some_and(|request| self.watches(cx, request))
    }

    fn watches(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        contention.unheard.hears();
        let Place { entry: Some(entry), .. } = &mut contention.place else { return false };
        entry.watches = true;
        // The answer to a question under way says more, and its timer is for the silence of a master.
        if entry.asked_at.is_none() {
            let at = cx.now.after(entry.quiet());
            self.pause_at_most(cx, request, at);
        }
        true
    }

    fn waiter_called(&self, waiter: &str, key: &str) -> Option<RequestId> {
        let (request, entry) = self.listed_in(key)?;
        entry.is(waiter).then_some(request)
    }

    /// Returns the acquire that waits in the list of a key, if one of this process does.
    pub(in crate::waiting) fn listed_in(&self, key: &str) -> Option<(RequestId, &Entry)> {
        let request = self.local_queue.contender(key)?;
        let acquisition = self.acquisitions.get(request)?;
        let is_of_list = **acquisition.list()? == *key;
        acquisition.entry().filter(|_| is_of_list).map(|entry| (request, entry))
    }

    /// Notes a message on the channel of a key.
    pub(crate) fn note_message(&mut self, key: &str) {
        if let Some(request) = self.local_queue.contender(key)
            && let Some(contention) = self.acquisitions.contention_mut(request)
        {
            contention.unheard.hears();
        }
    }

    /// Lets those ask again that stand in a list where no release looks for it any more.
    pub(crate) fn move_entries(&mut self, cx: &mut Cx) {
        if cx.masters.settings.waitlists.is_none() {
            return;
        }
        let moved = self.acquisitions.iter().filter_map(|(request, acquisition)| {
            let contention = acquisition.contention.as_ref()?;
            let (entry, key) = (contention.place.entry.as_ref()?, acquisition.list()?);
            (Some(entry.node) != cx.masters.first_node(cx.now, key)).then_some(request)
        });
        for request in moved.collect::<Vec<_>>() {
            self.learns(cx, request, News::Moved);
        }
        self.move_places(cx);
    }
}
