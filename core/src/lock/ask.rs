//! Asking by hand: a message for each holder that an inspection has found.

use super::{Locks, Mark, RoundKind};
use crate::master::PendingReply;
use crate::report::Answer;
use crate::shared::{Cx, Event, RequestId, RoundId};
use crate::wire::{Mailbox, Reply};
use std::collections::BTreeSet;

/// The messages that were sent, and how many processes have them.
pub(crate) struct Messages {
    request: RequestId,
    sent: usize,
    heard: u64,
}

impl Locks {
    /// Asks the processes of these holders to give `key` back, at the node where messages on `channel` come
    /// from.
    pub(crate) fn ask_by_hand(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        (key, channel): (&str, &str),
        holders: &[Mark],
    ) {
        let holders = holders.iter().filter_map(Mark::holder);
        let mailboxes: BTreeSet<Mailbox> = holders.map(|owner| owner.mailbox).collect();
        let messages = Messages { request, sent: mailboxes.len(), heard: 0 };
        let timeout = cx.masters.settings.operation_timeout;
        let mut round = self.new_round(cx, RoundKind::Messages(messages), timeout);
        let id: RoundId = self.rounds.reserve();
        let first = cx.masters.first_node(cx.now, channel).filter(|_| !mailboxes.is_empty());
        for node in 0..cx.masters.sessions.len() {
            if Some(node) == first {
                let pending = || PendingReply::Vote(id);
                mailboxes.iter().for_each(|mailbox| cx.masters.ask(node, *mailbox, key, pending()));
            } else {
                round.record(node, Answer::Outstanding, cx.now);
            }
        }
        self.open_round(cx, id, round);
        self.judge_messages(cx, id);
    }

    /// Handles the number of processes that have the next message.
    pub(crate) fn counted(&mut self, cx: &mut Cx, id: RoundId, node: usize, reply: &Reply) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::Messages(messages) = &mut round.kind else { return };
        if let Reply::Int(heard) = reply {
            messages.heard = messages.heard.saturating_add(heard.unsigned_abs());
        }
        messages.sent = messages.sent.saturating_sub(1);
        if messages.sent == 0 {
            round.record(node, Answer::Taken, cx.now);
            self.judge_messages(cx, id);
        }
    }

    /// Reports the result once the node is done.
    pub(crate) fn judge_messages(&mut self, cx: &mut Cx, id: RoundId) {
        let Some(round) = self.take_complete(cx, id) else { return };
        if let RoundKind::Messages(Messages { request, heard, .. }) = round.kind {
            cx.events.push(Event::Asked { request, heard });
        }
    }
}
