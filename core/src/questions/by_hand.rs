//! Asking by hand: a message for each holder that an inspection has found.

use super::{Mark, Question};
use crate::lock::Locks;
use crate::quorum::Membership;
use crate::report::{Answer, NodeReport};
use crate::shared::{Cx, Event, RequestId};
use crate::wire::{Mailbox, Reply};
use std::collections::BTreeSet;

/// The messages that are on their way, and how many processes have read one.
struct Messages {
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
        let first = cx.masters.first_node(cx.now, channel).filter(|_| !mailboxes.is_empty());
        let message = |mailbox: &Mailbox| Some(cx.masters.asking(first?, *mailbox, key));
        let messages: Vec<_> = mailboxes.iter().filter_map(message).collect();
        let question = Messages { request, sent: messages.len(), heard: 0 };
        self.ask(cx, question, &messages, |node, _| Some(node) == first);
    }
}

impl Question for Messages {
    fn hear(&mut self, _: usize, reply: &Reply) -> Option<Answer> {
        if let Reply::Int(heard) = reply {
            self.heard = self.heard.saturating_add(heard.unsigned_abs());
        }
        self.sent = self.sent.saturating_sub(1);
        (self.sent == 0).then_some(Answer::Taken)
    }

    fn believes_forgetful(&self) -> bool {
        true
    }

    fn result(self: Box<Self>, _: Membership, _: Vec<NodeReport>) -> Event {
        Event::Asked { request: self.request, heard: self.heard }
    }
}
