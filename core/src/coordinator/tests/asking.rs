//! A waiter asks the holder's process to give way, which releases what is idle. `n3` tells of `r`. What this
//! process draws begins with the digits of its mailbox, which are zeros.

use super::all_open;
use super::stage::Stage;
use crate::shared::Settings;
use crate::wire::Login;
use std::time::Duration;

/// Opens three masters at which waiters are notified, and holders asked. Waiters poll seldom.
pub(super) fn asking() -> Stage {
    asking_with(Duration::from_secs(60))
}

/// Opens the same, with this cap of pauses.
pub(super) fn asking_with(cap: Duration) -> Stage {
    let asks = |settings: &mut Settings| {
        (settings.wake_ups, settings.asks) = (true, true);
        settings.backoff.cap = cap;
    };
    all_open(Stage::with(3, &Login::default(), asks), 3)
}

pub(super) const REFUSED: &str = "n1-3 < SET r #1 NX PX 10000
     n1-2 > nil
     n3 < EVAL release 1 r #1
     n3 < SUBSCRIBE quorumlock:free:0:r
     n3 < EVAL inspect 1 r
     n3 > nil
     n3 > 0
     n3 > subscribed r
     n3 < EVAL look 1 r
     n3 < SET r #2 NX PX 10000";

/// Request 1 is refused by `n1` and `n2`, and asks `n3` what stands under the key.
fn refused(acquire: &str) -> Stage {
    let mut stage = asking();
    let refused = match acquire.starts_with("write") {
        true => &REFUSED.replace("1 r\n", "4 r in:r in:r in:r\n"),
        false => REFUSED,
    };
    stage.steps(&format!("acquire 1 {acquire}\n{refused}"));
    stage
}

/// Returns what `n3` was sent after it has said what stands under the key.
fn asked(acquire: &str, stands: &str) -> Vec<String> {
    let mut stage = refused(acquire);
    stage.steps(&format!("n3 > {stands}"));
    stage.wires[2].unseen.drain(..).collect()
}

fn ask(mailbox: &str) -> String {
    format!("PUBLISH quorumlock:free:0:@{mailbox} ask r")
}

const THEIRS: &str = "00000000000000aa0000000000000001";

#[test]
fn a_waiter_asks_in_the_mailbox_of_the_holder() {
    for label in ["", ":worker"] {
        let sent = asked("r wait 30s", &format!("stands 9000 {THEIRS}{label}"));
        assert_eq!(sent, [ask("00000000000000aa")]);
    }
}

#[test]
fn where_no_holder_has_refused_none_is_asked_for() {
    let mut stage = asking();
    stage.steps(
        "acquire 1 r wait 30s
         n1-3 < SET r #1 NX PX 10000
         n1-3 > -MISCONF no
         n1-3 < EVAL release 1 r #1
         n1-3 < -",
    );
}

#[test]
fn what_is_no_token_of_another_process_is_not_asked() {
    let mine = "00000000000000000000000000000009";
    let others = [
        "nil".to_owned(),
        "-NOPERM no".to_owned(),
        format!("stands 9000 {mine}"),
        format!("stands 9000 quorumlock:done:{THEIRS}"),
        format!("stands 9000 quorumlock:next:{THEIRS}"),
        "stands 9000 a client of another kind".to_owned(),
    ];
    for stands in others {
        assert_eq!(asked("r wait 30s", &stands), [""; 0], "{stands}");
    }
}

#[test]
fn a_writer_asks_all_readers() {
    let reader = |mailbox: &str| format!("$32\\r\\n{mailbox}0000000000000001\\r\\n:5000\\r\\n");
    let readers = ["00000000000000aa", "00000000000000bb"];
    let set = readers.map(reader).concat();
    let stands =
        format!("raw *4\\r\\n$17\\r\\nquorumlock:shared\\r\\n:9000\\r\\n*4\\r\\n{set}:-1\\r\\n");
    let mut stage = asking();
    stage.steps("acquire 1 write:r wait 30s \n n1-3 < SET r #1 NX PX 10000 \n n1-2 > nil");
    let sent = stage.wires[2].unseen.drain(..).collect::<Vec<_>>();
    assert!(sent.iter().any(|sent| sent == "EVAL inspect 4 r in:r in:r in:r"), "{sent:?}");
    for command in sent.iter().filter(|sent| !sent.starts_with("SET r")) {
        let answer = match command.split(' ').next() {
            Some("SUBSCRIBE") => "subscribed r",
            _ if command.starts_with("EVAL inspect") => &stands,
            _ => "0",
        };
        if command.starts_with("EVAL release") {
            stage.steps("n3 > nil");
        }
        stage.steps(&format!("n3 > {answer}"));
    }
    let sent = stage.wires[2].unseen.drain(..).filter(|sent| sent.contains("ask"));
    assert_eq!(sent.collect::<Vec<_>>(), readers.map(ask));
}

/// It is not refused by an attempt: those before it ask.
#[test]
fn an_acquire_that_does_not_wait_asks_no_holder() {
    let mut stage = asking();
    stage.play(
        "acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #1
         = contended 1 ..
         n1-3 < -
         n3 > nil
         n3 > 0",
    );
}

#[test]
fn a_waiter_asks_again_after_a_second_and_not_before() {
    let mut stage = refused("r wait 30s");
    let asked = ask("00000000000000aa");
    stage.steps(&format!(
        "n3 > stands 9000 {THEIRS}
         n3 < {asked}
         n3 > held 9000 {THEIRS}
         n3 > nil
         n3 > 1
         +999ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > nil
         n3 < -
         +1ms
         n3 > freed r
         n3 < SET r #4 NX PX 10000
         n3 > nil
         n3 < EVAL inspect 1 r
         n3 > stands 8000 {THEIRS}
         n3 < {asked}"
    ));
}

/// A lock that is kept warm is won by request 1.
pub(super) const WON: &str = "
    acquire 1 r warm 2s
    n1-3 < SET r #1 NX PX 10000
    n1-3 > ok
    = acquired 1 until 9898ms\n";

/// The message in the mailbox of this process.
pub(super) const ASKED: &str = "n3 > says @0000000000000000 ask r\n";

fn warm(script: &str) {
    asking().play(&format!("{WON}{script}"));
}

#[test]
fn an_ask_releases_what_is_idle_and_notifies_the_waiters() {
    warm(&format!(
        "back 1
         {ASKED}
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ''
         {ASKED}                        // nothing is held here
         n1-3 < -"
    ));
}

#[test]
fn an_ask_notifies_a_guard_which_keeps_the_lock_and_leaves_it_to_others_after_that() {
    warm(&format!(
        "{ASKED}
         = wanted 1
         n1-3 < -
         back 1
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ''"
    ));
}

/// Two processes that alternate are not slower than without it.
#[test]
fn a_lock_that_another_process_asks_for_before_that_pays_is_not_kept_warm_for_a_while() {
    let back = |guard: u64| format!("back {guard} \n n1-3 < -\n");
    let asked = format!(
        "{ASKED} n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ''
         n1-3 > 1
         n3 > 0\n"
    );
    let again = |request: u64, token: u64| {
        format!(
            "acquire {request} r warm 2s
             n1-3 < SET r #{token} NX PX 10000
             n1-3 > ok
             = acquired {request} ..\n"
        )
    };
    let released = |guard: u64, token: u64| {
        format!(
            "back {guard}
             n1-3 < EVAL release 1 r #{token}
             n3 < PUBLISH quorumlock:free:0:r ''
             n1-3 > 1
             n3 > 0\n"
        )
    };
    let reused = |request: u64| format!("acquire {request} r warm 2s \n = acquired {request} ..\n");
    let once = back(1) + &reused(2) + &back(2);
    for guards in [back(1), once] {
        let cold = again(7, 2) + &released(7, 2) + "+9s\n";
        warm(&format!("{guards}{asked}{cold}{}{}", again(8, 3), released(8, 3)));
    }
    let twice = back(1) + &reused(2) + &back(2) + &reused(3) + &back(3);
    warm(&format!("{twice}{asked}{}{}", again(7, 2), back(7)));
}

/// Request 1 has held `r` for so long, and releases it.
fn released_after(held: &str) -> Stage {
    let mut stage = asking();
    stage.steps(&format!(
        "acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         +{held}
         drop 1
         n1-3 < EVAL release 1 r #1"
    ));
    stage
}

#[test]
fn what_no_client_has_asked_for_is_released_without_a_message() {
    released_after("999ms").play("n1-3 < - \n n1-3 > 1 \n n1-3 < -");
}

/// The message that asks for it may have been lost.
#[test]
fn what_was_held_for_long_is_released_with_a_message_whoever_waits() {
    released_after("1s").play("n3 < PUBLISH quorumlock:free:0:r ''");
}

#[test]
fn the_waiters_are_notified_of_what_was_released_as_a_client_asked_for_it() {
    released_after("5ms").play(&format!(
        "n1-3 > 1
         {ASKED}
         n3 < PUBLISH quorumlock:free:0:r ''
         {ASKED}                        // once
         n1-3 < -"
    ));
}

/// Its own task that holds the lock next notifies them.
#[test]
fn a_client_that_is_asked_as_it_tries_again_notifies_the_waiters_when_it_releases() {
    released_after("5ms").play(&format!(
        "n1-3 > 1
         acquire 2 r
         n1-3 < SET r #2 NX PX 10000
         {ASKED}
         n1-3 < -
         n1-3 > ok
         = acquired 2 ..
         drop 2
         n1-3 < EVAL release 1 r #2
         n3 < PUBLISH quorumlock:free:0:r ''"
    ));
}

#[test]
fn an_ask_for_another_key_changes_nothing() {
    warm(
        "back 1
         n3 > says @0000000000000000 ask s
         n1 < PUBLISH quorumlock:free:0:s ''    // in case it was just released
         n2-3 < -
         acquire 2 r
         = acquired 2 ..",
    );
}

#[test]
fn the_next_guard_is_asked_and_not_the_one_before() {
    warm(&format!("back 1 \n acquire 2 r \n = acquired 2 .. \n {ASKED} \n = wanted 2"));
}

#[test]
fn a_guard_of_any_kind_can_be_asked() {
    for acquire in ["r", "r fenced", "r delay 1s", "r fair", "write:r", "q+r"] {
        let mut stage = asking();
        stage.steps(&format!("acquire 1 {acquire}"));
        stage.wires.iter_mut().for_each(|wire| wire.unseen.clear());
        stage.steps(&format!("n1-3 > ok \n = acquired 1 .. \n {ASKED} \n = wanted 1"));
    }
}

#[test]
fn the_mailbox_follows_the_node_where_waiters_are_notified() {
    let mut stage = asking();
    stage.steps(WON);
    stage.steps(
        "n3 breaks
         back 1
         n2 > says @0000000000000000 ask r
         n1-2 < EVAL release 1 r #1
         n2 < PUBLISH quorumlock:free:0:r ''",
    );
}

#[test]
fn of_permits_the_holder_of_the_one_that_expires_first_is_asked() {
    let mut stage = asking();
    stage.steps("acquire 1 2of:r wait 30s");
    let mut looked = Vec::new();
    for _ in 0..40 {
        for node in 0..3 {
            while let Some(command) = stage.wires[node].unseen.pop_front() {
                let answer = match command.as_str() {
                    set if set.starts_with("SET") => "nil",
                    release if release.contains("release") => "0",
                    "EVAL inspect 1 r0" | "EVAL inspect 1 r1" => {
                        "stands 9000 00000000000000aa0000000000000001"
                    }
                    subscribe if subscribe.starts_with("SUBSCRIBE") => "subscribed r",
                    // What the slots have left: that of `r1` expires first.
                    look if look.ends_with("r0") => "9000",
                    look if look.ends_with("r1") => "7000",
                    _ => "1",
                };
                looked.push(command);
                stage.steps(&format!("n{} > {answer}", node + 1));
            }
        }
        stage.steps("+1ms");
    }
    let asked: Vec<_> =
        looked.iter().filter(|sent| sent.contains("inspect") || sent.contains("ask")).collect();
    assert_eq!(asked, ["EVAL inspect 1 r1", "PUBLISH quorumlock:free:0:@00000000000000aa ask r1"]);
}

#[test]
fn an_ask_by_hand_reaches_each_process_once_and_counts_those_that_listen() {
    let other = "00000000000000aa0000000000000002:reader";
    let mut stage = asking();
    stage.play(&format!(
        "ask 8 r {THEIRS} {other} 00000000000000bb0000000000000001 stranger quorumlock:done:{THEIRS}
         n3 < {}
         n3 < {}
         n3 > 0
         = -
         n3 > 1
         = asked 8: 1
         ask 9 r stranger
         = asked 9: 0
         ask 10 r {THEIRS}
         n3 < {}
         +200ms
         = asked 10: 0
         n3 > 1",
        ask("00000000000000aa"),
        ask("00000000000000bb"),
        ask("00000000000000aa"),
    ));
}
