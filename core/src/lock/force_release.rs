//! Taking a lock away from its holder.

use super::{Locks, RoundKind};
use crate::questions::Mark;
use crate::quorum::{Tally, Verdict, Vote};
use crate::report::{Answer, UnknownCause};
use crate::shared::{Cx, Event, RequestId, RoundId};
use crate::wire::{self, Reply};

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
        let tally = Tally::new(cx.masters.settings.membership);
        let command = match readers {
            Some(readers) => wire::delete_reader(key, readers, value.as_bytes()),
            None => wire::take_away(key, value.as_bytes()),
        };
        let kind = RoundKind::ForceRelease { request, tally };
        let id = self.ask_each(cx, kind, &[command], |_, _| true);
        self.judge_force_release(cx, id);
    }

    /// Reports the result once all nodes are done: each that is reached has to have its key deleted.
    pub(crate) fn judge_force_release(&mut self, cx: &mut Cx, id: RoundId) {
        let Some(round) = self.rounds.take_complete(cx, id) else { return };
        if let RoundKind::ForceRelease { request, tally } = &round.kind {
            let reports = round.reports(cx.masters.names());
            let won = tally.verdict() == Verdict::Won;
            let result = if won { Ok(reports) } else { Err(reports) };
            cx.events.push(Event::ForceReleased { request: *request, result });
        }
    }
}

/// Reads a master's reply to a forced release.
pub(crate) fn deleted(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(_) => Answer::Deleted,
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}

/// Returns how an answer to a forced release counts.
pub(crate) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Deleted | Answer::Vacant => Vote::Granted,
        _ => Vote::Unknown,
    }
}
