//! The vote of a master, depending on its age, its persistence and the restart guard.

use super::*;
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
    let untold = || Persistence::Later(None);
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
        (RestartGuard::TrustPersistence, Reply::Nil, vec![started(left), forgets(untold(), away)]),
    ] {
        let heard = heard([
            (Question::InfoServer, text("uptime_in_seconds:11\r\n")),
            (Question::InfoMemory, text("maxmemory:0\r\n")),
            (Question::InfoPersistence, text("aof_enabled:1\r\n")),
            (Question::ConfigAppend, config),
        ]);
        let node = judge("n1".into(), &heard, &bounds(guard));
        assert_eq!(kinds(&node), expected, "{guard:?}: {node}");
        let guarded = guard != RestartGuard::Off;
        let spoken = node.to_string().contains("the restart guard keeps");
        assert_eq!(spoken, guarded && node.to_string().contains("may lose"), "{node}");
    }
}
