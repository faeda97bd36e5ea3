//! Permissions that are withheld and calls that fail, in the words of each server.

use super::*;

#[test]
fn an_error_that_another_finding_explains_is_no_finding() {
    let readonly = || error("READONLY You can't write against a read only replica.");
    let replica = text("role:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\n");
    let master = text("role:master\r\n");
    let is_replica = FindingKind::Replica(Some("10.0.0.1:6379".into()));
    assert_eq!(
        found([(Question::InfoReplication, replica), (Question::Set, readonly())]),
        [is_replica]
    );
    let kinds = found([(Question::InfoReplication, master), (Question::Set, readonly())]);
    assert!(
        matches!(kinds[..], [FindingKind::Fails { permission: Permission::Set, .. }]),
        "{kinds:?}"
    );

    let missing = || error("NOSCRIPT No matching script. Please use EVAL.");
    let denied = || error("NOPERM this user has no permissions to run the 'script|load' command");
    let kinds = found([(Question::LoadExtend, denied()), (Question::Extend, missing())]);
    assert!(
        matches!(kinds[..], [FindingKind::Withheld { permission: Permission::ScriptLoad, .. }]),
        "{kinds:?}"
    );
    let kinds = found([(Question::Extend, missing())]);
    assert!(
        matches!(kinds[..], [FindingKind::Fails { permission: Permission::EvalSha, .. }]),
        "{kinds:?}"
    );
}

/// As 6.2 reports it for a command within a script, and as later versions do.
#[test]
fn each_versions_failure_of_the_whole_master_is_found_once() {
    for (ails, is_replica) in [
        ("OOM command not allowed when used memory > 'maxmemory'.", false),
        ("MISCONF Redis is configured to save RDB snapshots", false),
        ("NOREPLICAS Not enough good replicas to write.", false),
        ("READONLY You can't write against a read only replica.", true),
    ] {
        for within in [
            format!(
                "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -{ails}"
            ),
            // From a script that passes on the error of a command.
            format!("@user_script: 9: -{ails}"),
            format!("{ails} script: 1, on @user_script:9."),
        ] {
            let role = if is_replica { "role:slave\r\n" } else { "role:master\r\n" };
            let kinds = found([
                (Question::InfoReplication, text(role)),
                (Question::Set, error(ails)),
                (Question::AcquireAll, error(&within)),
                (Question::Agree, error(&within)),
            ]);
            let expected = if is_replica {
                FindingKind::Replica(None)
            } else {
                FindingKind::Fails { permission: Permission::Set, error: ails.into() }
            };
            assert_eq!(kinds, [expected], "{within}");
        }
    }
}

/// The answers of servers to a user that lacks a permission, and what to do about it. Redis 7.4 has
/// the words of 8.0 and KeyDB 6.3 those of 6.2; no test runs on these two.
#[test]
fn what_is_to_be_granted_follows_from_the_words_of_each_server() {
    let key = "grant a pattern that covers the client's keys (~), or set the key_prefix that a \
               granted one covers";
    let channel = "grant a pattern that covers the client's channels (&)";
    let lacks = "the server lacks it or has it renamed (rename-command): bring it back";
    for (words, what) in [
        ("NOPERM this user has no permissions to access one of the keys used as arguments", key),
        ("NOPERM No permissions to access a key", key),
        ("ERR ACL failure in script: No permissions to access a key script: 1", key),
        (
            "NOPERM this user has no permissions to access one of the channels used as arguments",
            channel,
        ),
        ("NOPERM No permissions to access a channel", channel),
        (
            "NOPERM this user has no permissions to run the 'set' command or its subcommand",
            "grant +set",
        ),
        ("NOPERM this user has no permissions to run the 'set' command", "grant +set"),
        ("NOPERM User app has no permissions to run the 'set' command", "grant +set"),
        (
            "ERR ACL failure in script: User app has no permissions to run the 'set' command",
            "grant +set",
        ),
        ("ERR unknown command `SET`, with args beginning with: `k`, ", lacks),
        ("ERR unknown command 'SET', with args beginning with: 'k' ", lacks),
        ("@user_script: 11: Unknown Redis command called from Lua script", lacks),
        ("ERR Unknown command called from script", lacks),
    ] {
        let remedy = Permission::Set.to_grant(words);
        assert_eq!(remedy, format!("{what}; without it no lock can be acquired there"), "{words}");
    }
}

#[test]
fn each_versions_denial_within_a_script_is_recognised() {
    for words in [
        "ERR Error running script (call to f_1): @user_script:1: The user executing the script \
         can't run this command or subcommand",
        "ERR The user executing the script can't run this command or subcommand script: 1",
        "ERR ACL failure in script: User app has no permissions to run the 'time' command",
        "ERR Unknown Redis command called from script script: 1, on @user_script:1.",
        "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Unknown Redis \
         command called from Lua script",
        "ERR Unknown command called from script script: on @user_script:1.",
    ] {
        let survey = |command| {
            let failed = |command, words| Reply::Array(vec![text(command), text(words)]);
            let none = failed("HSET", "ERR wrong number of arguments for 'hset' command");
            Reply::Array(vec![none, failed(command, words)])
        };
        let withheld = |permission| FindingKind::Withheld { permission, error: words.into() };
        for (command, permission) in [("TIME", Permission::Time), ("HDEL", Permission::Hdel)] {
            // Named once, whichever scripts fail because of it.
            let replies = [
                (Question::Survey, survey(command)),
                (Question::Extend, error(words)),
                (Question::Agree, error(words)),
            ];
            assert_eq!(found(replies), [withheld(permission)]);
        }
        // No survey names it.
        assert_eq!(found([(Question::Extend, error(words))]), [withheld(Permission::EvalSha)]);
        let unnamed = [(Question::Survey, survey("OTHER")), (Question::Agree, error(words))];
        assert_eq!(found(unnamed), [withheld(Permission::Eval)]);
    }
}
