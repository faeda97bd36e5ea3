//! Masters that drop transactions when they read their append-only file.

use super::*;

const DENIED: &str = "User default has no permissions to run the 'set' command";

/// Returns the findings for a server with this HELLO and answer to the question.
fn found_at(guard: RestartGuard, name: &str, version: &str, answer: Reply) -> Vec<FindingKind> {
    let config =
        [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];
    let mut heard = heard([
        (Question::InfoMemory, text("maxmemory:0\r\n")),
        (Question::ConfigAppend, map(&config)),
        (Question::Replay, answer),
    ]);
    heard.hello = Some(map(&[("server", name), ("version", version), ("role", "master")]));
    kinds(&judged_with(&heard, guard))
}

#[test]
fn only_servers_that_replay_as_default_drop_transactions() {
    for (name, version, drops) in [
        ("redis", "7.0.15", true),
        ("redis", "8.4.6", true),
        ("redis", "8.6.0", false),
        ("redis", "8.10.1", false),
        ("valkey", "8.1.1", true),
        ("valkey", "9.1.1", true),
        ("valkey", "9.1.2", false),
        ("valkey", "10.0", false),
        ("redis", "unstable", true),
    ] {
        let kinds = found_at(RestartGuard::TrustPersistence, name, version, text(DENIED));
        let drops = drops.then(|| FindingKind::DropsTransactions(DENIED.into()));
        assert_eq!(kinds, Vec::from_iter(drops), "{name} {version}");
    }
}

#[test]
fn transactions_matter_where_persistence_is_trusted() {
    for guard in [RestartGuard::On, RestartGuard::Off] {
        assert_eq!(found_at(guard, "redis", "7.0.15", text(DENIED)), []);
    }
    let trusted = |answer| found_at(RestartGuard::TrustPersistence, "redis", "7.0.15", answer);
    assert_eq!(trusted(Reply::Okay), []);
    // 6.2 has no such question, and reads its file as no user.
    assert_eq!(
        trusted(error("ERR Unknown subcommand or wrong number of arguments for 'dryrun'.")),
        []
    );
    let denied = "NOPERM this user has no permissions to run the 'acl|dryrun' command";
    let kind = FindingKind::Withheld { permission: Permission::AclDryRun, error: denied.into() };
    assert_eq!(Finding::from(kind.clone()).severity, Severity::Note);
    assert_eq!(trusted(error(denied)), [kind]);
}
