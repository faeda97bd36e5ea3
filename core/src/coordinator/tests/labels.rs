//! What a holder writes behind its token: the same in every command of its claim. And what an
//! acquire that is refused learns of it.

use super::stage::Stage;
use super::{all_open, play};
use crate::shared::Settings;
use crate::wire::Login;

/// Plays a script on a master of a client whose builder has the label `usual`, and returns
/// everything that was sent.
fn sent(usual: Option<&str>, script: &str) -> String {
    let label = |settings: &mut Settings| settings.label = usual.map(Into::into);
    let mut stage = all_open(Stage::with(1, &Login::default(), label), 1);
    stage.wires[0].sent.clear();
    stage.play(script);
    String::from_utf8_lossy(&stage.wires[0].sent).into_owned()
}

/// Acquires, tops up after the master has lost the key, extends and releases.
fn cycle(options: &str) -> String {
    format!(
        "wall 999999
         acquire 1 r {options}
         n1 < ..
         n1 > ok
         = acquired ..
         extend 2 of 1
         n1 < EVALSHA extend ..
         n1 > 1
         = extended ..
         release 3 of 1
         n1 < ..
         n1 > 1
         = released 3"
    )
}

/// Returns what stands behind the tokens in `sent`: each, and how often.
fn behind(sent: &str) -> Vec<(String, usize)> {
    let is_token = |word: &&str| {
        let (token, _) = word.split_once(':').unwrap_or((word, ""));
        token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut found: Vec<(String, usize)> = Vec::new();
    for word in sent.split("\r\n").filter(is_token) {
        let behind = &word[32..];
        match found.iter_mut().find(|(label, _)| label == behind) {
            Some((_, times)) => *times += 1,
            None => found.push((behind.to_owned(), 1)),
        }
    }
    found
}

#[test]
fn every_command_of_a_claim_has_the_same_value() {
    for (usual, options, value) in [
        (None, "", ""),
        (Some("usual"), "", ":usual"),
        (None, "label me", ":me"),
        (Some("usual"), "label me", ":me"),
        (Some("usual"), "label me fenced", ":me"),
        (None, "candidate 10.0.0.7:8080 fenced", ":10.0.0.7:8080;term=1000000"),
        (Some("usual"), "candidate 10.0.0.7:8080 fenced", ":10.0.0.7:8080;term=1000000"),
        (None, "candidate x;term= fenced", ":x;term=;term=1000000"),
    ] {
        let sent = behind(&sent(usual, &cycle(options)));
        assert_eq!(sent, [(value.to_owned(), 3)], "{usual:?} {options}");
    }
}

#[test]
fn an_empty_label_leaves_the_token_alone() {
    use crate::shared::{AcquireRequest, Keys, Label};
    use std::time::Duration;
    let label = |settings: &mut Settings| settings.label = Some("usual".into());
    let mut stage = all_open(Stage::with(1, &Login::default(), label), 1);
    stage.acquire(
        1,
        AcquireRequest {
            keys: Keys::one("r".into()),
            fences: None,
            ttl: Duration::from_secs(10).into(),
            lock_delay: Duration::ZERO.into(),
            wait: crate::quorum::Nanos::FOREVER,
            keep_alive: None,
            label: Some(Label::Holder("".into()).into()),
            at_least: None,
            keep_warm: crate::quorum::Nanos::ZERO,
            is_fair: false,
            probes: false,
        },
    );
    stage.pump();
    stage.steps("n1 < SET r #1 NX PX 10000 \n n1 > ok \n = acquired ..");
    assert_eq!(stage.machine.token(stage.hold(1)).map(|value| value.len()), Some(32));
}

#[test]
fn a_top_up_sets_the_value_that_the_acquire_has_set() {
    for (options, value) in
        [("label me", ":me"), ("candidate me fenced", ":me;term=1000000"), ("", "")]
    {
        let mut stage = all_open(Stage::new(3, &Login::default()), 3);
        stage.steps(&format!(
            "wall 999999
             acquire 1 r {options}
             n1-3 < ..
             n1-3 > ok
             = acquired .."
        ));
        stage.wires[2].sent.clear();
        stage.play(
            "extend 2 of 1
             n1-3 < EVALSHA extend ..
             n1-2 > 1
             = extended ..
             n3 > 0                     // has lost it
             n3 < ..
             n3 > ok
             release 3 of 1
             n1-3 < ..
             n1-3 > 1
             = released 3",
        );
        let sent = String::from_utf8_lossy(&stage.wires[2].sent).into_owned();
        assert_eq!(behind(&sent), [(value.to_owned(), 3)], "{options}");
    }
}

#[test]
fn each_attempt_of_a_candidate_has_the_term_that_it_proposes() {
    let sent = sent(
        None,
        "wall 999999
         acquire 1 r candidate me fenced
         n1 < EVALSHA acquire 2 r fence:r #1 10000 0 1000000 2000000 2000000 ..
         n1 > refuses -1 0 2500000 1000000
         n1 < EVAL release_all ..
         n1 < EVALSHA acquire 2 r fence:r #2 10000 0 ..
         n1 > 0
         n1 > ok
         = acquired 1 until 9898ms with 2500001
         drop 1
         n1 < EVAL ..
         n1 > 1",
    );
    let expected = [(":me;term=1000000".to_owned(), 2), (":me;term=2500001".to_owned(), 2)];
    assert_eq!(behind(&sent), expected);
}

const TOKEN: &str = "00000000000000000000000000000abc";

/// Plays a wait of which the second attempt, its last, gets these answers to its looks.
fn contended(answers: [String; 3], ends: &str) {
    let [first, second, third] = answers;
    play(
        3,
        &format!(
            "acquire 1 r wait 2ms
             n1-3 < SET ..
             n1-3 > nil
             n3 < EVAL ..
             n3 > 0
             +2ms
             n1-3 < EVAL look 1 r
             n1-3 < SET ..
             n1 > {first}
             n2 > {second}
             n3 > {third}
             n1-2 > nil
             n3 < EVAL ..
             = {ends}
             n3 > nil"
        ),
    );
}

#[test]
fn the_failure_names_the_holder_that_most_masters_name() {
    let held = |behind: &str| format!("held 900 {TOKEN}{behind}");
    let reports = "held, expires in 900 ms | held, expires in 900 ms | not waited for";
    for (answers, by) in [
        ([held(":a"), held(":a"), held(":b")], " by a"),
        ([held(":a"), held(":b"), held(":b")], ""), // the third has not refused by then
        ([held(":a"), held(""), held(":a")], ""),
        ([held(":a;term=7"), held(":a;term=7"), held(":a;term=7")], " by a"),
        ([held(""), held(""), held("")], ""),
        (["held 900 mine:a".into(), "held 900 mine:a".into(), held(":a")], ""),
        ([held(":a"), "900".into(), held(":a")], ""), // no text
    ] {
        contended(answers, &format!("contended 1 at 2 after 2ms{by}: {reports}"));
    }
    let none = "held | held, expires in 900 ms | not waited for";
    for (first, by) in [("-2".to_owned(), " by a"), (format!("held -1 {TOKEN}:a"), " by a")] {
        let answers = [first, held(":a"), held(":a")];
        contended(answers, &format!("contended 1 at 2 after 2ms{by}: {none}"));
    }
    let denied = "-NOPERM User ann has no permissions to run the 'pttl' command".to_owned();
    let none = "contended 1 at 2 after 2ms: held | held | not waited for";
    contended([denied.clone(), denied.clone(), denied], none);
}

#[test]
fn one_attempt_asks_for_no_holder() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > nil
         = contended 1 at 1 after 0ms: held",
    );
}
