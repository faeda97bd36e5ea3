//! Masters whose persistence is trusted.

use super::Stage;
use crate::master::RestartGuard;
use crate::shared::Settings;
use crate::wire::Login;
use std::time::Duration;

/// The questions to a master that is trusted, after its answer to HELLO.
const GREETED: &str = "n1 < DIAL
                       n1 connects
                       n1 < HELLO ..
                       n1 < INFO server
                       n1 < INFO replication
                       n1 < INFO memory
                       n1 < CONFIG GET *append*
                       n1 < SCRIPT ..
                       n1 < SCRIPT ..
                       n1 < EVAL agree ..
                       n1 > hello 1";

fn trusting(settings: &mut Settings) {
    settings.restart_guard = RestartGuard::TrustPersistence;
}

/// The answer to `CONFIG GET *append*`, and the standing of a master that has just started.
const PERSISTENCE: [(&str, &str); 6] = [
    (
        "config appendonly yes appendfsync always no-appendfsync-on-rewrite no",
        "n1 < SET .. \n n1 > ok \n = acquired 1 ..",
    ),
    (
        "config appendonly yes appendfsync everysec no-appendfsync-on-rewrite no",
        "n1 < CLOSE
         fault n1 unfit appendfsync is everysec, and a restart_guard that trusts persistence needs \
           appendonly yes, appendfsync always and no-appendfsync-on-rewrite no
         = no quorum 1 ..",
    ),
    (
        "config appendonly no appendfsync always no-appendfsync-on-rewrite no",
        "n1 < CLOSE
         fault n1 unfit appendonly is no, and a restart_guard that trusts persistence needs \
           appendonly yes, appendfsync always and no-appendfsync-on-rewrite no
         = no quorum 1 ..",
    ),
    (
        "config appendonly yes appendfsync always no-appendfsync-on-rewrite yes",
        "n1 < CLOSE
         fault n1 unfit no-appendfsync-on-rewrite is yes, and ..
         = no quorum 1 ..",
    ),
    (
        "config appendonly yes appendfsync always",
        "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)",
    ),
    ("-NOPERM no", "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"),
];

#[test]
fn trust_in_persistence_is_held_against_the_configuration() {
    for (answer, then) in PERSISTENCE {
        let mut stage = Stage::with(1, &Login::default(), trusting);
        stage.play(&format!(
            "{GREETED}
             n1 > server run1 up 1
             n1 > master
             n1 > memory
             n1 > {answer}
             n1 > text c0ffee
             n1 > text c0ffee
             n1 > confirmed
             = connected
             {asks}
             acquire 1 r
             {then}",
            // Once more, now that the process has a name.
            asks = if then.starts_with("n1 < CLOSE") {
                ""
            } else {
                "n1 < EVAL agree .. \n n1 > confirmed"
            },
        ));
    }
}

/// A new machine under an old address cannot be distinguished from the one before it.
#[test]
fn without_a_run_id_no_persistence_is_trusted() {
    let mut stage = Stage::with(1, &Login::default(), trusting);
    stage.play(&format!(
        "{GREETED}
         n1 > -NOPERM no
         n1 > -NOPERM no
         n1 > memory
         n1 > config appendonly yes appendfsync always no-appendfsync-on-rewrite no
         n1 > text c0ffee
         n1 > text c0ffee
         n1 > confirmed
         = connected
         n1 < EVAL agree ..
         n1 > confirmed
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"
    ));
}

/// A new process under a known address: `known` says whether the one before is noted there. Neither
/// its uptime nor what the masters' clocks show says so.
#[test]
fn another_process_is_trusted_if_the_one_before_is_noted_there_and_only_then() {
    let question = "EVAL agree 1 quorumlock:agreement 45454 30000 2000 2000 0";
    let answers = "n1 > master
                   n1 > memory
                   n1 > config appendonly yes appendfsync always no-appendfsync-on-rewrite no
                   n1 > text c0ffee
                   n1 > text c0ffee";
    for (uptime, remembers, then) in [
        (1, "remembers", "n1 < SET r #1 NX PX 10000"),
        (1, "confirmed", "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"),
        (20, "confirmed", "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"),
        (100_000, "confirmed", "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"),
    ] {
        let mut stage = Stage::with(1, &Login::default(), trusting);
        stage.play(&format!(
            "{GREETED}
             n1 > server run1 up 100
             {answers}
             n1 > confirmed
             = connected
             n1 < {question} run1 run1 n1      // what the next process shows
             n1 > remembers
             n1 breaks
             +60ms
             {greeted}
             n1 < {question} '' run1 n1
             n1 > hello 1
             n1 > server run2 up {uptime}
             {answers}
             n1 > {remembers}
             n1 < {question} run2 run2 n1
             n1 > confirmed
             acquire 1 r
             {then}",
            greeted = GREETED.lines().take(9).collect::<Vec<_>>().join("\n"),
        ));
    }
}

/// The one before had no right to identify itself. A new machine, without its rights and its memory, does.
#[test]
fn a_process_with_a_name_after_one_without_is_another_one() {
    let answers = "n1 > memory
                   n1 > config appendonly yes appendfsync always no-appendfsync-on-rewrite no
                   n1 > text c0ffee
                   n1 > text c0ffee
                   n1 > confirmed";
    let mut stage = Stage::with(1, &Login::default(), |settings| {
        trusting(settings);
        settings.quarantine = Duration::from_millis(50);
    });
    stage.play(&format!(
        "{GREETED}
         n1 > -NOPERM no
         n1 > -NOPERM no
         {answers}
         = connected
         n1 < EVAL agree ..
         n1 > confirmed
         n1 breaks
         +60ms
         {GREETED}
         n1 > server run1 up 100000
         n1 > master
         {answers}
         n1 < EVAL agree ..
         n1 > confirmed
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 50 ms)"
    ));
}
