//! Masters whose persistence is trusted.

use super::super::{RestartGuard, Settings};
use super::Stage;
use crate::coordinator::wire::Login;

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
         fault n1 unfit appendfsync is everysec, and restartguard::trustpersistence needs \
           appendonly yes, appendfsync always and no-appendfsync-on-rewrite no
         = no quorum 1 ..",
    ),
    (
        "config appendonly no appendfsync always no-appendfsync-on-rewrite no",
        "n1 < CLOSE
         fault n1 unfit appendonly is no, and restartguard::trustpersistence needs \
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
    for (told, then) in PERSISTENCE {
        let mut stage = Stage::with(1, &Login::default(), trusting);
        stage.play(&format!(
            "{GREETED}
             n1 > server run1 up 1
             n1 > master
             n1 > memory
             n1 > {told}
             n1 > text c0ffee
             n1 > text c0ffee
             n1 > confirmed
             = connected
             acquire 1 r
             {then}"
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
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"
    ));
}

/// The master is asked for its uptime, then for how long it remembers. It may have been stopped
/// between the two, with a note that another client has made since its start.
#[test]
fn a_late_answer_does_not_lengthen_a_replaced_servers_memory() {
    for (late, remembers, then) in [
        ("~3s", 3500, "= no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)"),
        ("~3s", 6500, "n1 < SET r #1 NX PX 10000"),
        ("~0ms", 3500, "n1 < SET r #1 NX PX 10000"),
    ] {
        let answers = "n1 > master
                       n1 > memory
                       n1 > config appendonly yes appendfsync always no-appendfsync-on-rewrite no
                       n1 > text c0ffee
                       n1 > text c0ffee";
        let mut stage = Stage::with(1, &Login::default(), trusting);
        stage.play(&format!(
            "{GREETED}
             n1 > server run1 up 100
             {answers}
             n1 > confirmed
             = connected
             n1 breaks
             +60ms
             {GREETED}
             n1 > server run2 up 1
             {answers}
             {late}
             n1 > remembers {remembers}
             acquire 1 r
             {then}"
        ));
    }
}
