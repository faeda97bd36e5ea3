//! Taking a lock away from its holder.

use crate::questions::{Mark, Question, Replied, To};
use crate::quorum::NodeSet;
use crate::report::{Answer, NodeReport, UnknownCause};
use crate::shared::{Event, RequestId};
use crate::wire::{self, Reply};

impl Question {
    /// Deletes `key` wherever its value is `value`, also if the work of that holder has ended well since. With
    /// the key of its `readers`, removes the reader `value` instead, and no other. Each node that is reached has
    /// to have its key deleted.
    pub fn force_release(
        request: RequestId,
        key: &str,
        readers: Option<&str>,
        value: impl Into<Mark>,
    ) -> Self {
        let value = value.into();
        let command = match readers {
            Some(readers) => wire::delete_reader(key, readers, &value.0),
            None => wire::take_away(key, &value.0),
        };
        let mut question = Self::new(To::All, vec![command], move |membership, replied| {
            let reports: Vec<NodeReport> = replied.into_iter().map(deleted).collect();
            let is_gone =
                |report: &NodeReport| matches!(report.answer, Answer::Deleted | Answer::Vacant);
            let won = membership.is_quorum(NodeSet::places(&reports, is_gone));
            Event::ForceReleased { request, result: if won { Ok(reports) } else { Err(reports) } }
        });
        question.believes_forgetful = true;
        question
    }
}

/// Reads a master's reply to a forced release.
fn deleted((report, replies): Replied) -> NodeReport {
    let answer = match replies.first() {
        None => return report,
        Some(Reply::Int(0)) => Answer::Vacant,
        Some(Reply::Int(_)) => Answer::Deleted,
        Some(other) => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    };
    NodeReport { answer, ..report }
}
