//! `quorumlock doctor`: checks whether the masters are fit, and suggests what to do.

mod may_stop;

use crate::args::{DoctorArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::list;
use crate::output::{Output, micros, millis};
use crate::settings;
use crate::style::{Cell, Fit, Paint, Style, table};
use may_stop::may_stop;
use quorumlock::preflight::{
    ClockOffset, Finding, FindingKind, NodePreflight, Permission, Persistence, Severity,
};
use quorumlock::report::{OneLine, Span};
use quorumlock::{PossibleDeadlock, Preflight, Redlock};
use serde_json::{Value, json};
use std::cmp::Reverse;
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
    let table = table(HEADS, preflight.into_iter().map(row), Fit::Wrapped, style).join("\n");
    let of_nodes = preflight
        .into_iter()
        .flat_map(|node| node.findings.iter().map(|finding| (Some(&*node.node), finding)));
    let between = preflight.findings().iter().map(|finding| (None, finding));
    let masters = preflight.nodes().len();
    let shown = |group: &Vec<Found<'_>>| finding(group, masters, style) + "\n";
    let findings: String = fold(between.chain(of_nodes)).iter().map(shown).collect();
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

/// Returns a line about what is one finding at these masters, and one with the remedy.
fn finding(group: &[Found<'_>], masters: usize, style: Style) -> String {
    // Of several masters that have started, the last one votes last.
    let started = group.iter().min_by_key(|(_, finding)| uptime(finding));
    let Some((_, Finding { kind, severity, remedy, .. })) = started else { return String::new() };
    let uptimes = || group.iter().filter_map(|(_, finding)| uptime(finding));
    let spans = [uptimes().min(), uptimes().max()].map(|up| up.map(|up| Span(up).to_string()));
    let what = match spans {
        [Some(least), Some(most)] if least != most => format!("started {least} to {most} ago"),
        _ => kind.to_string(),
    };
    let nodes: Vec<&str> = group.iter().filter_map(|(node, _)| *node).collect();
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
    let line = style.wrap(0, 2, &format!("{word}: {at}{what}"));
    format!("{line}\n{}", style.wrap(4, 4, &OneLine(remedy).to_string()))
}

fn row(node: &NodePreflight) -> [Cell; 7] {
    let votes = match node.votes_in() {
        Some(Duration::ZERO) => Cell::new("yes").painted(Paint::Good),
        Some(left) => Cell::new(format!("in {}", Span(left))).painted(Paint::Warning),
        None => Cell::new("no").painted(Paint::Bad),
    };
    let server: Vec<&str> =
        [&node.server, &node.version].into_iter().flatten().map(|part| &**part).collect();
    // Over a restart; a finding has the setting.
    let keeps = node.persistence.as_ref().map(|persistence| match persistence {
        Persistence::EveryWrite => "all",
        Persistence::Nothing => "nothing",
        _ => "most",
    });
    let clock = node.clock.map(|clock| {
        let sign = if clock.as_micros() < 0 { '-' } else { '+' };
        format!("{sign}{}", Span(clock.distance()))
    });
    [
        Cell::new(&*node.node),
        votes,
        Cell::or_dash((!server.is_empty()).then(|| server.join(" "))),
        Cell::or_dash(keeps),
        Cell::or_dash(node.uptime.map(Span)),
        Cell::or_dash(node.round_trip.map(Span)),
        Cell::or_dash(clock),
    ]
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

/// A finding, and the master that it was found at; without one, it is about masters in comparison, and names them.
type Found<'a> = (Option<&'a str>, &'a Finding);

/// Returns the findings that are one for a reader together; the failures come first.
fn fold<'a>(findings: impl Iterator<Item = Found<'a>>) -> Vec<Vec<Found<'a>>> {
    let mut groups: Vec<Vec<Found<'_>>> = Vec::new();
    for found in findings {
        match groups.iter_mut().find(|group| is_same(group[0].1, found.1)) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups.sort_by_key(|group| Reverse(group[0].1.severity));
    groups
}

/// Checks whether both are one finding for a reader, though each master has started at a time of its own.
fn is_same(left: &Finding, right: &Finding) -> bool {
    let have_started = uptime(left).is_some() && uptime(right).is_some();
    have_started && left.severity == right.severity || left.to_string() == right.to_string()
}

fn uptime(finding: &Finding) -> Option<Duration> {
    match finding.kind {
        FindingKind::JustStarted { uptime, .. } => Some(uptime),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each finding as it is shown in a pipe, of masters that are four.
    fn folded(found: &[(&'static str, FindingKind)]) -> Vec<String> {
        let findings: Vec<(Option<&str>, Finding)> =
            found.iter().map(|(node, kind)| (Some(*node), kind.clone().into())).collect();
        let groups = fold(findings.iter().map(|(node, finding)| (*node, finding)));
        let style = Style { is_colored: false, columns: None };
        groups.iter().map(|group| finding(group, 4, style)).collect()
    }

    fn started(uptime: u64, votes_in: Option<u64>) -> FindingKind {
        let [uptime, votes_in] = [Some(uptime), votes_in].map(|secs| secs.map(Duration::from_secs));
        FindingKind::JustStarted { uptime: uptime.unwrap_or_default(), votes_in }
    }

    #[test]
    fn what_several_masters_share_is_shown_once_with_their_names() {
        let down = || FindingKind::Unreachable("Connection refused".into());
        let other = FindingKind::Unreachable("timed out".into());
        let findings = folded(&[
            ("a", FindingKind::HasReplicas(1)),
            ("a", down()),
            ("b", other),
            ("c", down()),
        ]);
        let lines: Vec<_> = findings.iter().filter_map(|finding| finding.lines().next()).collect();
        let expected = [
            "failure: a, c: not reachable (Connection refused)",
            "failure: b: not reachable (timed out)",
            "warning: a: a replica is attached",
        ];
        assert_eq!(lines, expected);
        assert!(findings[0].contains("\n    start it, or"), "{findings:?}");
    }

    #[test]
    fn starts_at_different_times_are_one_finding_about_the_last() {
        let findings = folded(&[("a", started(4, Some(27))), ("b", started(2, Some(29)))]);
        let [line] = &findings[..] else { panic!("{findings:?}") };
        assert!(line.starts_with("note: a, b: started 2 s to 4 s ago\n"), "{line}");
        assert!(line.contains("lets it vote in 29 s"), "{line}");
        let findings = folded(&[("a", started(2, Some(29))), ("b", started(2, Some(29)))]);
        assert!(findings[0].starts_with("note: a, b: started 2 s ago\n"), "{findings:?}");
        let findings = folded(&[("a", started(2, Some(29)))]);
        assert!(findings[0].contains("lets it vote in 29 s"), "{findings:?}");
        // What nothing keeps from voting is another matter.
        assert_eq!(folded(&[("a", started(2, Some(29))), ("b", started(2, None))]).len(), 2);
    }
}
