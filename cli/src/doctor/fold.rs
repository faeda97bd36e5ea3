//! Findings of several masters, each printed once.

use quorumlock::Preflight;
use quorumlock::preflight::FindingKind::JustStarted;
use quorumlock::preflight::{Finding, Severity};
use quorumlock::report::Span;
use std::cmp::Reverse;
use std::time::Duration;

/// One finding, and the masters that it was found at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) severity: Severity,
    /// None if it is about masters in comparison: it names them itself.
    pub(super) nodes: Vec<String>,
    pub(super) finding: String,
    pub(super) remedy: String,
}

/// A finding, and the master that it was found at.
type Found<'a> = (Option<&'a str>, &'a Finding);

/// Returns each finding once; the failures come first.
pub(super) fn fold(preflight: &Preflight) -> Vec<Folded> {
    let of_nodes = preflight
        .nodes()
        .iter()
        .flat_map(|node| node.findings.iter().map(|finding| (Some(&*node.node), finding)));
    let between = preflight.findings().iter().map(|finding| (None, finding));
    fold_all(between.chain(of_nodes))
}

fn fold_all<'a>(findings: impl Iterator<Item = Found<'a>>) -> Vec<Folded> {
    let mut groups: Vec<Vec<Found<'_>>> = Vec::new();
    for found in findings {
        match groups.iter_mut().find(|group| is_same(group[0].1, found.1)) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    let mut folded: Vec<Folded> = groups.iter().filter_map(|group| folded(group)).collect();
    folded.sort_by_key(|folded| Reverse(folded.severity));
    folded
}

/// Checks whether both are one finding for a reader, though each master has started at a time of its own.
fn is_same(left: &Finding, right: &Finding) -> bool {
    match (&left.kind, &right.kind) {
        (JustStarted { votes_in: left, .. }, JustStarted { votes_in: right, .. }) => {
            left.is_some() == right.is_some()
        }
        _ => left.to_string() == right.to_string(),
    }
}

fn folded(group: &[Found<'_>]) -> Option<Folded> {
    let (_, last) = group.iter().min_by_key(|(_, finding)| uptime(finding))?;
    let oldest = group.iter().filter_map(|(_, finding)| uptime(finding)).max();
    let mut finding = last.kind.to_string();
    if let (Some(least), Some(most)) = (uptime(last), oldest) {
        let [least, most] = [least, most].map(|up| Span(up).to_string());
        if least != most {
            finding = format!("started {least} to {most} ago");
        }
    }
    let nodes = group.iter().filter_map(|(node, _)| node.map(str::to_owned)).collect();
    Some(Folded { severity: last.severity, nodes, finding, remedy: last.remedy.to_string() })
}

fn uptime(finding: &Finding) -> Option<Duration> {
    match finding.kind {
        JustStarted { uptime, .. } => Some(uptime),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorumlock::preflight::FindingKind;

    fn folded(found: &[(&'static str, FindingKind)]) -> Vec<Folded> {
        let findings: Vec<(Option<&str>, Finding)> =
            found.iter().map(|(node, kind)| (Some(*node), kind.clone().into())).collect();
        fold_all(findings.iter().map(|(node, finding)| (*node, finding)))
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
        let short: Vec<_> =
            findings.iter().map(|line| (line.nodes.join(" "), &*line.finding)).collect();
        assert_eq!(
            short,
            [
                ("a c".to_owned(), "not reachable (Connection refused)"),
                ("b".to_owned(), "not reachable (timed out)"),
                ("a".to_owned(), "a replica is attached"),
            ]
        );
        assert_eq!(findings[0].severity, Severity::Failure);
        assert!(findings[0].remedy.starts_with("start it, or"), "{findings:?}");
    }

    #[test]
    fn starts_at_different_times_are_one_finding_about_the_last() {
        let findings = folded(&[("a", started(4, Some(27))), ("b", started(2, Some(29)))]);
        let [line] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((&*line.finding, line.nodes.len()), ("started 2 s to 4 s ago", 2));
        assert!(line.remedy.contains("lets it vote in 29 s"), "{line:?}");
        let findings = folded(&[("a", started(2, Some(29))), ("b", started(2, Some(29)))]);
        assert_eq!(findings[0].finding, "started 2 s ago");
        let findings = folded(&[("a", started(2, Some(29)))]);
        assert!(findings[0].remedy.contains("lets it vote in 29 s"), "{findings:?}");
        // What nothing keeps from voting is another matter.
        assert_eq!(folded(&[("a", started(2, Some(29))), ("b", started(2, None))]).len(), 2);
    }
}
