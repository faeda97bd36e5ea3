//! The kind of server, and what differs between them.

use super::super::question::Subject;
use super::*;
use quorumlock_core::coordinator::wire::{self, Token};

#[test]
fn a_server_is_called_by_its_own_name_and_version() {
    for (info, hello, expected) in [
        ("redis_version:6.2.14\r\n", [("server", "redis"), ("version", "6.2.14")], "Redis 6.2.14"),
        ("redis_version:7.4.1\r\n", [("server", "redis"), ("version", "7.4.1")], "Redis 7.4.1"),
        (
            "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n",
            [("server", "valkey"), ("version", "9.1.2")],
            "Valkey 9.1.2",
        ),
        // It may be configured to say so for clients that insist.
        (
            "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n",
            [("server", "redis"), ("version", "7.2.4")],
            "Valkey 8.1.1",
        ),
        // INFO is denied.
        ("", [("server", "valkey"), ("version", "8.1.1")], "Valkey 8.1.1"),
    ] {
        let mut heard = heard([(Question::InfoServer, text(info))]);
        heard.hello = Some(map(&hello));
        let node = judged(&heard);
        let shown = format!("{} {}", node.server.clone().unwrap(), node.version.clone().unwrap());
        assert_eq!(shown, expected);
        assert!(node.to_string().contains(expected), "{node}");
    }
}

#[test]
fn a_policy_that_evicts_nothing_yet_is_worth_a_note() {
    let memory = |limit, policy| {
        found([(
            Question::ConfigMemory,
            map(&[("maxmemory", limit), ("maxmemory-policy", policy)]),
        )])
    };
    assert_eq!(memory("0", "noeviction"), []);
    assert_eq!(memory("9", "noeviction"), []);
    let note = FindingKind::WouldEvict("allkeys-lru".into());
    assert_eq!(Finding::from(note.clone()).severity, Severity::Note);
    assert_eq!(memory("0", "allkeys-lru"), [note]);
}

#[test]
fn a_server_is_nearly_full_from_more_than_four_fifths_of_its_clients() {
    let with = |clients: u64, most: &str| {
        let info = format!("# Clients\r\nconnected_clients:{clients}\r\n{most}");
        found([(Question::InfoClients, text(&info))])
    };
    assert_eq!(with(8_000, "maxclients:10000\r\n"), []);
    let warning = FindingKind::NearlyFull { clients: 8_001, most: 10_000 };
    assert_eq!(Finding::from(warning.clone()).severity, Severity::Warning);
    assert_eq!(with(8_001, "maxclients:10000\r\n"), [warning]);
    // A server that does not report its bound may be anything.
    assert_eq!(with(u64::MAX, ""), []);
    let denied = found([(Question::InfoClients, error("NOPERM no info"))]);
    assert!(
        !denied.iter().any(|kind| matches!(kind, FindingKind::NearlyFull { .. })),
        "{denied:?}"
    );
}

#[test]
fn a_master_that_cannot_be_asked_gets_a_remedy_that_fits() {
    for (kind, remedy) in [
        (FindingKind::Cluster, "name independent masters, with cluster-enabled no"),
        (FindingKind::Sentinel, "name independent masters, each by its own port"),
        (FindingKind::TooManyClients("".into()), "raise its maxclients"),
        (FindingKind::NotRedis("".into()), "fix host and port"),
        (FindingKind::Rejected("ERR unknown command 'HELLO'".into()), "upgrade it"),
        (FindingKind::Rejected("WRONGPASS".into()), "fix user, password or database"),
    ] {
        let text = Finding::from(kind).remedy;
        assert!(text.starts_with(remedy), "{text}");
    }
}

/// Some servers take 0 as no id given, and kill every other client.
#[test]
fn only_an_id_that_no_client_has_is_killed() {
    let (key, max_ttl, life) = ("a".to_owned(), STAYS_AWAY, STAYS_AWAY);
    let masters = Vec::new();
    let shared = SharedSettings {
        key,
        max_ttl,
        window: FencingWindow::DEFAULT,
        masters,
        lists: Vec::new(),
        life,
        brief: life,
    };
    let subject = Subject { shared, key: "k".into(), channels: wire::channels(0) };
    let kill = Question::Kill.command(&subject, &Token::new(0));
    assert!(
        kill.ends_with(b"$2\r\nID\r\n$19\r\n9223372036854775807\r\n"),
        "{}",
        kill.escape_ascii()
    );
}
