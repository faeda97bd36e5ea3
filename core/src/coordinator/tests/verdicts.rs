//! The verdict as early as it can be decided, for every number of masters, and the name of the
//! failure.

use super::{open, play};

/// Masters, their answers in order (`g`ranted, `r`efused, `d`own before the attempt, `t`imed out at
/// the end), and the number of answers until it is decided.
const LOSSES: [(usize, &str, usize); 16] = [
    (1, "r", 1),
    (2, "r_", 1),
    (2, "gr", 2),
    (3, "rr_", 2),
    (3, "grr", 3),
    (4, "rr__", 2),
    (4, "ggrr", 4),
    (4, "grgr", 4),
    (4, "dr__", 2),
    (5, "rrr__", 3),
    (5, "rgrgr", 5),
    (5, "ddr__", 3),
    (5, "ddd__", 3),
    (6, "rrr___", 3),
    (6, "gggrrr", 6),
    (7, "rrrr___", 4),
];

#[test]
fn a_loss_is_reported_as_soon_as_a_quorum_is_out_of_reach() {
    for (masters, answers, decisive) in LOSSES {
        let mut stage = open(masters);
        for (node, _) in answers.match_indices('d') {
            stage.steps(&format!("n{} breaks", node + 1));
        }
        stage.steps("acquire 1 r");
        for (node, glyph) in answers.char_indices() {
            let lost = stage.unseen.len() == 1;
            let settled = answers[..node].chars().all(|other| other == 'd') && glyph == 'd';
            assert!(settled || lost == (node >= decisive), "{answers}, before n{}", node + 1);
            match glyph {
                'g' => stage.steps(&format!("n{} > ok", node + 1)),
                'r' => stage.steps(&format!("n{} > nil", node + 1)),
                _ => {}
            }
        }
        assert_eq!(stage.unseen.len(), 1, "{answers} is a loss");
    }
}

/// Masters and the grants that win.
const WINS: [(usize, usize); 7] = [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4)];

#[test]
fn a_win_takes_more_than_half() {
    for (masters, grants) in WINS {
        let mut stage = open(masters);
        stage.steps("acquire 1 r");
        for node in (masters + 1 - grants..=masters).rev() {
            stage.steps(&format!("= - \n n{node} > ok"));
        }
        stage.steps("= acquired 1 until 9898ms");
    }
}

/// The masters' answers (`g`ranted, `h`eld, `e`rror, `t`imed out, `d`own, `l`ost in flight, `_` not
/// waited for), and the name of the failure.
const FAILURES: [(&str, &str); 20] = [
    ("hhh__", "contended"),
    ("hhhgg", "contended"),
    ("gghhh", "contended"),
    ("ghghh", "contended"),
    ("hhheg", "contended"),
    ("hhd", "contended"),
    ("dhh", "contended"),
    ("ghdh_", "contended"),
    ("hheg", "contended"),
    ("hh__", "contended"),
    ("h", "contended"),
    ("hdd", "no quorum"),
    ("gdd", "no quorum"),
    ("htt", "no quorum"),
    ("ee_", "no quorum"),
    ("ll_", "no quorum"),
    ("hdttt", "no quorum"),
    ("ehd__", "contended"),
    ("ehdd_", "no quorum"),
    ("ddddd", "no quorum"),
];

#[test]
fn a_failure_is_contention_only_if_a_quorum_could_have_voted() {
    for (answers, kind) in FAILURES {
        let mut stage = open(answers.len());
        for (node, _) in answers.match_indices('d') {
            stage.steps(&format!("n{} breaks", node + 1));
        }
        stage.steps("acquire 1 r");
        for (node, glyph) in answers.char_indices() {
            match glyph {
                'g' => stage.steps(&format!("n{} > ok", node + 1)),
                'h' => stage.steps(&format!("n{} > nil", node + 1)),
                'e' => stage.steps(&format!("n{} > -OOM command not allowed", node + 1)),
                'l' => stage.steps(&format!("n{} breaks", node + 1)),
                _ => {}
            }
        }
        if answers.contains('t') {
            stage.steps("+200ms");
        }
        assert_eq!(stage.unseen.len(), 1, "{answers}: {:?}", stage.unseen);
        assert!(stage.unseen[0].starts_with(kind), "{answers} is {kind}: {}", stage.unseen[0]);
    }
}

#[test]
fn a_failure_says_what_each_master_said() {
    play(
        5,
        "n5 breaks
         acquire 1 r
         n1-4 < SET r #1 NX PX 10000
         n1 > ok
         n2 > nil
         n3 > -OOM command not allowed when used memory > 'maxmemory'.
         n1,n3-4 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: granted | held | refused by the server (OOM command not \
           allowed when used memory > 'maxmemory'.) | not waited for | down (reset by peer)",
    );
}

#[test]
fn masters_that_fall_silent_together_are_all_reported_silent() {
    play(
        5,
        "acquire 1 r
         n1-5 < SET r #1 NX PX 10000
         n1 > nil
         +200ms
         n2-5 < EVAL release 1 r #1
         = no quorum 1 at 1 after 200ms: held | no answer in time | no answer in time | \
           no answer in time | no answer in time",
    );
}

#[test]
fn a_quorum_that_granted_too_late_is_no_contention() {
    play(
        3,
        "acquire 1 r ttl 20ms
         n1-3 < SET ..
         n3 > nil
         n1 > ok
         ~17.8ms                        // a round of 2 ms is judged that late
         n2 > ok
         n1-2 < EVAL ..
         = no quorum 1 at 1 after 17.8ms: granted | granted | held",
    );
}
