//! One master in a failure: its name, its answer, and the time that it took.

use crate::inspect::holder_to_json;
use crate::output::{micros, millis};
use quorumlock::error::NodeProblem;
use quorumlock::report::{Answer, NodeReport, OneLine, Refusal, Said, Span, UnknownCause};
use quorumlock::{Holder, NodeInspection, NodeState};
use serde_json::{Value, json};
use std::time::Duration;

/// A master's answer.
#[derive(Debug)]
pub(super) struct Node {
    /// In words.
    pub(super) said: Said,
    /// For programs.
    pub(super) json: Value,
}

impl Node {
    fn new(node: &str, answer: &'static str, said: Said, holder: Option<&Holder>) -> Self {
        let took = said.latency.map(|took| format!(" after {}", Span(took)));
        let json = json!({
            "node": node,
            "answer": answer,
            "said": format!("{}{}", said.words, took.unwrap_or_default()),
            "latency_us": said.latency.map(micros),
            "remaining_ms": said.span.map(millis),
            "holder": holder.map(holder_to_json),
        });
        Self { said, json }
    }

    /// Creates the answer of a master with a problem.
    pub(super) fn of_problem(answer: &'static str, found: &NodeProblem) -> Self {
        Self::new(&found.node, answer, said(&found.node, &found.problem, None), None)
    }
}

fn said(node: &str, words: impl ToString, span: Option<Duration>) -> Said {
    let master = OneLine(node).to_string();
    Said { master, words: words.to_string(), latency: None, span }
}

impl From<&NodeReport> for Node {
    fn from(report: &NodeReport) -> Self {
        Self::new(&report.node, word(&report.answer), report.into(), None)
    }
}

impl From<&NodeInspection> for Node {
    fn from(NodeInspection { node, state, .. }: &NodeInspection) -> Self {
        let (answer, holder, left) = match state {
            NodeState::Free => ("free", None, None),
            NodeState::Held(holder) => ("held", Some(holder), holder.remaining()),
            NodeState::Kept(left) => ("kept", None, Some(*left)),
            NodeState::Unknown(answer) => (word(answer), None, None),
            _ => ("unknown", None, None),
        };
        Self::new(node, answer, said(node, state, left), holder)
    }
}

/// Returns the answer in a word. `docs/cli.md` lists them.
const fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Granted => "granted",
        Answer::Held => "ours",
        Answer::Vacant => "vacant",
        Answer::Taken => "taken",
        Answer::Deleted => "deleted",
        Answer::Shortened => "shortened",
        Answer::Outstanding => "outstanding",
        Answer::Available => "available",
        Answer::Refused(refusal) => match refusal {
            Refusal::Held { .. } => "held",
            Refusal::Wanted { .. } => "wanted",
            Refusal::Behind { .. } => "behind",
            Refusal::Stale => "stale",
            Refusal::Clock { .. } => "clock",
            Refusal::Down(_) => "down",
            Refusal::Unfit(_) => "unfit",
            Refusal::Disagreement(_) | Refusal::Barred { .. } => "disagrees",
            Refusal::Unconfirmed => "unconfirmed",
            Refusal::WarmingUp { .. } => "warming_up",
            Refusal::QueueFull => "queue_full",
            _ => "refused",
        },
        Answer::Unknown(cause) => match cause {
            UnknownCause::TimedOut => "timed_out",
            UnknownCause::ConnectionLost(_) => "connection_lost",
            UnknownCause::Down(_) => "down",
            UnknownCause::WarmingUp => "warming_up",
            _ => "error",
        },
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_lists_every_answer() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md"))
                .unwrap();
        let refusals = [
            Refusal::Held { remaining: None },
            Refusal::Wanted { remaining: Duration::ZERO },
            Refusal::Behind { ahead: 1 },
            Refusal::Stale,
            Refusal::Clock { shows_us: 0 },
            Refusal::Down("".into()),
            Refusal::Unfit("".into()),
            Refusal::Disagreement("".into()),
            Refusal::Unconfirmed,
            Refusal::WarmingUp { remaining: Duration::ZERO },
            Refusal::QueueFull,
            Refusal::Server("".into()),
        ];
        let causes = [
            UnknownCause::TimedOut,
            UnknownCause::ConnectionLost("".into()),
            UnknownCause::Server("".into()),
        ];
        let others = [
            Answer::Granted,
            Answer::Held,
            Answer::Vacant,
            Answer::Taken,
            Answer::Deleted,
            Answer::Outstanding,
            Answer::Available,
        ];
        let all = refusals.map(Answer::Refused).into_iter();
        let all = all.chain(causes.map(Answer::Unknown)).chain(others);
        let words: Vec<_> =
            all.map(|answer| word(&answer)).chain(["free", "kept", "unknown"]).collect();
        for word in words {
            assert!(manual.contains(&format!("`{word}`")), "{word}");
        }
    }
}
