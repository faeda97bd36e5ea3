//! Asking: an acquire that a holder in another process keeps waiting asks that process to give way.
//!
//! 1. The first acquire of a process that was refused looks at the key, at the node where its waiters are
//!    notified. The holder's token there begins with the mailbox of its process.
//! 2. `ask <key>` is published in that mailbox, at the same node.
//! 3. A hold that is idle is released. One that is in use stays, and its guard is notified. Its release calls the next
//!    waiter; if it was under way, that waiter is called now. A lock that no client has asked for is released without a
//!    message, unless it was held for longer than a message may be missing, or kept alive.
//!
//! Nothing waits for an answer. A message that is lost costs a pause of the waiter, which polls. The acquire asks again
//! after a second. One that has waited does not need to be asked when it holds the lock: others may wait, too.

use super::Waiters;
use crate::master::PendingReply;
use crate::questions::{Beside, holders_in};
use crate::quorum::Instant;
use crate::shared::{Cx, Keys, Lately, RequestId, Waitlist};
use crate::waiting::rules::News;
use crate::waiting::tuning::SAID_AGAIN_AFTER;
use crate::wire::{self, Reply};

/// The holders that were asked lately, by their tokens.
#[derive(Default)]
pub(crate) struct Asked(Lately<(), { SAID_AGAIN_AFTER.as_secs() }>);

impl Asked {
    /// Notes that a holder is asked now. Returns `false` if that was done a moment ago, or if so many are asked
    /// that this one has to give way later.
    fn note(&mut self, now: Instant, token: &str) -> bool {
        self.0.get(now, token).is_none() && self.0.note(now, &token.into(), ())
    }
}

impl Waiters {
    /// Asks the holders of these keys to give way to an acquire that was refused.
    pub(crate) fn ask_holders(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        if let Some(contention) = self.acquisitions.contention_mut(request) {
            ask_holders(cx, &mut contention.place.asked_at, keys);
        }
    }

    /// Handles what stands under a key: asks each holder there in the mailbox of its process.
    pub(crate) fn holders_seen(&mut self, cx: &mut Cx, node: usize, key: &str, reply: &Reply) {
        // It was released before it could be asked.
        if matches!(reply, Reply::Nil)
            && let Some((request, _)) = self.listed_in(key)
        {
            self.learns(cx, request, News::Look);
        }
        let own = cx.masters.mailbox();
        let holders = holders_in(reply);
        if let Some((_, token)) = holders.first() {
            self.saw_holder(key, token);
        }
        for (mailbox, token) in holders {
            if own != Some(mailbox) && self.asked.note(cx.now, &token) {
                let message = cx.masters.asking(node, mailbox, key);
                cx.masters.sessions[node].push(PendingReply::Ask, &message);
            }
        }
    }
}

/// Asks the holders of these keys to give way, unless that was done a moment ago.
pub(super) fn ask_holders(cx: &mut Cx, asked_at: &mut Option<Instant>, keys: &Keys) {
    let settings = &cx.masters.settings;
    let is_soon = asked_at.is_some_and(|asked| cx.now < asked.after(SAID_AGAIN_AFTER));
    if is_soon || !(settings.wake_ups && settings.asks) {
        return;
    }
    *asked_at = Some(cx.now);
    // The script counts waiters, too: of any other set, it counts nothing that matters here.
    let sets = keys.readers().map(|set| {
        let [readers, places, due] = [set; 3].map(Clone::clone);
        Beside { readers, waitlist: Waitlist { places, due } }
    });
    for (key, channel) in keys.channels() {
        let Some(node) = cx.masters.first_node(cx.now, channel) else { continue };
        let command = wire::inspect(key, sets.as_ref());
        let session = &mut cx.masters.sessions[node];
        if session.admits(command.len()).is_ok() {
            session.push(PendingReply::Holders(key.clone()), &command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_holder_is_asked_once_a_second_and_others_meanwhile() {
        let mut asked = Asked::default();
        let due = [("a", 0), ("a", 999), ("b", 999), ("a", 1_000), ("b", 1_001), ("a", 2_000)];
        let due = due.map(|(token, millis)| asked.note(at(millis), token));
        assert_eq!(due, [true, false, true, true, false, true]);
    }
}
