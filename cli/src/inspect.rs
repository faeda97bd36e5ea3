//! `quorumlock inspect`: shows the holder of a lock.

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::{Failure, said};
use crate::output::Output;
use crate::settings;
use quorumlock::{Holder, Inspection, LockState, NodeState, Redlock};
use serde_json::{Value, json};
use std::fmt::Write;

/// Prints a JSON object, or a few lines, for each resource.
pub(crate) async fn inspect(
    resources: &[String],
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let redlock = settings::connect_to_inspect(masters, output).await?;
    let told = tell(&redlock, resources, output).await;
    let _nothing_is_owed = redlock.shutdown().await;
    told
}

async fn tell(redlock: &Redlock, resources: &[String], output: Output) -> Result<Exit, Failure> {
    let mut exit = Exit::Success;
    for resource in resources {
        let inspection = redlock.inspect(resource.as_str()).await?;
        if !matches!(inspection.state(), LockState::Held(_) | LockState::Free) {
            exit = Exit::NoQuorum;
        }
        output.result(&to_json(&inspection), &to_text(&inspection), exit)?;
    }
    Ok(exit)
}

/// Returns one line, and one for each master.
pub(crate) fn to_text(inspection: &Inspection) -> String {
    let state = match inspection.state() {
        LockState::Held(holder) => holder.to_string(),
        LockState::Free => "free".to_owned(),
        _ => "neither held nor free by quorum".to_owned(),
    };
    let mut text = format!("\"{}\" is {state}", inspection.resource());
    if inspection.key() != inspection.resource() {
        // Writing to a string does not fail.
        let _ = write!(text, " (key \"{}\")", inspection.key());
    }
    let width = inspection.nodes().iter().map(|one| one.node.len()).max().unwrap_or_default();
    for node in inspection.nodes() {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {:width$}  {}", node.node, said(&node.state));
    }
    text
}

pub(crate) fn to_json(inspection: &Inspection) -> Value {
    let state = match inspection.state() {
        LockState::Held(_) => "held",
        LockState::Free => "free",
        _ => "unclear",
    };
    let nodes = inspection.nodes().iter().map(|one| {
        let (state, holder) = match &one.state {
            NodeState::Free => ("free", Value::Null),
            NodeState::Held(holder) => ("held", holder_to_json(holder)),
            _ => ("unknown", Value::Null),
        };
        json!({ "node": &*one.node, "state": state, "holder": holder, "said": said(&one.state) })
    });
    json!({
        "resource": inspection.resource(),
        "key": inspection.key(),
        "state": state,
        "holder": inspection.holder().map(holder_to_json),
        "nodes": nodes.collect::<Vec<_>>(),
    })
}

pub(crate) fn holder_to_json(holder: &Holder) -> Value {
    json!({
        "label": holder.label(),
        "remaining_ms": holder.remaining().map(crate::output::millis),
    })
}
