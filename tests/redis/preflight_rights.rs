//! Findings of `preflight()` for users with restricted rights, and their cost. It leaves nothing
//! behind on any master.
//! On a real clock: the rights are those of a server.

use crate::support::prelude::*;
use quorumlock::Redlock;
use quorumlock::preflight::Severity::{self, Failure, Note, Warning};
use quorumlock::preflight::{Finding, FindingKind, NodePreflight, Permission};
use redis::cmd;
use std::time::Duration;

const PAGE: &str = include_str!("../../docs/acl.md");

/// Returns the findings for the user `app`.
async fn as_app(server: &Server) -> NodePreflight {
    let url = server.url().replace("//", "//app:pass@");
    Redlock::builder().node(url).preflight().await.unwrap().nodes()[0].clone()
}

/// Makes the user `app` with these rules, on a master that has no scripts.
async fn grant(server: &Server, rules: &str) {
    let mut acl = cmd("ACL");
    acl.arg("SETUSER")
        .arg("app")
        .arg("reset")
        .arg("on")
        .arg(">pass")
        .arg(rules.split(' ').collect::<Vec<_>>());
    witness::ask::<()>(server, &acl).await.unwrap();
    witness::ask::<()>(server, cmd("SCRIPT").arg("FLUSH")).await.unwrap();
}

/// Returns the permissions that a user with these rules lacks, and how bad that is.
async fn withheld(server: &Server, rules: &str) -> Vec<(Permission, Severity)> {
    grant(server, rules).await;
    let node = as_app(server).await;
    let withheld = |finding: &Finding| match &finding.kind {
        FindingKind::Withheld { permission, .. } => Some((*permission, finding.severity)),
        FindingKind::Forgets { .. } | FindingKind::JustStarted { .. } => None,
        _ => panic!("{rules}: {finding}"),
    };
    node.findings.iter().filter_map(withheld).collect()
}

#[tokio::test]
async fn each_withheld_right_is_found_and_nothing_stays_behind() {
    let server = [Server::start()];
    for (rules, expected) in [
        ("", &[][..]),
        ("-client", &[(Permission::ClientKill, Warning)]),
        ("-info", &[(Permission::Info, Warning)]),
        ("-config", &[(Permission::ConfigGet, Note)]),
        ("-eval", &[(Permission::Eval, Failure)]),
        ("-script", &[(Permission::ScriptLoad, Failure)]),
        ("-evalsha", &[(Permission::EvalSha, Failure)]),
        ("-set", &[(Permission::Set, Failure)]),
        ("-get", &[(Permission::Get, Failure)]),
        ("-pttl", &[(Permission::Pttl, Failure)]),
        ("-pexpire", &[(Permission::Pexpire, Failure)]),
        ("-time", &[(Permission::Time, Failure)]),
        ("-hget", &[(Permission::Hget, Failure)]),
        ("-hgetall", &[(Permission::Hgetall, Failure)]),
        ("-hset", &[(Permission::Hset, Failure)]),
        ("-hdel", &[(Permission::Hdel, Warning)]),
        ("-zadd", &[(Permission::Zadd, Warning)]),
        ("-zrem", &[(Permission::Zrem, Warning)]),
        ("-zscore", &[(Permission::Zscore, Warning)]),
        ("-zrange", &[(Permission::Zrange, Warning)]),
        ("-zremrangebyscore", &[(Permission::ZremRangeByScore, Warning)]),
        ("-zrangebyscore", &[(Permission::ZrangeByScore, Warning)]),
        ("-zrank", &[(Permission::Zrank, Warning)]),
        ("-zcard", &[(Permission::Zcard, Warning)]),
        ("-get -hset", &[(Permission::Get, Failure), (Permission::Hset, Failure)]),
        ("-scan", &[(Permission::Scan, Note)]),
        ("-pubsub", &[(Permission::PubSubNumSub, Note)]),
        ("-publish", &[(Permission::Publish, Note)]),
        ("-subscribe", &[(Permission::Subscribe, Note)]),
        ("resetchannels", &[(Permission::Publish, Note), (Permission::Subscribe, Note)]),
        // Patterns for the keys do not cover our channels, nor do those for another database.
        (
            "resetchannels &quorumlock:preflight*",
            &[(Permission::Publish, Note), (Permission::Subscribe, Note)],
        ),
        (
            "resetchannels &quorumlock:free:1:*",
            &[(Permission::Publish, Note), (Permission::Subscribe, Note)],
        ),
        ("resetchannels &quorumlock:free:*", &[]),
        (
            "resetkeys ~orders:*",
            &[
                (Permission::Set, Failure),
                (Permission::Eval, Failure),
                (Permission::EvalSha, Failure),
                (Permission::Del, Failure),
                (Permission::Pttl, Failure),
                (Permission::Hgetall, Failure),
            ],
        ),
        // The clients' agreement is out of reach.
        (
            "resetkeys ~quorumlock:preflight*",
            &[(Permission::Pttl, Failure), (Permission::Hgetall, Failure)],
        ),
    ] {
        let mut found = withheld(&server[0], &format!("~* &* +@all {rules}")).await;
        // Where there is such a command, it is not allowed on keys other than ours either.
        found.retain(|(right, _)| ![Permission::DelIfEq, Permission::DelEx].contains(right));
        assert_eq!(found, expected, "{rules}");
        witness::assert_no_keys_now(&server).await;
    }
}

/// Returns the rule that takes away the server's own command to release, and what is then noted.
async fn no_native_release(server: &Server) -> (String, Option<(Permission, Severity)>) {
    let (name, permission) = match witness::native_release(server).await {
        Some(name @ "delifeq") => (name, Permission::DelIfEq),
        Some(name) => (name, Permission::DelEx),
        None => return (String::new(), None),
    };
    (format!(" -{name}"), Some((permission, Note)))
}

/// Where there is no such command, no user lacks the right to it.
#[tokio::test]
async fn the_right_to_a_command_is_asked_for_where_there_is_one() {
    let server = [Server::start()];
    let (without, note) = no_native_release(&server[0]).await;
    let found = withheld(&server[0], &format!("~* &* +@all{without}")).await;
    assert_eq!(found, Vec::from_iter(note));
    witness::assert_no_keys_now(&server).await;
}

#[tokio::test]
async fn the_patterns_of_the_page_cover_keys_and_channels() {
    let server = Server::start();
    let app = server.url().replace("//", "//app:pass@");
    let prefixed = |prefix| Redlock::builder().node(&*app).key_prefix(prefix);
    grant(&server, "~app:* resetchannels &quorumlock:free:* +@all").await;
    let report = prefixed("app:").preflight().await.unwrap();
    assert!(report.nodes()[0].findings.iter().all(|finding| finding.severity == Note), "{report}");
    assert!(!report.to_string().contains("withheld"), "{report}");
    let of_two = Redlock::builder().node(format!("{app}/2")).key_prefix("app:");
    let report = of_two.preflight().await.unwrap();
    assert!(!report.to_string().contains("withheld"), "{report}");
    assert!(!prefixed("other:").preflight().await.unwrap().is_ok());
}

#[tokio::test]
async fn where_nothing_may_be_deleted_the_key_expires_in_a_moment() {
    let server = [Server::start()];
    let (without, note) = no_native_release(&server[0]).await;
    let found = withheld(&server[0], &format!("~* &* +@all -eval -del{without}")).await;
    let expected = [(Permission::Eval, Failure), (Permission::Del, Failure)];
    assert_eq!(found, expected.into_iter().chain(note).collect::<Vec<_>>());
    let left = witness::keys(&server[0]).await.unwrap();
    let parts = ["", ":fence", ":fenced"].map(|part| format!("quorumlock:preflight{part}"));
    assert_eq!(left, parts);
    witness::eventually_no_keys(&server, Duration::from_secs(5)).await;

    let found = withheld(&server[0], &format!("~* &* +@all -del{without}")).await;
    assert_eq!(found, [(Permission::Del, Failure)].into_iter().chain(note).collect::<Vec<_>>());
    let left = witness::keys(&server[0]).await.unwrap();
    let parts = ["", ":agreement", ":fence", ":fenced"];
    assert_eq!(left, parts.map(|part| format!("quorumlock:preflight{part}")));
    witness::eventually_no_keys(&server, Duration::from_secs(5)).await;
}

#[tokio::test]
async fn what_is_withheld_says_what_to_grant_and_what_it_costs() {
    let server = Server::start();
    let report = async |rules| {
        grant(&server, rules).await;
        let found = as_app(&server).await.findings.into_iter().map(|finding| finding.to_string());
        found.collect::<Vec<_>>().join("\n")
    };
    for (rules, line) in [
        (
            "~* &* +@all -client",
            "warning: CLIENT KILL is denied (NOPERM ..): grant +client|kill; without it a late SET \
             on a replaced connection can leave a key for one ttl",
        ),
        (
            "~orders:* &* +@all",
            "failure: SET is denied (NOPERM ..): grant a pattern that covers the client's keys \
             (~), or set the key_prefix that a granted one covers; without it no lock can be acquired there",
        ),
        (
            "~* resetchannels +@all",
            "note: PUBLISH is denied (NOPERM ..): grant a pattern that covers the client's \
             channels (&); without it releases there cannot notify waiters, which fall back to polling",
        ),
        (
            "~* &* +@all -zrank",
            "warning: ZRANK is denied (..): grant +zrank; without it there is no waitlist there: clients \
             poll, in no order (fair)",
        ),
        (
            "~* &* +@all -hget",
            "failure: HGET is denied (..): grant +hget; without it connect() refuses it: clients could not agree \
             there",
        ),
    ] {
        let report = report(rules).await;
        let report = without_their_words(&report);
        assert!(report.lines().any(|shown| shown == line), "{report}");
    }
}

/// Removes the wording, which differs between versions, except the code.
fn without_their_words(report: &str) -> String {
    let without = |line: &str| match (line.find(" ("), line.find("): grant")) {
        (Some(from), Some(to)) => {
            let code = if line[from..].starts_with(" (NOPERM ") { "NOPERM .." } else { ".." };
            format!("{} ({code}{}", &line[..from], &line[to..])
        }
        _ => line.to_owned(),
    };
    report.lines().map(without).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_user_with_all_needed_rights_is_fit_and_a_refused_one_unfit() {
    let server = Server::start();
    let is_it = |line: &&str| line.starts_with("ACL SETUSER ");
    let needed = PAGE.lines().find(is_it).expect("a line that grants what is needed");
    let needed: Vec<&str> = needed.split(' ').filter(|word| word.starts_with('+')).collect();
    let rules = |without: &str| {
        let granted: Vec<_> = needed.iter().copied().filter(|right| *right != without).collect();
        format!("~* resetchannels {}", granted.join(" "))
    };
    let mut notes = vec![
        (Permission::ConfigGet, Note),
        (Permission::Scan, Note),
        (Permission::PubSubNumSub, Note),
        (Permission::Publish, Note),
        (Permission::Subscribe, Note),
    ];
    notes.splice(0..0, no_native_release(&server).await.1);
    assert_eq!(withheld(&server, &rules("")).await, notes);
    let mut refused = Vec::new();
    for right in &needed {
        grant(&server, &rules(right)).await;
        let fit = as_app(&server).await.is_ok();
        let url = server.url().replace("//", "//app:pass@");
        if Redlock::builder().node(url).connect().await.is_err() {
            refused.push(*right);
            assert!(!fit, "without {right}");
        }
    }
    refused.sort_unstable();
    assert_eq!(refused, ["+eval", "+hget", "+hgetall", "+hset", "+pexpire", "+time"]);
}
