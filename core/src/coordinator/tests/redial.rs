//! Redialling, and late answers on old connections.

use super::{Stage, all_open, open, play, play_from_the_start};
use crate::master::{Fault, Session};
use crate::quorum::Instant;
use crate::shared::Random;
use crate::wire::{Login, Packer};
use std::time::Duration;

/// Clients that can spare a master dial it again within two seconds.
fn spread(masters: usize) -> Stage {
    let spread = Duration::from_secs(2);
    all_open(
        Stage::with(masters, &Login::default(), |settings| settings.redial_spread = spread),
        masters,
    )
}

#[test]
fn redial_pauses_double_up_to_a_cap_and_restart_after_a_session() {
    let mut stage = open(1);
    stage.steps("n1 breaks");
    for pause in [50, 100, 200, 400, 800, 1600, 2000, 2000] {
        stage.steps(&format!("+{}.999999ms \n n1 < - \n +1ns \n n1 < DIAL", pause - 1));
        stage.steps("n1 unreachable");
    }
    // A session that answers nothing is not a session.
    stage.steps("+2s \n n1 greets \n n1 < CLIENT KILL ID 1 \n n1 > 1 \n no faults \n n1 breaks");
    stage.steps("+1999.999999ms \n n1 < - \n +1ns \n n1 greets \n n1 < CLIENT KILL ID 2 \n n1 > 1");
    stage.steps("acquire 1 r \n n1 < SET .. \n n1 > nil \n = contended 1 ..");
    stage.steps("n1 breaks");
    stage.play("+49.999999ms \n n1 < - \n +1ns \n n1 < DIAL");
}

#[test]
fn the_pause_before_a_redial_is_jittered_by_a_fifth_either_way() {
    for (jitter, pause) in [("least", "40ms"), ("most", "59.999999ms")] {
        play(
            1,
            &format!(
                "jitter {jitter}
                 n1 breaks
                 +{pause}
                 n1 < DIAL"
            ),
        );
    }
}

#[test]
fn a_master_that_can_be_spared_is_dialled_again_after_a_random_part_of_the_spread() {
    for (jitter, pause) in [("least", "40ms"), ("middle", "1050ms"), ("most", "2059.999998ms")] {
        let mut stage = spread(3);
        stage.steps(&format!("jitter {jitter} \n n1 breaks \n +{pause} \n n1 < DIAL"));
        // Only once: what fails then is dialled as ever.
        stage.steps("jitter middle \n n1 unreachable \n +99.999999ms \n n1 < - \n +1ns");
        stage.play("n1 < DIAL");
    }
}

#[test]
fn masters_without_which_there_is_no_quorum_are_dialled_again_at_once() {
    spread(3).play(
        "n1 breaks
         n2 breaks
         n3 breaks
         +50ms
         n1-3 < DIAL",
    );
}

#[test]
fn a_spread_ends_once_the_others_are_no_quorum() {
    let mut stage = spread(5);
    stage.steps("n1 breaks \n +20ms \n n2 breaks \n +60ms \n n1-2 < - \n n3 breaks \n +0ms");
    stage.play("n1-2 < DIAL \n +49.999999ms \n n3 < - \n +1ns \n n3 < DIAL");
    // No sooner than if nothing had been spread.
    let mut stage = spread(3);
    stage.steps("n1 breaks \n +10ms \n n2 breaks \n +39.999999ms \n n1 < - \n +1ns \n n1 < DIAL");
    stage.play("n2 < - \n +10ms \n n2 < DIAL");
}

#[test]
fn a_master_that_is_owed_something_is_dialled_again_at_once() {
    let mut stage = spread(3);
    stage.steps("acquire 1 r \n n1-3 < SET .. \n n1-3 > ok \n = acquired 1 ..");
    stage.steps("n1 breaks \n +500ms \n n1 < - \n drop 1 \n n2-3 < EVAL .. \n n2-3 > 1");
    stage.steps("+49.999999ms \n n1 < - \n +1ns");
    stage.steps(
        "n1 greets \n n1 < CLIENT KILL ID 1 \n n1 > 1 \n n1 < EVAL .. \n n1 > 1 \n no faults",
    );
    // A rollback on its way is owed, too.
    stage.steps("acquire 2 r \n n1-3 < SET .. \n n1-3 > ok \n = acquired 2 .. \n drop 2");
    stage.steps("n1-3 < EVAL .. \n n2-3 > 1 \n n1 breaks \n +49.999999ms \n n1 < - \n +1ns");
    stage.play("n1 < DIAL");
}

/// Numbers that look random, and are the same in each run.
struct Draws(u64);

impl Random for Draws {
    fn bits(&mut self) -> Option<u128> {
        Some(u128::from(self.jitter()))
    }

    fn jitter(&mut self) -> u64 {
        // "xorshift64", Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Returns how many of ten thousand clients that lose a server at the same time give up their handshake with it.
/// The server answers one after another, as fast as 8.6 commands each that it refuses (10 us).
fn given_up(spread: Duration) -> usize {
    const CLIENTS: usize = 10_000;
    const HANDSHAKE: Duration = Duration::from_micros(86);
    let stage = Stage::with(1, &Login::default(), |settings| settings.redial_spread = spread);
    let (settings, now) = (stage.machine.masters().settings.clone(), stage.now);
    let (mut random, mut packer) = (Draws(1), Packer::new(None));
    let client = |_| {
        let mut session =
            Session::new("n1".into(), Login::default(), "".into(), now, settings.clone());
        session.dial(now);
        session.connected(now);
        session.open(now, &mut random, &mut packer);
        session.close(now, Fault::down("reset"), true, &mut random);
        session.wake_at()
    };
    let mut dials: Vec<_> = (0..CLIENTS).map(client).collect();
    dials.sort_unstable();
    let mut answers_from = now;
    let gives_up = |dialled: &Instant| {
        answers_from = answers_from.max(*dialled).after(HANDSHAKE);
        answers_from.since(*dialled) > settings.connect_timeout
    };
    dials.iter().copied().filter(gives_up).count()
}

#[test]
fn ten_thousand_clients_that_lose_a_server_come_back_without_giving_up_a_handshake() {
    assert_eq!(given_up(Duration::from_secs(2)), 0);
    let in_step = given_up(Duration::ZERO);
    assert!(in_step > 3_000, "{in_step}");
}

#[test]
fn what_comes_from_an_older_connection_is_ignored() {
    let mut stage = open(1);
    let old = stage.wires[0].epoch;
    stage.steps("n1 breaks \n +50ms \n n1 < DIAL");
    let now = stage.now;
    stage.machine.handle_connected(now, 0, old);
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_written(now, 0, old, 1);
    stage.steps("n1 < - \n fault n1 down reset by peer");

    stage.steps("n1 connects \n n1 < HELLO .. \n n1 asks");
    stage.steps("n1 > hello 2 \n n1 > server run1 \n n1 > master \n n1 > agreed");
    stage.steps("n1 < CLIENT KILL ID 1 \n n1 > 1 \n n1 takes 0 \n acquire 1 r");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_written(now, 0, old, 1);
    stage.steps("= - \n no faults \n n1 breaks");
    stage.play("= no quorum 1 at 1 after 0ms: down (reset by peer) \n debts 0");
}

#[test]
fn input_from_a_connection_that_the_machine_closed_is_ignored() {
    let mut stage = open(1);
    stage.steps("n1 > ok \n n1 < CLOSE");
    let epoch = stage.wires[0].epoch;
    stage.machine.handle_closed(stage.now, 0, epoch, "late");
    stage.machine.handle_bytes(stage.now, 0, epoch, b"+OK\r\n");
    stage.machine.handle_written(stage.now, 0, epoch, 1);
    stage.play("fault n1 down the server answered .. \n +50ms \n n1 < DIAL");
}

#[test]
fn a_master_that_was_never_there_is_dialled_for_ever() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 unreachable
         = connected
         fault n1 down connection refused
         acquire 1 r
         = no quorum 1 at 1 after 0ms: down (connection refused)
         +50ms
         n1 greets
         no faults",
    );
}

#[test]
fn a_shutdown_dials_at_once_only_masters_with_debts() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         n2 breaks
         n3 breaks
         +50ms
         n2-3 < DIAL
         n2 unreachable
         n3 unreachable
         drop 1
         n1 < EVAL ..
         n1 > 1
         n2 restarts
         +100ms
         n3 < DIAL
         n2 opens
         n2 < EVAL ..
         n2 > 0
         n2 breaks
         n3 unreachable
         debts 1
         shutdown
         n1 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1 n2 n3
         n1 > 1
         +0ms
         n2 < -
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < EVAL release ..
         n3 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1 n2 n3
         n3 > 1
         n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2 n3
         n3 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2 n3
         debts 0",
    );
}
