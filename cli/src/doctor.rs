//! `quorumlock doctor`: checks whether the masters are fit, and suggests what to do.

mod fold;
mod may_stop;

use crate::args::{DoctorArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::list;
use crate::output::{Output, micros, millis};
use crate::settings;
use crate::style::{Paint, Style};
use crate::table::{self, Cell, Fit};
use fold::{Folded, fold};
use may_stop::may_stop;
use quorumlock::preflight::{
    ClockOffset, Finding, FindingKind, NodePreflight, Permission, Persistence, Severity,
};
use quorumlock::report::{OneLine, Span};
use quorumlock::{PossibleDeadlock, Preflight, Redlock};
use serde_json::{Value, json};
use std::time::Duration;

const HEADS: [&str; 7] = ["MASTER", "VOTES", "SERVER", "KEEPS", "UP", "RTT", "CLOCK"];

/// Prints the preflight: a table of the masters, each finding once, and a verdict.
pub(crate) async fn doctor(args: DoctorArgs, masters: MastersArgs, output: Output) -> Result {
    let asks_more = args.may_stop.is_some() || args.deadlocks;
    let inspect_only = args.inspect_only || asks_more;
    let settings = settings::settings(masters)?;
    let is_joint = settings.joint_with.as_ref().is_some_and(|list| !list.is_empty());
    let builder = Redlock::builder().config(settings).inspect_only(inspect_only);
    let preflight = builder.preflight().await?;
    let style = Style::of_stdout(output.color);
    let found = found(&preflight, style);
    let (exit, text, value) = if args.deadlocks {
        deadlocks(&preflight, &builder.connect().await?, style).await
    } else if let Some(node) = &args.may_stop {
        may_stop(&preflight, node, builder, style).await?
    } else {
        let exit = exit(&preflight);
        (exit, verdict(&preflight, style), preflight_to_json(&preflight, exit))
    };
    let mut text = found + &text;
    if !asks_more && only_looks(&preflight) {
        text = style.wrap(0, 0, ONLY_LOOKS) + &text;
    }
    if args.may_stop.is_some() && is_joint && exit == Exit::SUCCESS {
        text = format!("{text}\n{}", style.wrap(4, 4, JOINT));
    }
    output.results([value], &text, exit)
}

const ONLY_LOOKS: &str = "this user may not take locks: if it only looks, use --inspect-only\n\n";

const JOINT: &str = "for a moment, for a restart: one list takes over from another, and a master that leaves is \
                     stopped for good when no joint client runs any more (docs/replacing-a-master.md)";

/// A hand-over that the first look has seen in parts is over by then.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Finds the clients that wait for each other at both looks, with a line for each, and what is known of the rest.
async fn deadlocks(
    preflight: &Preflight,
    redlock: &Redlock,
    style: Style,
) -> (Exit, String, Value) {
    let first = list::find(redlock, "", false).await;
    tokio::time::sleep(BETWEEN_LOOKS).await;
    let second = list::find(redlock, "", false).await;
    let lasts = |deadlock: &&PossibleDeadlock| first.deadlocks.contains(deadlock);
    let found: Vec<_> = second.deadlocks.iter().filter(lasts).collect();
    // The reason why locks may be missing.
    let error = first.error.or(second.error);
    let exit = match (&error, found.is_empty()) {
        (_, false) => Exit::FAILED,
        (Some(_), true) => Exit::NOT_KNOWN,
        (None, true) => Exit::SUCCESS,
    };
    let last = match &error {
        Some(error) => &*format!("deadlocks: not known: {error}"),
        None if found.is_empty() => "no clients are known to wait for each other",
        None => "each goes on once one of its waiters gives up: nothing else ends it",
    };
    let line = |found: &&PossibleDeadlock| style.paint(&found.to_string(), Paint::Bad) + "\n";
    let text = found.iter().map(line).collect::<String>() + last;
    let mut value = preflight_to_json(preflight, exit);
    value["possible_deadlocks"] = found.into_iter().map(list::resources).collect();
    value["deadlocks_known"] = json!(error.is_none());
    (exit, text, value)
}

/// Checks whether no master lets this user set a key.
fn only_looks(preflight: &Preflight) -> bool {
    let is_denied = |finding: &Finding| {
        matches!(finding.kind, FindingKind::Withheld { permission: Permission::Set, .. })
    };
    let mut asked = preflight.into_iter().filter(|node| node.round_trip.is_some()).peekable();
    asked.peek().is_some() && asked.all(|node| node.findings.iter().any(is_denied))
}

/// Returns 1 if an operator has to act, and 112 if all that it takes is time.
fn exit(preflight: &Preflight) -> Exit {
    match (preflight.is_ok(), preflight.can_acquire()) {
        (false, _) => Exit::FAILED,
        (true, false) => Exit::NO_QUORUM,
        (true, true) => Exit::SUCCESS,
    }
}

/// Returns the table of the masters and the findings, with a gap below.
fn found(preflight: &Preflight, style: Style) -> String {
    let rows = preflight.into_iter().map(row);
    let table = table::lines(HEADS, rows, Fit::Wrapped, style).join("\n");
    let masters = preflight.nodes().len();
    let shown = |folded: &Folded| finding(folded, masters, style) + "\n";
    let findings: String = fold(preflight).iter().map(shown).collect();
    let gap = if findings.is_empty() { "" } else { "\n" };
    format!("{table}\n\n{findings}{gap}")
}

fn verdict(preflight: &Preflight, style: Style) -> String {
    let verdict = preflight.verdict();
    let (head, rest) = verdict.split_once(':').unwrap_or((&verdict, ""));
    let paint = match exit(preflight) {
        Exit::SUCCESS => Paint::Good,
        Exit::NO_QUORUM => Paint::Warning,
        _ => Paint::Bad,
    };
    format!("{}:{rest}", style.paint(head, paint))
}

/// Returns a line, and one with the remedy.
fn finding(folded: &Folded, masters: usize, style: Style) -> String {
    let Folded { severity, nodes, finding, remedy } = folded;
    let at = match nodes.len() {
        0 => String::new(),
        count if count == masters && count > 1 => format!("all {count} masters: "),
        _ => format!("{}: ", OneLine(nodes.join(", "))),
    };
    let word = match severity {
        Severity::Failure => style.paint("failure", Paint::Bad),
        Severity::Warning => style.paint("warning", Paint::Warning),
        other => other.to_string(),
    };
    let line = style.wrap(0, 2, &format!("{word}: {at}{finding}"));
    format!("{line}\n{}", style.wrap(4, 4, &OneLine(remedy).to_string()))
}

fn row(node: &NodePreflight) -> [Cell; 7] {
    let votes = match node.votes_in() {
        Some(Duration::ZERO) => Cell::new("yes").painted(Paint::Good),
        Some(left) => Cell::new(format!("in {}", Span(left))).painted(Paint::Warning),
        None => Cell::new("no").painted(Paint::Bad),
    };
    [
        Cell::new(&*node.node),
        votes,
        Cell::or_dash(server(node)),
        Cell::or_dash(node.persistence.as_ref().map(keeps)),
        Cell::or_dash(node.uptime.map(|up| Span(up).to_string())),
        Cell::or_dash(node.round_trip.map(|time| Span(time).to_string())),
        Cell::or_dash(node.clock.map(offset)),
    ]
}

fn server(node: &NodePreflight) -> Option<String> {
    let parts: Vec<&str> =
        [&node.server, &node.version].into_iter().flatten().map(|part| &**part).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns what it keeps over a restart; a finding has the setting.
fn keeps(persistence: &Persistence) -> String {
    match persistence {
        Persistence::EveryWrite => "all",
        Persistence::Nothing => "nothing",
        _ => "most",
    }
    .to_owned()
}

fn offset(clock: ClockOffset) -> String {
    let sign = if clock.as_micros() < 0 { '-' } else { '+' };
    format!("{sign}{}", Span(clock.distance()))
}

fn preflight_to_json(preflight: &Preflight, exit: Exit) -> Value {
    let nodes = preflight.into_iter().map(|node| {
        json!({
            "node": &*node.node,
            "fit": node.is_ok(),
            "votes_in_ms": node.votes_in().map(millis),
            "server": node.server.as_deref(),
            "version": node.version.as_deref(),
            "role": node.role.map(|role| role.to_string()),
            "persistence": node.persistence.as_ref().map(ToString::to_string),
            "uptime_s": node.uptime.map(|up| up.as_secs()),
            "round_trip_us": node.round_trip.map(micros),
            "clock_offset_us": node.clock.map(ClockOffset::as_micros),
            "findings": findings(&node.findings),
        })
    });
    json!({
        "ok": exit == Exit::SUCCESS,
        "can_acquire": preflight.can_acquire(),
        "can_acquire_in_ms": preflight.can_acquire_in().map(millis),
        "verdict": preflight.verdict(),
        "nodes": nodes.collect::<Vec<_>>(),
        "findings": findings(preflight.findings()),
    })
}

fn findings(found: &[Finding]) -> Value {
    let values = found.iter().map(|finding| {
        json!({
            "severity": finding.severity.to_string(),
            "finding": finding.kind.to_string(),
            "remedy": &*finding.remedy,
        })
    });
    values.collect()
}
