//! Fair acquires add three rules. A fair acquire asks before its first attempt, and tries only as the first, or where no
//! master has a list for it. The tasks of a process do not pass the lock on: each takes its place as its turn comes there.
//! Where others are before it, its wait ends without an attempt.

use crate::obstacle::Obstacle;
use crate::report::{Answer, NodeReport, Refusal};
use crate::shared::{Cx, Failure, Keys};
use crate::waiting::{Contention, Phase};
use crate::wire::waitlist::Found;

impl Contention {
    /// Notes what keeps an acquire waiting that has made no attempt: its caller may get no other answer.
    pub(super) fn note_place(&mut self, cx: &Cx, keys: &Keys, found: Found) {
        let (Some(entry), Phase::Waiting { failure, .. }) = (&self.place.entry, &mut self.phase)
        else {
            return;
        };
        let ahead = entry.ahead;
        let (obstacle, refusal) = match found {
            Found::Held(remaining) => (Obstacle::Holder(None), Refusal::Held { remaining }),
            _ => (Obstacle::Queue, Refusal::Behind { ahead: ahead.unwrap_or_default() }),
        };
        let (node, trip) = (entry.node, entry.trip);
        if self.attempts == 0 {
            let answer = |place| {
                if place == node { Answer::Refused(refusal.clone()) } else { Answer::Outstanding }
            };
            let names = cx.masters.names().cloned().enumerate();
            let report = |(place, node)| NodeReport { node, answer: answer(place), latency: trip };
            *failure =
                Failure { reports: names.map(report).collect(), ..Failure::contended(obstacle, 0) }
                    .unless_named(false, keys);
        }
        failure.ahead = ahead;
    }
}
