//! Taking a lock away from its holder.

use super::Locks;
use crate::questions::{Mark, Question};
use crate::quorum::{Membership, NodeSet};
use crate::report::{Answer, NodeReport, UnknownCause};
use crate::shared::{Cx, Event, RequestId};
use crate::wire::{self, Reply};

/// The deletion of a key, whichever client holds it.
struct ForceRelease {
    request: RequestId,
}

impl Locks {
    /// Deletes `key` wherever its value is `value`, also if the work of that holder has ended well since. With
    /// the key of its `readers`, removes the reader `value` instead, and no other.
    pub(crate) fn force_release(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        key: &str,
        readers: Option<&str>,
        value: &Mark,
    ) {
        let command = match readers {
            Some(readers) => wire::delete_reader(key, readers, value.as_bytes()),
            None => wire::take_away(key, value.as_bytes()),
        };
        self.ask(cx, ForceRelease { request }, &[command], |_, _| true);
    }
}

impl Question for ForceRelease {
    fn hear(&mut self, _: usize, reply: &Reply) -> Option<Answer> {
        Some(deleted(reply))
    }

    fn believes_forgetful(&self) -> bool {
        true
    }

    /// Each node that is reached has to have its key deleted.
    fn result(self: Box<Self>, membership: Membership, reports: Vec<NodeReport>) -> Event {
        let is_gone =
            |report: &NodeReport| matches!(report.answer, Answer::Deleted | Answer::Vacant);
        let won = membership.is_quorum(NodeSet::places(&reports, is_gone));
        let result = if won { Ok(reports) } else { Err(reports) };
        Event::ForceReleased { request: self.request, result }
    }
}

/// Reads a master's reply to a forced release.
fn deleted(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(_) => Answer::Deleted,
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}
