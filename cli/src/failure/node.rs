//! One master in a failure: its name, its answer, and the time that it took.

use crate::inspect::holder_to_json;
use crate::output::{micros, millis};
use quorumlock::report::{Answer, NodeReport, OneLine, Refusal, Said, Span, UnknownCause};
use quorumlock::{Holder, NodeInspection, NodeState};
use serde_json::{Value, json};
use std::time::Duration;

/// A master, and its answer.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    /// The answer in a word.
    pub(super) answer: &'static str,
    /// The answer in a sentence.
    pub(super) sentence: String,
    /// How long the answer took, if the master was asked.
    pub(super) latency: Option<Duration>,
    /// What is left of the other holder's key, or until the master may vote.
    pub(super) remaining: Option<Duration>,
    pub(super) holder: Option<Holder>,
}

impl Node {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "node": self.name,
            "answer": self.answer,
            "said": self.sentence,
            "latency_us": self.latency.map(micros),
            "remaining_ms": self.remaining.map(millis),
            "holder": self.holder.as_ref().map(holder_to_json),
        })
    }
}

impl From<&NodeReport> for Node {
    fn from(report: &NodeReport) -> Self {
        let line = report.to_string();
        let name = OneLine(&report.node).to_string();
        let sentence = line.strip_prefix(&name).unwrap_or(&line).trim_start();
        Self {
            name: report.node.to_string(),
            answer: word(&report.answer),
            sentence: sentence.to_owned(),
            // The line has a time if the master was asked and has answered or been given up.
            latency: sentence.contains(" after ").then_some(report.latency),
            remaining: remaining(&report.answer),
            holder: None,
        }
    }
}

impl From<&Node> for Said {
    fn from(node: &Node) -> Self {
        let took = node.latency.map(|latency| (latency, format!(" after {}", Span(latency))));
        let asked = took.and_then(|(took, text)| Some((took, node.sentence.strip_suffix(&text)?)));
        Self {
            master: OneLine(&node.name).to_string(),
            words: asked.map_or(&*node.sentence, |(_, words)| words).to_owned(),
            span: node.remaining,
            latency: asked.map(|(took, _)| took),
        }
    }
}

impl From<&NodeInspection> for Node {
    fn from(inspection: &NodeInspection) -> Self {
        let (answer, holder) = match &inspection.state {
            NodeState::Free => ("free", None),
            NodeState::Held(holder) => ("held", Some(holder.clone())),
            NodeState::Kept(_) => ("kept", None),
            NodeState::Unknown(answer) => (word(answer), None),
            _ => ("unknown", None),
        };
        Self {
            name: inspection.node.to_string(),
            answer,
            sentence: inspection.state.to_string(),
            latency: None,
            remaining: match &inspection.state {
                NodeState::Kept(left) => Some(*left),
                _ => holder.as_ref().and_then(Holder::remaining),
            },
            holder,
        }
    }
}

const fn remaining(answer: &Answer) -> Option<Duration> {
    match answer {
        Answer::Refused(Refusal::Held { remaining }) => *remaining,
        Answer::Refused(Refusal::WarmingUp { remaining } | Refusal::Wanted { remaining }) => {
            Some(*remaining)
        }
        _ => None,
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
