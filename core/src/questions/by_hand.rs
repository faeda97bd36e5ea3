//! Asking by hand: a message for each holder that an inspection has found.

use super::{Mark, Question, Replied, To};
use crate::lock::Locks;
use crate::shared::{Cx, Event, RequestId};
use crate::wire::{Mailbox, Reply};
use std::collections::BTreeSet;

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
        let first = cx.masters.first_node(cx.now, channel);
        let message = |mailbox: &Mailbox| Some(cx.masters.asking(first?, *mailbox, key));
        let messages = mailboxes.iter().filter_map(message).collect();
        let question = Question::new(To::First(channel.into()), messages, move |_, replied| {
            let heard = replied.iter().flat_map(|(_, replies): &Replied| replies).map(heard);
            Event::Asked { request, heard: heard.fold(0, u64::saturating_add) }
        });
        self.ask(cx, Question { believes_forgetful: true, ..question });
    }
}

/// Returns how many processes have read a message.
const fn heard(reply: &Reply) -> u64 {
    let Reply::Int(heard) = reply else { return 0 };
    heard.unsigned_abs()
}
