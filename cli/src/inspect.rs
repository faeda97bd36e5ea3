//! `quorumlock inspect`: shows the holder of a lock.

use crate::args::{InspectArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::{Result, rows_of_masters};
use crate::output::{Output, millis};
use crate::settings;
use quorumlock::report::Escaped;
use quorumlock::{Holder, Inspection, LockState, NodeState, Redlock};
use serde_json::{Value, json};
use std::slice;

/// Prints a JSON object, or a few lines, for each resource.
pub(crate) async fn inspect(args: InspectArgs, masters: MastersArgs, output: Output) -> Result {
    let redlock = settings::connect_to_inspect(masters, output).await?;
    let mut exit = Exit::SUCCESS;
    for resource in &args.resources {
        let mut held = None;
        let (found, text) = if let Some(permits) = args.permits {
            let found = redlock.semaphore(resource.as_str(), permits.into()).inspect().await?;
            let text = permits_to_text(resource, &found);
            (found, text)
        } else {
            let inspection = redlock.inspect(resource.as_str()).await?;
            held = permits_held(&redlock, &inspection).await;
            let note = held.map(|held| format!("\n  but {}", permits_note(resource, held)));
            let text = to_text(&inspection) + &note.unwrap_or_default();
            (vec![inspection], text)
        };
        if found.iter().any(is_unclear) {
            exit = Exit::NO_QUORUM;
        }
        let values = found.iter().map(|inspection| {
            let mut value = to_json(inspection);
            value["permits_held"] = json!(held);
            value
        });
        output.results(values, &text, exit)?;
    }
    Ok(exit)
}

/// The most permits that a semaphore has.
const PERMITS: usize = 64;

/// Returns how many permits of that name are held where there is no lock of that name: users mean them, too.
pub(crate) async fn permits_held(redlock: &Redlock, inspection: &Inspection) -> Option<usize> {
    let is_free_lock = inspection.slot().is_none() && inspection.state() == &LockState::Free;
    let resource = is_free_lock.then(|| inspection.resource())?;
    let permits = redlock.semaphore(resource, PERMITS).inspect().await.ok()?;
    Some(permits.iter().filter(|permit| permit.holder().is_some()).count()).filter(|held| *held > 0)
}

/// Tells where to look at them.
pub(crate) fn permits_note(resource: &str, held: usize) -> String {
    let (resource, are) = (Escaped(resource), if held == 1 { "permit is" } else { "permits are" });
    format!("{held} {are} held: see list {resource}, or inspect {resource} --permits N")
}

fn is_unclear(inspection: &Inspection) -> bool {
    !matches!(inspection.state(), LockState::Held(_) | LockState::Free)
}

/// Returns what an inspection is about, in words.
pub(crate) fn name(inspection: &Inspection) -> String {
    let resource = Escaped(inspection.resource());
    match inspection.slot() {
        Some(slot) => format!("slot {slot} of {resource:?}"),
        None => format!("{resource:?}"),
    }
}

/// Returns one line, and one for each permit. If no quorum has the same holder, the masters follow.
fn permits_to_text(resource: &str, permits: &[Inspection]) -> String {
    let held = permits.iter().filter(|permit| permit.holder().is_some()).count();
    let row = |permit: &Inspection| {
        let slot = permit.slot().unwrap_or_default();
        let rest = match permit.holder() {
            Some(holder) => {
                let (on, all) = (held_on(permit, holder).len(), permit.nodes().len());
                format!("{holder}, on {on} of {all} masters")
            }
            None if is_unclear(permit) => state(permit) + &nodes_to_text(permit, "           "),
            None => state(permit),
        };
        format!("\n  slot {slot:2}  {rest}")
    };
    let all = permits.len();
    let head = format!("{held} of {all} permits of {:?} are held", Escaped(resource));
    head + &permits.iter().map(row).collect::<String>()
}

/// Returns one line, and one for each master.
pub(crate) fn to_text(inspection: &Inspection) -> String {
    let (named, waiting) = (name(inspection), waiting(inspection.waiting()));
    let has_prefix = inspection.slot().is_none() && inspection.key() != inspection.resource();
    let key = has_prefix.then(|| format!(" (key {:?})", Escaped(inspection.key())));
    let line = format!("{named} is {}{waiting}{}", state(inspection), key.unwrap_or_default());
    line + &nodes_to_text(inspection, "  ")
}

fn state(inspection: &Inspection) -> String {
    match inspection.state() {
        LockState::Held(holder) => holder.to_string(),
        LockState::Free if inspection.is_kept() => "free, reserved for the next waiter".to_owned(),
        LockState::Free => "free".to_owned(),
        _ => "neither held nor free by quorum".to_owned(),
    }
}

/// Says how many wait, behind a comma, if any do.
pub(crate) fn waiting(waiting: Option<usize>) -> String {
    match waiting {
        None | Some(0) => String::new(),
        Some(all) => format!(", {all} waiting"),
    }
}

/// Says how many are ahead in the queue, behind a comma, if that is known.
pub(crate) fn in_queue(ahead: Option<usize>) -> String {
    match ahead {
        None => String::new(),
        Some(0) => ", next in the queue".to_owned(),
        Some(ahead) => format!(", {ahead} ahead in the queue"),
    }
}

fn nodes_to_text(inspection: &Inspection, indent: &str) -> String {
    rows_of_masters(indent, inspection.nodes().iter().map(|node| (&node.node, &node.state)))
}

/// Returns the state in a word.
pub(crate) fn word(state: &LockState) -> &'static str {
    match state {
        LockState::Held(holder) => word_of(holder),
        LockState::Free => "free",
        _ => "unclear",
    }
}

fn word_of(holder: &Holder) -> &'static str {
    match holder {
        holder if holder.has_ended() => "ended",
        holder if holder.is_shared() => "read",
        _ => "held",
    }
}

pub(crate) fn to_json(inspection: &Inspection) -> Value {
    let nodes = inspection.nodes().iter().map(|node| {
        let (state, holder) = match &node.state {
            NodeState::Free => ("free", Value::Null),
            NodeState::Held(holder) => (word_of(holder), holder_to_json(holder)),
            NodeState::Kept(_) => ("kept", Value::Null),
            _ => ("unknown", Value::Null),
        };
        json!({ "node": &*node.node, "state": state, "holder": holder, "said": node.state.to_string() })
    });
    json!({
        "resource": inspection.resource(),
        "slot": inspection.slot(),
        "key": inspection.key(),
        "state": word(inspection.state()),
        "holder": inspection.holder().map(holder_to_json),
        "kept": inspection.is_kept(),
        "waiting": inspection.waiting(),
        "nodes": nodes.collect::<Vec<_>>(),
    })
}

/// Returns the masters that have the key of this holder.
pub(crate) fn held_on<'a>(inspection: &'a Inspection, holder: &Holder) -> Vec<&'a str> {
    let has_it =
        |state: &NodeState| matches!(state, NodeState::Held(held) if held.same_hold_as(holder));
    let nodes = inspection.nodes().iter().filter(|node| has_it(&node.state));
    nodes.map(|node| &*node.node).collect()
}

pub(crate) fn holder_to_json(holder: &Holder) -> Value {
    let remaining = holder.remaining().map(millis);
    with_readers(json!({ "label": holder.label(), "remaining_ms": remaining }), holder)
}

/// Returns the holds of a lock, as far as they are known: that of each reader if it is read.
pub(crate) fn holds(holder: &Holder) -> &[Holder] {
    match holder.is_shared() {
        true => holder.readers(),
        false => slice::from_ref(holder),
    }
}

/// Checks whether it is one of the holds of a lock.
pub(crate) fn is_among(hold: &Holder, holder: &Holder) -> bool {
    holds(holder).iter().any(|known| known.same_hold_as(hold))
}

/// Adds the readers, each of them as a holder, unless a writer holds the lock.
pub(crate) fn with_readers(mut value: Value, holder: &Holder) -> Value {
    if holder.is_shared() {
        value["readers"] = holder.readers().iter().map(holder_to_json).collect();
    }
    value
}
