//! Debts: owed until an integer answers, or nothing can be left to delete.

use super::{open, play};
use crate::master::ledger::{Debt, Deletion};
use crate::master::session::LARGEST_LEDGER;
use crate::quorum::{Instant, NodeSet};
use crate::shared::Keys;
use crate::wire::{Claim, Packer, Token};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_integer_settles_a_debt_whether_or_not_a_key_was_there() {
    for integer in ["1", "0"] {
        play(
            1,
            &format!(
                "acquire 1 r
                 n1 < SET ..
                 n1 > -LOADING
                 n1 < EVAL release 1 r #1
                 = no quorum ..
                 debts 1
                 n1 > {integer}
                 debts 0
                 +5s
                 n1 < -"
            ),
        );
    }
}

/// A list has the name of the key: it is not ours, and never was.
#[test]
fn something_of_another_type_settles_a_debt_as_an_integer_does() {
    let plain = "WRONGTYPE Operation against a key holding the wrong kind of value";
    let of_a_script = format!("ERR Error running script (call to f_d3): @user_script:1: {plain}");
    for (acquire, asked, release, error) in [
        ("r", "SET ..", "EVAL release 1 r #1", plain),
        ("r", "SET ..", "EVAL release 1 r #1", &*of_a_script),
        ("r fenced", "EVALSHA acquire ..", "EVAL release_all 2 r fence:r #1 ..", plain),
    ] {
        play(
            1,
            &format!(
                "acquire 1 {acquire}
                 n1 < {asked}
                 n1 > -WRONGTYPE Operation against a key holding the wrong kind of value
                 n1 < {release}
                 = no quorum ..
                 debts 1
                 n1 > -{error}
                 debts 0
                 +5s
                 n1 < -"
            ),
        );
    }
}

/// Answers that do not settle a debt.
const ERRORS: [&str; 5] = [
    "-NOREPLICAS Not enough good replicas to write.",
    "-LOADING Redis is loading the dataset in memory",
    "-NOPERM User default has no permissions to run the 'eval' command",
    "-BUSY Redis is busy running a script.",
    "nil",
];

#[test]
fn an_error_leaves_the_debt_owed_until_a_ttl_and_its_drift_have_passed() {
    for error in ERRORS {
        play(
            1,
            &format!(
                "acquire 1 r ttl 450ms
                 n1 < SET ..
                 n1 > -LOADING
                 n1 < EVAL release 1 r #1
                 = no quorum ..
                 +10ms
                 n1 > {error}           // from now on: everything before it was answered
                 debts 1
                 next 210ms
                 +199.999ms
                 n1 < -
                 +1us
                 n1 < EVAL release 1 r #1
                 n1 > {error}
                 debts 1
                 +200ms
                 n1 < EVAL release 1 r #1
                 +56.5ms
                 n1 > {error}           // a ttl, 1 % and 2 ms, to the nanosecond
                 debts 1
                 +200ms
                 n1 < EVAL release 1 r #1
                 n1 > {error}
                 debts 0
                 +5s
                 n1 < -"
            ),
        );
    }
}

#[test]
fn an_error_and_then_an_integer_settle_it() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 > -LOADING
         n1 < EVAL release 1 r #1
         = no quorum ..
         n1 > -LOADING
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 1
         debts 0
         +5s
         n1 < -",
    );
}

#[test]
fn debts_of_one_master_are_retried_together() {
    play(
        1,
        "acquire 1 r
         acquire 2 s
         n1 < SET ..
         n1 < SET ..
         n1 > -LOADING
         n1 > -LOADING
         = no quorum 1 ..
         = no quorum 2 ..
         n1 < EVAL release 1 r #1
         n1 < EVAL release 1 s #2
         n1 > -LOADING
         +100ms
         n1 > -LOADING
         +100ms
         n1 < EVAL release 1 r #1
         n1 < EVAL release 1 s #2
         n1 > 0
         n1 > 0
         debts 0",
    );
}

#[test]
fn silence_settles_no_debt_and_repeats_none_on_one_connection() {
    play(
        1,
        "acquire 1 r ttl 300ms
         n1 < SET ..
         n1 > -LOADING
         n1 < EVAL release 1 r #1
         = no quorum ..
         +599ms                         // two ttls of silence
         n1 < -
         debts 1
         +1ms
         n1 < CLOSE
         debts 1
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0",
    );
}

#[test]
fn a_debt_survives_any_number_of_connections_of_any_length() {
    let mut stage = open(1);
    stage.steps("acquire 1 r ttl 300ms \n n1 < SET .. \n n1 breaks \n = no quorum ..");
    for connection in 1..20 {
        stage.steps("+2s \n n1 greets");
        stage.steps(&format!("n1 < CLIENT KILL ID {connection} \n n1 > 1"));
        stage.steps("n1 < EVAL release 1 r #1 \n debts 1 \n +600ms \n n1 < CLOSE");
    }
    stage.play("debts 1");
}

#[test]
fn a_debt_is_forgotten_some_time_after_the_predecessor_was_killed() {
    play(
        1,
        "acquire 1 r ttl 300ms
         n1 < SET ..
         n1 breaks
         = no quorum ..
         +50ms
         n1 < DIAL
         +5s                            // the dial takes its time
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 2
         n1 > server run1
         n1 > master
         n1 > agreed
         n1 < CLIENT KILL ID 1
         +100ms
         n1 > 1                         // from now on no SET can come any more
         n1 < EVAL release 1 r #1
         +300ms
         n1 > -LOADING
         debts 1
         +200ms
         n1 < EVAL release 1 r #1
         n1 > -LOADING
         debts 0",
    );
}

#[test]
fn a_master_that_owes_too_much_gets_no_sets_and_every_release() {
    let mut stage = open(1);
    stage.steps("acquire 1 r \n n1 < SET .. \n n1 > ok \n = acquired 1 ..");
    stage.steps("acquire 2 s \n n1 < SET .. \n n1 > ok \n = acquired 2 ..");
    let claim = Claim {
        keys: Keys::one("d".into()),
        token: Token::new(7),
        life: Duration::from_secs(1).into(),
        ballot: None,
        label: None,
        unsettled: NodeSet::EMPTY,
    };
    let deletion = Arc::new(Deletion {
        calls: false,
        claim,
        at_least: None,
        notifies: false,
        round: None,
        began: Instant::from_nanos(0),
    });
    for _ in 1..LARGEST_LEDGER {
        let (now, debt) = (stage.now, Debt::new(deletion.clone()));
        stage.machine.at.cx.masters.sessions[0].send_deletion(now, debt, &mut Packer::new(None));
        stage.pump();
        // It is owed, and no longer on its way: only the number of them counts.
        stage.says(0, b"-LOADING\r\n");
        stage.wires[0].unseen.clear();
    }
    stage.steps("acquire 3 t \n n1 < SET t #4 NX PX 10000");
    stage.steps("drop 1 \n n1 < EVAL release 1 r #1");
    stage.steps("acquire 4 u \n = no quorum 4 at 1 after 0ms: queue full \n n1 < -");
    stage.steps("drop 2 \n n1 < EVAL release 1 s #2 \n cancel 3 \n n1 < EVAL release 1 t #4");
    stage.steps(&format!("debts {}", LARGEST_LEDGER + 2));
}
