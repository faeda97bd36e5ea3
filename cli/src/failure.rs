//! The reason why the command failed, in one line and a line for each master.

use crate::exit::Exit;
use quorumlock::error::{InspectError, Invalid};
use quorumlock::report::NodeReport;
use quorumlock::{AcquireError, ConfigError, ConnectError, Holder, Inspection, NodeState};
use serde_json::{Value, json};
use std::fmt;
use std::io;

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// The kind of the exit, whatever its code.
    kind: &'static str,
    message: String,
    /// Each master, and its report.
    nodes: Vec<(String, String)>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, kind: exit.name(), message: message.into(), nodes: Vec::new() }
    }

    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::new(Exit::Usage, problem)
    }

    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        Self::new(Exit::System, format!("{what}: {error}"))
    }

    /// Sets another code, if another client holds the lock.
    #[cfg(unix)]
    pub(crate) fn held_is(mut self, code: Option<u8>) -> Self {
        if self.is_held() {
            self.exit = code.map_or(self.exit, Exit::Code);
        }
        self
    }

    /// Replaces the masters' reports by the values that they have now.
    pub(crate) fn with_masters(mut self, inspection: &Inspection) -> Self {
        let nodes = inspection.nodes().iter();
        self.nodes = nodes.map(|one| (one.node.to_string(), said(&one.state))).collect();
        self
    }

    /// Creates the failure of a lock that is held, with its holder.
    #[cfg(unix)]
    pub(crate) fn held_by(resource: &str, holder: &Holder) -> Self {
        Self::new(Exit::Held, format!("\"{resource}\" is {holder}"))
    }

    #[cfg(unix)]
    pub(crate) fn is_held(&self) -> bool {
        self.kind == Exit::Held.name()
    }

    pub(crate) fn to_json(&self) -> Value {
        let nodes = self.nodes.iter().map(|(node, said)| json!({ "node": node, "said": said }));
        json!({
            "error": self.kind,
            "exit": self.exit.code(),
            "message": self.message,
            "nodes": nodes.collect::<Vec<_>>(),
        })
    }

    /// Creates a failure from the error's line, without its reports on each master: those get lines
    /// of their own.
    fn of_round(exit: Exit, line: &str, nodes: &[NodeReport]) -> Self {
        let listed: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        let line = line.replacen(&format!(": {}", listed.join("; ")), "", 1);
        let behind = |node: &NodeReport| {
            let line = node.to_string();
            let said = line.strip_prefix(&*node.node).unwrap_or(&line).trim_start().to_owned();
            (node.node.to_string(), said)
        };
        let nodes = nodes.iter().map(behind).collect();
        Self { nodes, ..Self::new(exit, in_words_of_the_command(&line)) }
    }
}

/// Replaces the builder's methods in the crate's messages by the keys of the configuration.
pub(crate) fn in_words_of_the_command(line: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        (
            "RedlockBuilder::trust_persistence and without_restart_guard",
            "restart_guard in the configuration",
        ),
        ("leave out without_restart_guard()", "leave out restart_guard = \"off\""),
        ("trust_persistence()", "restart_guard = \"trust-persistence\""),
        ("RedlockBuilder::also", "--also"),
        ("RedlockBuilder::", ""),
    ];
    WORDS.iter().fold(line.to_owned(), |line, (theirs, ours)| line.replace(theirs, ours))
}

pub(crate) fn said(state: &NodeState) -> String {
    match state {
        NodeState::Free => "free".to_owned(),
        NodeState::Held(holder) => holder.to_string(),
        NodeState::Unknown(answer) => answer.to_string(),
        _ => "unknown".to_owned(),
    }
}

impl From<AcquireError> for Failure {
    fn from(error: AcquireError) -> Self {
        let exit = match &error {
            AcquireError::Contended(_) => Exit::Held,
            AcquireError::NoQuorum(_) => Exit::NoQuorum,
            AcquireError::Disagreement(_) => Exit::Configuration,
            AcquireError::Invalid(invalid) => return invalid.clone().into(),
            _ => Exit::System,
        };
        Self::of_round(exit, &error.to_string(), error.nodes())
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Invalid(invalid) => invalid.into(),
            ConnectError::Closed(closed) => Self::new(Exit::System, closed.to_string()),
            ConnectError::Unfit(unfit) => {
                Self::of_masters("masters cannot be used as configured", unfit.nodes)
            }
            ConnectError::Disagreement(other) => {
                Self::of_masters("other clients of the masters have other settings", other.nodes)
            }
            other => Self::new(Exit::Configuration, other.to_string()),
        }
    }
}

impl Failure {
    fn of_masters<T: ToString>(line: &str, nodes: Vec<(T, T)>) -> Self {
        let told =
            |(node, said): (T, T)| (node.to_string(), in_words_of_the_command(&said.to_string()));
        let nodes = nodes.into_iter().map(told).collect();
        Self { nodes, ..Self::new(Exit::Configuration, line) }
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        let of_the_call = matches!(invalid.field, "resource" | "inspection");
        let exit = if of_the_call { Exit::Usage } else { Exit::Configuration };
        Self::new(exit, in_words_of_the_command(&invalid.to_string()))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new(Exit::Configuration, error.to_string())
    }
}

impl From<InspectError> for Failure {
    fn from(error: InspectError) -> Self {
        let line = error.to_string();
        match error {
            InspectError::Invalid(invalid) => invalid.into(),
            InspectError::Unconfirmed(nodes) => Self::of_round(Exit::Failed, &line, &nodes),
            _ => Self::new(Exit::System, line),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let width = self.nodes.iter().map(|(node, _)| node.len()).max().unwrap_or_default();
        self.nodes.iter().try_for_each(|(node, said)| write!(f, "\n  {node:width$}  {said}"))
    }
}
