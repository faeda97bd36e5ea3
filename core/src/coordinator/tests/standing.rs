//! Masters that have just started: used, and not counted. `D` is 30 s and its drift, 30,302 ms.

use super::Stage;
use crate::master::RestartGuard;
use crate::wire::Login;

pub(super) fn guarded(masters: usize) -> Stage {
    Stage::with(masters, &Login::default(), |settings| settings.restart_guard = RestartGuard::On)
}

/// Returns a handshake with a master that reports its uptime.
pub(super) fn up(node: usize, client: usize, seconds: u64) -> String {
    format!(
        "n{node} < DIAL
         n{node} connects
         n{node} < HELLO ..
         n{node} asks
         n{node} > hello {client}
         n{node} > server run{node} up {seconds}
         n{node} > master
         n{node} > agreed\n"
    )
}

#[test]
fn a_master_votes_once_all_that_it_may_have_granted_has_expired() {
    // The master rounds its uptime up by as much as a second: 10 s may be 9.
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 10));
    stage.play(
        "= connected
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 21 s)
         n1 < -                         // nothing is sent that could not win
         +10s
         n1 beats
         n1 > server run1 up 20
         n1 > known
         next 20000ms
         +10s
         n1 beats
         n1 > server run1 up 30
         n1 > known
         next 21302ms
         +1.301999999s
         acquire 2 r
         = no quorum 2 ..
         +1ns
         acquire 3 r
         n1 < SET ..
         n1 > ok
         = acquired 3 ..",
    );
}

/// It may have forgotten a holder, or a holder's value may have come there since.
#[test]
fn an_inspection_counts_no_answer_of_a_master_that_warms_up() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 10));
    stage.play(
        "= connected
         inspect 1 r
         n1 < EVAL inspect 1 r
         n1 > nil
         = inspected 1: warming up (may vote in 21 s)
         inspect 2 r
         n1 < EVAL inspect 1 r
         n1 > stands 1500 who
         = inspected 2: warming up (may vote in 21 s)",
    );
}

#[test]
fn one_that_was_up_for_long_enough_votes_at_once() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 32));
    stage.play("= connected \n acquire 1 r \n n1 < SET .. \n n1 > ok \n = acquired 1 ..");
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 31));
    stage.play(
        "= connected
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 302 ms)",
    );
}

#[test]
fn a_master_warming_up_gets_nothing_of_an_acquire_that_is_not_won() {
    let mut stage = guarded(3);
    stage.steps(&[up(1, 1, 90), up(2, 1, 90), up(3, 1, 5)].concat());
    stage.play(
        "= connected
             acquire 1 r
             n1-2 < SET r #1 NX PX 10000
             n3 < -
             n1 > ok
             = -
             n2 > nil
             n1 < EVAL release 1 r #1
             n3 < -
             = contended 1 at 1 after 0ms: granted | held | warming up (may vote in 26 s)
             n1 > 1
             debts 0",
    );
}

/// A kind of acquire, what it sends to `n1`, and what to `n3` once it is won.
const KINDS: [(&str, &str, &str); 5] = [
    ("r", "SET r #1 NX PX 10000", "EVAL top_up 1 r #1 10000"),
    ("r+s", "EVALSHA acquire 2 r s #1 10000 0", "EVALSHA acquire 2 r s #1 10000 1"),
    (
        "r fenced",
        "EVALSHA acquire 2 r fence:r #1 10000 0 ..",
        "EVALSHA acquire 2 r fence:r #1 10000 1 ..",
    ),
    ("r delay 5s", "SET r #1 NX PX 15000", "EVAL top_up 1 r #1 15000"),
    ("r least 20s", "SET r #1 NX PX 20202", "EVAL top_up 1 r #1 20202"),
];

#[test]
fn a_master_warming_up_gets_the_key_as_soon_as_the_lock_is_won() {
    for (kind, asks, tops_up) in KINDS {
        let mut stage = guarded(3);
        stage.steps(&[up(1, 1, 90), up(2, 1, 90), up(3, 1, 5)].concat());
        stage.play(&format!(
            "= connected
             wall 100
             acquire 1 {kind}
             n1-2 < {asks}
             n1 > ok
             = -
             n3 < -
             n2 > ok
             = acquired 1 ..
             n3 < {tops_up}
             n3 > ok
             drop 1
             n1-3 < EVAL ..
             n1-3 > 1
             debts 0",
        ));
    }
}

#[test]
fn a_master_warming_up_confirms_no_extension_but_is_topped_up() {
    let mut stage = guarded(3);
    stage.steps(&[up(1, 1, 90), up(2, 1, 90), up(3, 1, 5)].concat());
    stage.play(
        "= connected
         acquire 1 r
         n1-2 < SET ..
         n1-2 > ok
         = acquired 1 ..
         n3 < EVAL top_up 1 r #1 10000
         n3 > ok
         +1s
         extend 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1 > 1
         n3 > 1
         = -
         n2 > 0
         = extend 2 unconfirmed: held by us | no key there | warming up
         extend 3 of 1
         n1-3 < EVALSHA ..
         n3 > 0                         // restarted empty, say
         n1 > 1
         = -
         n2 > 1
         = extended 3 until 10898ms
         n3 < EVAL top_up 1 r #1 10000
         n3 > ok
         +1s
         extend 4 of 1
         n1-3 < EVALSHA ..
         n3 > -1
         n1-2 > 0
         = lost 1: quorum gone: no key there | no key there | warming up
         = extend 4 lost",
    );
}

#[test]
fn a_vote_counts_only_if_the_master_could_vote_when_asked() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 31));
    stage.play(
        "= connected
         acquire 1 r wait 1s
         = -
         +301ms
         n1 < -
         +1ms                           // a waiter is woken when it has warmed up
         n1 < EVAL look 1 r
         n1 < SET r #1 NX PX 10000
         n1 > -2
         n1 > ok
         = acquired 1 ..",
    );
}

#[test]
fn another_server_at_a_known_address_waits_at_any_uptime() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 90));
    stage.steps("= connected \n n1 breaks \n +50ms");
    stage.steps(&up(1, 7, 90).replace("run1", "another"));
    // It counts once: it is that process from now on, however often it reports so.
    stage.play(
        "acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)
         +10s
         n1 beats
         n1 > server another up 100
         n1 > known
         acquire 2 r
         = no quorum 2 at 1 after 0ms: warming up (may vote in 20 s)",
    );
}

#[test]
fn the_same_server_met_again_does_not_wait_anew() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 90));
    stage.steps("= connected \n n1 breaks \n +50ms");
    stage.steps(&up(1, 2, 90));
    stage.play(
        "n1 < CLIENT KILL ID 1
         n1 > 1
         acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_clock_that_is_set_forward_does_not_shorten_the_wait() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 1));
    stage.play(
        "= connected
         +10s
         n1 beats
         n1 > server run1 up 86400
         n1 > known
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 20 s)",
    );
}

#[test]
fn where_info_is_denied_it_waits_from_each_connection_on() {
    let denied = "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > -NOPERM no
         n1 > -NOPERM no
         n1 > agreed\n";
    let mut stage = guarded(1);
    stage.steps(denied);
    stage.steps(
        "= connected
         acquire 1 r
         = no quorum 1 at 1 after 0ms: warming up (may vote in 30 s)
         +10s
         n1 beats
         n1 > -NOPERM no
         n1 > known
         acquire 2 r
         = no quorum 2 at 1 after 0ms: warming up (may vote in 20 s)
         n1 breaks
         +50ms",
    );
    stage.steps(denied);
    stage.play("acquire 3 r \n = no quorum 3 at 1 after 0ms: warming up (may vote in 30 s)");
}

/// Returns all bytes that an acquire, its extension and its release have sent to each of three
/// masters that have long been up.
fn sent_for_a_lock(mut stage: Stage) -> Vec<Vec<u8>> {
    stage.steps(&[up(1, 1, 90), up(2, 1, 90), up(3, 1, 90)].concat());
    stage.steps("= connected");
    stage.wires.iter_mut().for_each(|wire| wire.sent.clear());
    stage.steps(
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = extended 2 ..
         release 3 of 1
         n1-3 < EVAL ..
         n1-3 > 1
         = released 3",
    );
    stage.wires.into_iter().map(|wire| wire.sent).collect()
}

#[test]
fn the_guard_changes_no_byte_of_what_is_sent_for_a_lock() {
    let guarded_bytes = sent_for_a_lock(guarded(3));
    assert_eq!(guarded_bytes, sent_for_a_lock(Stage::new(3, &Login::default())));
    let (set, token) = (b"*6\r\n$3\r\nSET\r\n$1\r\nr\r\n$32\r\n", format!("{:032x}", 1));
    let set = [set, token.as_bytes(), b"\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n"].concat();
    for sent in guarded_bytes {
        assert!(sent.starts_with(&set), "{}", String::from_utf8_lossy(&sent));
        assert!(sent[set.len()..].starts_with(b"*6\r\n$7\r\nEVALSHA\r\n"));
    }
}

#[test]
fn a_server_met_long_ago_votes_on_though_its_clock_is_set_back() {
    let mut stage = guarded(1);
    stage.steps(&up(1, 1, 90));
    stage.steps("= connected");
    let beat =
        |uptime: u64| format!("+10s \n n1 beats \n n1 > server run1 up {uptime} \n n1 > known\n");
    // The master was met at once, and has run for at least as long as we have known it: D is over
    // after 30.3 s.
    stage.steps(&[beat(0), "acquire 1 r \n = no quorum 1 .. \n".into()].concat());
    stage.steps(&[beat(0), beat(0), beat(0)].concat());
    stage.play("acquire 2 r \n n1 < SET .. \n n1 > ok \n = acquired 2 ..");
}
