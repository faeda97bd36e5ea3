//! Two lists of masters: `b` is in both, `n` in the new one alone, `o` in the old one alone.

use super::open_lists;
use super::stage::Stage;

/// The usual change, one of five replaced: n5 is added, n6 removed.
const CHANGE: &str = "bbbbno";

fn play(script: &str) {
    open_lists(CHANGE).play(script);
}

/// The state of the masters before the attempt (`d`own), or their answers to it in their order
/// (`g`ranted, `h`eld, `e`rror, `t`imed out at the end, `_` not waited for); and the result,
/// decided by the last answer that is not `_` or `t`.
const ATTEMPTS: [(&str, &str, &str); 19] = [
    (CHANGE, "ggg___", "acquired"),
    (CHANGE, "ggd_gg", "acquired"),
    (CHANGE, "ddgggg", "acquired"),
    ("nnboo", "ggdgg", "acquired"),
    ("nnboo", "gdggd", "acquired"),
    ("nnboo", "gd_g_", "pending"),
    (CHANGE, "gg__g_", "pending"),
    (CHANGE, "gg___g", "pending"),
    (CHANGE, "hge__g", "pending"),
    (CHANGE, "gghh_h", "contended"),
    (CHANGE, "gghhh_", "contended"),
    (CHANGE, "hhh___", "contended"),
    ("nnboo", "gghh_", "contended"),
    ("nnnooo", "gh_hh_", "contended"),
    // Another client holds it, but in one list too few could vote.
    ("nnnooo", "hggttt", "no quorum"),
    ("nnnooo", "tttghg", "no quorum"),
    (CHANGE, "htttgg", "no quorum"),
    (CHANGE, "ggee_e", "no quorum"),
    (CHANGE, "gddgdg", "no quorum"),
];

fn attempt(lists: &str, votes: &str) -> Stage {
    let mut stage = open_lists(lists);
    for (node, _) in votes.match_indices('d') {
        stage.steps(&format!("n{} breaks", node + 1));
    }
    stage.steps("acquire 1 r");
    for (node, glyph) in votes.char_indices() {
        let answer = match glyph {
            'g' => "ok",
            'h' => "nil",
            'e' => "-OOM command not allowed",
            _ => continue,
        };
        let sent = stage.wires[node].unseen.iter().any(|sent| sent.starts_with("SET"));
        if sent {
            let rest = votes[node..].trim_end_matches(['_', 't', 'd']);
            assert!(rest.is_empty() || stage.unseen.is_empty(), "{lists} {votes}: before n{node}");
            stage.steps(&format!("n{} > {answer}", node + 1));
        }
    }
    if votes.contains('t') {
        stage.steps("+200ms");
    }
    stage
}

#[test]
fn an_attempt_needs_both_quorums_and_fails_once_one_is_lost() {
    for (lists, votes, expected) in ATTEMPTS {
        let stage = attempt(lists, votes);
        match expected {
            "pending" => assert!(stage.unseen.is_empty(), "{lists} {votes}: {:?}", stage.unseen),
            kind => {
                let event = stage.unseen.front().map_or("", String::as_str);
                assert!(event.starts_with(kind), "{lists} {votes} is {kind}: {event}");
            }
        }
    }
}

#[test]
fn nothing_is_sent_that_one_list_could_not_win() {
    for (down, sent) in [("n1-2", true), ("n1,n6", true), ("n1-2,n6", false), ("n1-2,n5", false)] {
        let mut stage = open_lists(CHANGE);
        stage.steps(&format!("{down} breaks"));
        stage.steps("acquire 1 r");
        let asked = stage.wires.iter().any(|wire| !wire.unseen.is_empty());
        assert_eq!(asked, sent, "without {down}");
    }
}

#[test]
fn a_master_of_both_lists_is_asked_once_and_reported_once() {
    play(
        "acquire 1 r
         n1-6 < SET r #1 NX PX 10000
         n1-6 < -
         n1-2 > ok
         n3-5 > nil
         n1-2,n6 < EVAL release 1 r #1
         n1-6 < -
         = contended 1 at 1 after 0ms: granted | granted | held | held | held | not waited for",
    );
}

#[test]
fn an_extension_needs_a_quorum_of_each_list() {
    play(
        "acquire 1 r ttl 1s
         n1-6 < SET r #1 NX PX 1000
         n1-6 > ok
         = acquired 1 until 988ms
         +100ms
         extend 2 of 1
         n1-6 < EVALSHA extend 1 r #1 1000
         n1-2 > 1
         n5 > 1                         // three of the new list
         = -
         n6 > 1
         = extended 2 until 1088ms
         n3-4 > 1",
    );
}

#[test]
fn an_extension_unanswered_by_one_list_leaves_the_hold_intact() {
    play(
        "acquire 1 r
         n1-6 < SET r #1 NX PX 10000
         n1-6 > ok
         = acquired 1 until 9898ms
         n3-4,n6 breaks                 // of the old list two are left
         extend 2 of 1
         n1-2,n5 < EVALSHA ..
         n1-2,n5 > 1
         = extend 2 unconfirmed: held by us | held by us | down (reset by peer) | \
           down (reset by peer) | held by us | down (reset by peer)",
    );
}

#[test]
fn a_hold_is_lost_as_soon_as_one_list_is_known_not_to_hold_it() {
    for (gone, others) in [("n3-4,n6", "n1-2,n5"), ("n1-2,n5", "n3-4,n6")] {
        let mut stage = open_lists(CHANGE);
        stage.steps(
            "acquire 1 r
             n1-6 < SET r #1 NX PX 10000
             n1-6 > ok
             = acquired 1 until 9898ms
             extend 2 of 1
             n1-6 < EVALSHA ..",
        );
        stage.steps(&format!("{others} > 1 \n = - \n {gone} > 0"));
        stage.play("= lost 1: quorum gone: .. \n = extend 2 lost");
    }
}

#[test]
fn a_release_goes_to_all_and_needs_a_quorum_of_each_list() {
    play(
        "acquire 1 r
         n1-6 < SET r #1 NX PX 10000
         n1-6 > ok
         = acquired 1 until 9898ms
         release 2 of 1
         n1-6 < EVAL release 1 r #1
         n1-2,n5 > 1
         = -
         n6 > 1
         = released 2
         n3-4 > 1",
    );
}

#[test]
fn a_release_that_one_list_cannot_confirm_is_reported_so() {
    play(
        "acquire 1 r
         n1-6 < SET r #1 NX PX 10000
         n1-6 > ok
         = acquired 1 until 9898ms
         release 2 of 1
         n1-6 < EVAL release 1 r #1
         n1-2,n5 > 1
         n3 > 0
         n4 > -LOADING
         = -
         n6 > 0
         = release 2 unconfirmed: ..",
    );
}

#[test]
fn a_lock_gone_on_one_list_is_lost_though_the_other_confirms() {
    play(
        "acquire 1 r
         n1-6 < SET r #1 NX PX 10000
         n1-6 > ok
         = acquired 1 until 9898ms
         release 2 of 1
         n1-6 < EVAL release 1 r #1
         n1-2,n5 > 1
         n3-4 > 0
         = -
         n6 > 0
         = release 2 lost: quorum gone: ..",
    );
}

#[test]
fn a_starved_waiter_is_woken_once_a_quorum_of_each_list_is_open() {
    play(
        "n1-3,n6 restarts
         acquire 1 r wait 10s
         +50ms
         n1 opens                       // three of the new list
         n1,n4-5 < -
         n6 opens
         n1,n4-6 < EVAL look 1 r
         n1,n4-6 < SET r #1 NX PX 10000
         n1,n4-6 > -2
         n1,n4-6 > ok
         = acquired 1 ..
         n2-3 < DIAL",
    );
}

#[test]
fn one_server_under_two_spellings_says_how_to_name_it() {
    let mut stage = open_lists("bno");
    stage.play(
        "n3 restarts
         +50ms
         n3 < DIAL
         n3 connects
         n3 < HELLO ..
         n3 asks
         n3 > hello 9
         n3 > server run1
         n3 > master
         n3 > agreed
         n3 < CLOSE
         fault n3 unfit the same server as n1: each master counts once, and one that is in both \
           lists is spelled alike in both",
    );
}
