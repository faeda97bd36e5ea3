//! The reason why the command failed, in one line and a line for each master; for programs, in
//! fields.

use crate::exit::Exit;
use crate::inspect::holder_to_json;
use crate::output::{micros, millis};
use quorumlock::error::NodeProblem;
use quorumlock::report::{Answer, NodeReport, Refusal, Said, UnknownCause};
use quorumlock::report::{OneLine, Span, fold, listed};
use quorumlock::{
    AcquireError, ConfigError, ConnectError, Holder, InspectError, Inspection, InvalidSetting,
    ListError, NodeInspection, NodeState, PreflightError,
};
use serde_json::{Map, Value, json};
use std::fmt::{self, Display};
use std::time::Duration;

/// Returned by a command, and by its parts.
pub(crate) type Result<T = Exit, E = Failure> = std::result::Result<T, E>;

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// What the message says, for programs.
    fields: Map<String, Value>,
    nodes: Vec<Node>,
    /// These are all masters, and not only those with a problem.
    has_all_nodes: bool,
    /// The setting that cannot work, wherever it is from.
    setting: Option<&'static str>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (fields, nodes, has_all_nodes) = (Map::new(), Vec::new(), false);
        Self { exit, message: message.into(), fields, nodes, has_all_nodes, setting: None }
    }

    /// Adds a field to the JSON.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::new(Exit::USAGE, problem)
    }

    /// Blames the command line if the setting is one that an option has given, and otherwise the configuration.
    pub(crate) fn by_options(mut self, given: &[String]) -> Self {
        if self.setting.is_some_and(|setting| given.iter().any(|given| given == setting)) {
            self.exit = Exit::USAGE;
        }
        self
    }

    pub(crate) fn system(what: &str, error: &dyn Display) -> Self {
        Self::new(Exit::SYSTEM, format!("{what}: {error}"))
    }

    /// Replaces the masters' reports by the values that they have now.
    pub(crate) fn with_masters(mut self, inspection: &Inspection) -> Self {
        let mut nodes: Vec<Node> = inspection.nodes().iter().map(of_inspection).collect();
        for (said, json) in &mut nodes {
            let before = self.nodes.iter().find(|(old, _)| old.master == said.master);
            json["latency_us"] = before.map_or(Value::Null, |(_, old)| old["latency_us"].clone());
        }
        (self.nodes, self.has_all_nodes) = (nodes, true);
        self
    }

    /// Adds the client that has the lock; `message` names it.
    pub(crate) fn held_by(self, holder: &Holder, message: String) -> Self {
        Self { message, ..self }
            .with("holder", holder_to_json(holder))
            .with("remaining_ms", holder.remaining().map(millis))
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut all = self.fields.clone();
        all.insert("error".to_owned(), self.exit.name.into());
        all.insert("exit".to_owned(), self.exit.code.into());
        all.insert("message".to_owned(), self.message.as_str().into());
        all.insert("nodes".to_owned(), self.nodes.iter().map(|(_, json)| json.clone()).collect());
        all.into()
    }

    /// Creates a failure from the error's line, without its reports on each master: those get lines
    /// of their own.
    fn of_round(exit: Exit, line: &str, nodes: &[NodeReport]) -> Self {
        let line = line.replacen(&listed(nodes), "", 1);
        let nodes = nodes.iter().map(of_report).collect();
        Self { nodes, has_all_nodes: true, ..Self::new(exit, line) }
    }

    /// Creates a failure of the masters that have a problem.
    fn of_masters(line: &str, answer: &'static str, nodes: Vec<NodeProblem>) -> Self {
        let nodes = nodes.iter().map(|found| of_problem(answer, found)).collect();
        Self { nodes, ..Self::new(Exit::CONFIGURATION, line) }
    }
}

/// Returns a line for each master: its name, and behind all names its answer.
pub(crate) fn rows_of_masters<N: Display, A: Display>(
    indent: &str,
    rows: impl Iterator<Item = (N, A)>,
) -> String {
    let rows: Vec<_> = rows.map(|(name, answer)| (OneLine(name).to_string(), answer)).collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let row =
        |(name, answer): &(String, A)| format!("\n{indent}{name:width$}  {}", OneLine(answer));
    rows.iter().map(row).collect()
}

impl From<AcquireError> for Failure {
    fn from(error: AcquireError) -> Self {
        let line = error.to_string();
        let of = |exit, resource: &str, waited: Duration, attempts: u32| {
            Self::of_round(exit, &line, error.nodes())
                .with("resource", resource)
                .with("waited_ms", millis(waited))
                .with("attempts", attempts)
        };
        match &error {
            AcquireError::Contended(held) => {
                of(Exit::HELD, &held.resource, held.waited, held.attempts)
                    .with("obstacle", held.obstacle.as_str())
                    .with("holder", Value::Null)
                    .with("remaining_ms", Value::Null)
                    .with("ahead", held.ahead)
            }
            AcquireError::NoQuorum(outage) => {
                of(Exit::NO_QUORUM, &outage.resource, outage.waited, outage.attempts)
                    .with("ready_in_ms", outage.ready_in().map(millis))
            }
            AcquireError::Disagreement(dispute) => {
                of(Exit::CONFIGURATION, &dispute.resource, dispute.waited, dispute.attempts)
                    .with("cause", &*dispute.cause)
            }
            AcquireError::InvalidSetting(invalid) => invalid.clone().into(),
            _ => Self::new(Exit::SYSTEM, line),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::InvalidSetting(invalid) => invalid.into(),
            ConnectError::Unfit(nodes) => {
                Self::of_masters("masters cannot be used as configured", "unfit", nodes)
            }
            ConnectError::Disagreement(nodes) => {
                let line = "other clients of the masters have other settings";
                Self::of_masters(line, "disagrees", nodes)
            }
            other => Self::new(Exit::SYSTEM, other.to_string()),
        }
    }
}

impl From<InvalidSetting> for Failure {
    fn from(invalid: InvalidSetting) -> Self {
        let of_the_call = matches!(invalid.field, "resource" | "prefix" | "inspection");
        let exit = if of_the_call { Exit::USAGE } else { Exit::CONFIGURATION };
        let failure = Self::new(exit, invalid.to_string())
            .with("field", invalid.field)
            .with("problem", invalid.problem);
        Self { setting: Some(invalid.field), ..failure }
    }
}

impl From<PreflightError> for Failure {
    fn from(error: PreflightError) -> Self {
        match error {
            PreflightError::InvalidSetting(invalid) => invalid.into(),
            other => Self::new(Exit::SYSTEM, other.to_string()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let file = error.file.as_ref().map(|file| file.display().to_string());
        Self::new(Exit::CONFIGURATION, error.to_string())
            .with("file", file)
            .with("line", error.line)
            .with("field", error.key)
            .with("problem", error.problem)
    }
}

impl From<InspectError> for Failure {
    fn from(error: InspectError) -> Self {
        let line = error.to_string();
        match error {
            InspectError::InvalidSetting(invalid) => invalid.into(),
            InspectError::Unconfirmed(nodes) => Self::of_round(Exit::FAILED, &line, &nodes),
            _ => Self::new(Exit::SYSTEM, line),
        }
    }
}

impl From<ListError> for Failure {
    fn from(error: ListError) -> Self {
        match error {
            ListError::InvalidSetting(invalid) => invalid.into(),
            ListError::Incomplete(nodes) => {
                let line = "the list may lack locks: too few masters can be scanned";
                Self { exit: Exit::NO_QUORUM, ..Self::of_masters(line, "unknown", nodes) }
            }
            other => Self::new(Exit::SYSTEM, other.to_string()),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(&self.message).fmt(f)?;
        let all = self.has_all_nodes.then_some(self.nodes.len());
        let folded = fold(self.nodes.iter().map(|(said, _)| said.clone()), all);
        let rows = folded.iter().map(|rows| (&rows.masters, &rows.words));
        f.write_str(&rows_of_masters("  ", rows))
    }
}

/// A master's answer, in words and for programs.
type Node = (Said, Value);

fn node(name: &str, answer: &'static str, said: Said, holder: Option<&Holder>) -> Node {
    let took = said.latency.map(|took| format!(" after {}", Span(took)));
    let json = json!({
        "node": name,
        "answer": answer,
        "said": format!("{}{}", said.words, took.unwrap_or_default()),
        "latency_us": said.latency.map(micros),
        "remaining_ms": said.span.map(millis),
        "holder": holder.map(holder_to_json),
    });
    (said, json)
}

fn said(node: &str, words: impl ToString, span: Option<Duration>) -> Said {
    let master = OneLine(node).to_string();
    Said { master, words: words.to_string(), latency: None, span }
}

fn of_problem(answer: &'static str, found: &NodeProblem) -> Node {
    node(&found.node, answer, said(&found.node, &found.problem, None), None)
}

fn of_report(report: &NodeReport) -> Node {
    node(&report.node, word(&report.answer), report.into(), None)
}

fn of_inspection(NodeInspection { node: name, state, .. }: &NodeInspection) -> Node {
    let (answer, holder, left) = match state {
        NodeState::Free => ("free", None, None),
        NodeState::Held(holder) => ("held", Some(holder), holder.remaining()),
        NodeState::Kept(left) => ("kept", None, Some(*left)),
        NodeState::Unknown(answer) => (word(answer), None, None),
        _ => ("unknown", None, None),
    };
    node(name, answer, said(name, state, left), holder)
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
        Answer::Refused(Refusal::Held { .. }) => "held",
        Answer::Refused(Refusal::Wanted { .. }) => "wanted",
        Answer::Refused(Refusal::Behind { .. }) => "behind",
        Answer::Refused(Refusal::Stale) => "stale",
        Answer::Refused(Refusal::Clock { .. }) => "clock",
        Answer::Refused(Refusal::Down(_)) | Answer::Unknown(UnknownCause::Down(_)) => "down",
        Answer::Refused(Refusal::Unfit(_)) => "unfit",
        Answer::Refused(Refusal::Disagreement(_) | Refusal::Barred { .. }) => "disagrees",
        Answer::Refused(Refusal::Unconfirmed) => "unconfirmed",
        Answer::Refused(Refusal::WarmingUp { .. }) | Answer::Unknown(UnknownCause::WarmingUp) => {
            "warming_up"
        }
        Answer::Refused(Refusal::QueueFull) => "queue_full",
        Answer::Refused(_) => "refused",
        Answer::Unknown(UnknownCause::TimedOut) => "timed_out",
        Answer::Unknown(UnknownCause::ConnectionLost(_)) => "connection_lost",
        Answer::Unknown(_) => "error",
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
