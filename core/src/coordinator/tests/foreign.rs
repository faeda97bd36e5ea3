//! Clients with other lists of masters, or with other numbers.

use super::stage::Stage;
use super::{all_open, open};
use crate::master::{Agreement, RestartGuard};
use crate::wire::Login;

/// Opens five masters; the `reporters` report a client of the `lists` when they are asked at 10 s.
fn reported(reporters: &str, others: &str, lists: &str) -> Stage {
    tell(open(5), reporters, others, lists)
}

/// The same, on five masters that are open.
pub(super) fn tell(mut stage: Stage, reporters: &str, others: &str, lists: &str) -> Stage {
    stage.steps(
        "+10s
         n1-5 beats
         n1 > server run1
         n2 > server run2
         n3 > server run3
         n4 > server run4
         n5 > server run5
         n1-5 > master
         n1-5 > memory",
    );
    stage.steps(&format!("{reporters} > disagrees 39000 lists {lists} \n {others} > confirmed"));
    stage
}

#[test]
fn a_stray_on_one_master_costs_that_vote_alone() {
    reported("n5", "n1-4", "n1 n2 n3 n5 n9").play(
        "acquire 1 r
         n1-4 < SET r #1 NX PX 10000
         n5 < -
         n1-3 > ok
         = acquired 1 ..
         n4 > ok
         extend 2 of 1
         n1-4 < EVALSHA extend ..
         n5 < -
         n1-3 > 1
         = extended 2 ..
         n4 > 0
         n4 < EVAL top_up 1 r #1 10000
         n4 > ok",
    );
}

#[test]
fn a_client_that_can_win_past_our_shields_stops_us_everywhere() {
    reported("n3-4", "n1-2,n5", "n1 n2 n3 n4 n9").play(
        "acquire 1 r wait 1s
         n1-5 < -
         +999ms
         = -
         +1ms
         = disagreement 1 at 2 after 1000ms: not asked (another client of n3 could win) | not ..
         n1-5 < -",
    );
}

#[test]
fn a_stopped_client_keeps_its_hold_unextended_and_may_release() {
    let mut stage = open(5);
    stage.steps(
        "+9s
         acquire 1 r
         n1-5 < SET r #1 NX PX 10000
         n1-5 > ok
         = acquired 1 until 18898ms
         +1s
         n1-5 beats
         n1 > server run1
         n2 > server run2
         n3 > server run3
         n4 > server run4
         n5 > server run5
         n1-5 > master
         n1-5 > memory
         n1-3 > disagrees 40000 lists n1 n2 n3 n8 n9
         n4-5 > confirmed
         extend 2 of 1
         n1-5 < -
         = extend 2 unconfirmed: disagrees (this ..
         = -
         release 3 of 1
         n1-5 < EVAL release 1 r #1
         n1-3 > 1
         = released 3
         n4-5 > 1",
    );
    stage.play("");
}

#[test]
fn once_the_other_is_gone_it_goes_on_by_itself() {
    reported("n3-4", "n1-2,n5", "n1 n2 n3 n4 n9").play(
        "acquire 1 r wait forever
         = -
         +2s
         n3-4 beats
         n3 > server run3
         n4 > server run4
         n3 > known
         n1-3,n5 < EVAL look 1 r          // three shields are enough
         n1-3,n5 < SET r #1 NX PX 10000
         n1-3,n5 > -2
         n4 > known
         n4 < -
         n1-3 > ok
         = acquired 1 ..
         n5 > ok",
    );
}

#[test]
fn a_master_that_is_warming_up_is_no_shield() {
    let mut stage = Stage::with(5, &Login::default(), |settings| {
        settings.restart_guard = RestartGuard::On;
    });
    stage = all_open(stage, 5);
    stage.steps(
        "n1 restarts
         +60ms
         n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 2
         n1 > server run1+ up 0
         n1 > master
         n1 > agreed
         +9.94s",
    );
    stage.steps(
        "n2-5 beats
         n2 > server run2
         n3 > server run3
         n4 > server run4
         n5 > server run5
         n2-5 > master
         n2-5 > memory
         n2-3,n5 > confirmed
         n4 > disagrees 40000 lists n1 n2 n3 n4 n9",
    );
    stage.play("acquire 1 r \n = disagreement 1 ..");
}

/// The keys of a lock with a lock-delay live longer than it may be relied on.
#[test]
fn where_the_keys_live_long_the_shields_are_asked_first() {
    for asked in ["ttl 30s", "ttl 10s delay 20s"] {
        let mut stage = reported("n5", "n1-4", "n1 n2 n3 n5 n9");
        stage.play(&format!(
            "~303ms
             acquire 1 r {asked}
             n1-3,n5 < EVAL agree ..     // n4 keeps no client away
             n4 < -
             n1-3 > confirmed
             n5 > disagrees 40000 lists n1 n2 n3 n5 n9
             n1-4 < SET r #1 NX PX 30000
             n1-3 > ok
             = acquired 1 ..
             n4 > ok"
        ));
    }
}

/// A shield that restarts keeps the other client away for as long as the *other* client waits.
#[test]
fn a_shield_lasts_as_long_as_the_other_clients_quarantine() {
    let theirs = "n1 n2 n3 & 39000 max_ttl 3000";
    let mut stage = reported("n3", "n1-2,n4-5", theirs);
    stage.play(
        "acquire 1 r ttl 10s
         = disagreement 1 at 1 ..
         acquire 2 r ttl 2s
         n1-2,n4-5 < SET r #1 NX PX 2000
         n1-2,n4 > ok
         = acquired 2 ..
         n5 > ok",
    );
}

/// If no answer is young enough when it arrives, a round asks each master once and goes on.
#[test]
fn a_ttl_too_long_for_shields_asks_each_master_once_a_round() {
    let mut stage = reported("n5", "n1-4", "n1 n2 n3 n5 n9");
    stage.play(
        "~303ms
         acquire 1 r ttl 30s wait forever
         n1-3,n5 < EVAL agree ..
         ~400ms
         n1-2 > confirmed
         n5 > disagrees 40000 lists n1 n2 n3 n5 n9
         n1-2,n5 < -
         n3 > confirmed
         n1-5 < -
         = -",
    );
}

#[test]
fn a_disagreement_outlives_its_connection_until_it_lapses() {
    reported("n3-4", "n1-2,n5", "n1 n2 n3 n4 n9").play(
        "n3-4 breaks
         acquire 1 r
         = disagreement 1 at 1 ..
         +50ms
         n3-4 < DIAL                // which comes to nothing
         acquire 2 r wait forever
         = -
         +9.95s
         n1-2,n5 beats
         n1 > server run1
         n2 > server run2
         n5 > server run5
         n1-2,n5 > known
         +10s
         n1-2,n5 beats
         n1 > server run1
         n2 > server run2
         n5 > server run5
         n1-2,n5 > known
         +10s
         n1-2,n5 beats
         n1 > server run1
         n2 > server run2
         n5 > server run5
         n1-2,n5 > known
         +8.999s
         n1-2,n5 < -
         +1ms
         n1-2,n5 < -
         +200ms                     // the dials may still come to something
         n1-2,n5 < EVAL look 1 r
         n1-2,n5 < SET r #1 NX PX 10000
         n1-2,n5 > -2
         n1-2,n5 > ok
         = acquired 2 ..",
    );
}

#[test]
fn a_client_that_only_looks_notes_nothing_and_disagrees_with_none() {
    let mut stage = Stage::with(1, &Login::default(), |settings| {
        settings.agreement = Agreement::new(settings.agreement.shared().clone(), true);
    });
    stage.play(
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 < INFO server
         n1 < INFO replication
         n1 < INFO memory
         n1 < SCRIPT LOAD acquire
         n1 < SCRIPT LOAD extend
         n1 < EVAL agree 1 quorumlock:agreement 0 30000 2000 2000 0 '' '' n1
         n1 > hello 1
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > text c0ffee
         n1 > text c0ffee
         n1 > disagrees 40000 lists n1 n2 n3
         = connected
         no faults
         inspect 1 r
         n1 < EVAL inspect 1 r
         n1 > stands 900 who
         = inspected 1: who for 900ms
         acquire 2 r
         = disagreement 2 ..",
    );
}

/// Five masters, of which those that restart warm up; `max_ttl` is 30 s here, a minute in the other
/// client.
#[test]
fn the_greater_of_two_quarantines_applies_to_all_masters() {
    let mut stage = Stage::with(3, &Login::default(), |settings| {
        settings.restart_guard = RestartGuard::On;
    });
    stage = all_open(stage, 3);
    let restarted = "n1 restarts
         +60ms
         n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 2
         n1 > server run1+ up 0
         n1 > master
         n1 > agreed
         acquire 1 r
         n2-3 < SET r #1 NX PX 10000
         n2 > nil
         = contended 1 at 1 after 0ms: warming up (may vote in 30 s) | held | not waited for
         n3 < EVAL release 1 r #1
         n3 > nil
         n3 > 0";
    stage.steps(restarted);
    stage.play(
        "+9.94s
         n2-3 beats
         n2 > server run2
         n3 > server run3
         n2-3 > master
         n2-3 > memory
         n2 > confirmed
         n3 > disagrees 40000 max_ttl 60000
         acquire 2 r
         = no quorum 2 at 1 after 0ms: warming up (may vote in 50 s) | not waited for | disagrees (max_ttl ..",
    );
}
