//! The vote of a master, depending on its age, its persistence and the restart guard.

use super::*;
use quorumlock_core::quorum::NodeSet;
use std::time::Duration;

#[test]
fn what_a_restart_costs_depends_on_the_restart_guard() {
    let config = |appendfsync, pauses| {
        let rewrite = ("no-appendfsync-on-rewrite", pauses);
        map(&[("appendonly", "yes"), ("appendfsync", appendfsync), rewrite])
    };
    let uptime = Duration::from_secs(11);
    let started = |votes_in| FindingKind::JustStarted { uptime, votes_in };
    let forgets = |persistence, stays_away| FindingKind::Forgets { persistence, stays_away };
    let (left, away) = (Some(Duration::from_secs(20)), Some(STAYS_AWAY));
    let later = || Persistence::Later(Some("everysec".into()));
    let unknown = || Persistence::Later(None);
    for (guard, config, expected) in [
        (RestartGuard::On, config("always", "no"), vec![started(left)]),
        (RestartGuard::Off, config("always", "no"), vec![]),
        (RestartGuard::TrustPersistence, config("always", "no"), vec![]),
        (RestartGuard::On, config("everysec", "no"), vec![started(left), forgets(later(), away)]),
        (RestartGuard::Off, config("everysec", "no"), vec![started(None), forgets(later(), None)]),
        (
            RestartGuard::TrustPersistence,
            config("everysec", "no"),
            vec![FindingKind::NotPersistent(later())],
        ),
        (
            RestartGuard::TrustPersistence,
            config("always", "yes"),
            vec![FindingKind::NotPersistent(Persistence::NotInRewrites)],
        ),
        // It does not report its persistence, and waits.
        (RestartGuard::TrustPersistence, Reply::Nil, vec![started(left), forgets(unknown(), away)]),
    ] {
        let heard = heard([
            (Question::InfoServer, text("uptime_in_seconds:11\r\n")),
            (Question::InfoMemory, text("maxmemory:0\r\n")),
            (Question::InfoPersistence, text("aof_enabled:1\r\n")),
            (Question::ConfigAppend, config),
        ]);
        let node = judged_with(&heard, guard);
        assert_eq!(kinds(&node), expected, "{guard:?}: {node}");
        let guarded = guard != RestartGuard::Off;
        let spoken = node.to_string().contains("the restart guard keeps");
        assert_eq!(spoken, guarded && node.to_string().contains("may lose"), "{node}");
    }
}

/// Returns a master with these findings.
fn with(kinds: impl IntoIterator<Item = FindingKind>) -> NodePreflight {
    let findings = kinds.into_iter().map(Finding::from).collect();
    NodePreflight { findings, ..unasked("n") }
}

#[test]
fn the_verdict_says_when_a_quorum_may_vote() {
    let started = |secs| FindingKind::JustStarted {
        uptime: Duration::ZERO,
        votes_in: Some(Duration::from_secs(secs)),
    };
    let (votes, warms) = (|| with([]), |secs| with([started(secs)]));
    let (broken, both) =
        (|| with([FindingKind::Cluster]), with([FindingKind::Cluster, started(9)]));
    let unguarded = FindingKind::JustStarted { uptime: Duration::ZERO, votes_in: None };
    assert_eq!(with([unguarded]).votes_in(), Some(Duration::ZERO));
    assert_eq!((both.votes_in(), warms(7).votes_in()), (None, Some(Duration::from_secs(7))));
    for (nodes, can_acquire_in, verdict) in [
        (vec![votes(), votes(), warms(9)], Some(0), "ok: 3 of 3 masters are fit"),
        (
            vec![votes(), warms(20), warms(9)],
            Some(9),
            "not yet: 3 of 3 masters are fit, and a quorum may vote in 9 s",
        ),
        (vec![votes(), votes(), broken()], Some(0), "not ok: 2 of 3 masters are fit"),
        (
            vec![votes(), broken(), warms(9)],
            Some(9),
            "not ok: 2 of 3 masters are fit, and a quorum may vote in 9 s",
        ),
        (
            vec![votes(), broken(), broken()],
            None,
            "not ok: 1 of 3 masters are fit, which is no quorum",
        ),
    ] {
        let report = of(nodes, Vec::new());
        assert_eq!(report.can_acquire_in(), can_acquire_in.map(Duration::from_secs), "{report}");
        assert_eq!(report.can_acquire(), can_acquire_in == Some(0), "{report}");
        assert_eq!(report.verdict(), verdict);
        assert!(report.to_string().starts_with(&format!("{verdict}\n")), "{report}");
    }
}

#[test]
fn each_of_two_lists_needs_its_own_quorum_to_vote() {
    let node = |votes: bool| with((!votes).then_some(FindingKind::Cluster));
    let list = |places: &[usize]| NodeSet::from_iter(places.iter().copied());
    let membership = Membership::joint(list(&[0, 1, 2]), list(&[2, 3, 4])).unwrap();
    for (votes, can_acquire) in [
        ([true, true, false, true, true], true),
        ([true, true, true, false, false], false),
        ([true, true, true, false, true], true),
    ] {
        let nodes = votes.map(node).into();
        let report = Preflight { nodes, findings: Vec::new(), membership };
        assert_eq!(report.can_acquire(), can_acquire, "{votes:?}");
    }
}
