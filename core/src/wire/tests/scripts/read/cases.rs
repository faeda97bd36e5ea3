//! Every kind of state that a script of readers can find.

use super::readers::{Act, Answer, LOCK, Master, READERS, RELEASE};
use super::stage::{Keys, Stage};
use quorumlock_embedded::Output;

const LIFE: i64 = 1_000;

fn assert_each(act: &Act, cases: Vec<(Keys, Answer, Keys)>) {
    for (before, answer, after) in cases {
        let mut stage = Stage::with(&before);
        assert_eq!(stage.act(act), answer, "{before:?}");
        stage.assert_keys(&after, &format!("{before:?}"));
    }
}

fn refused(why: i64, left: i64) -> Answer {
    let zero = || Answer::Text("0".into());
    Answer::List(vec![Answer::Int(why), Answer::Int(left), zero(), zero()])
}

fn unchanged(keys: Keys, answer: Answer) -> (Keys, Answer, Keys) {
    (keys.clone(), answer, keys)
}

/// What lets a reader in, as long as no hint stands.
fn grants() -> Vec<(Keys, Answer, Keys)> {
    let granted = |before: Keys, after: Keys| (before, Answer::Okay, after);
    vec![
        granted(Keys::nothing(), Keys::read_by([("mine", LIFE)])),
        granted(Keys::read_by([("mine", 300)]), Keys::read_by([("mine", LIFE)])),
        granted(Keys::read_by([("mine", 3_000)]), Keys::read_by([("mine", 3_000)])),
        granted(Keys::read_by([("a", 500)]), Keys::read_by([("a", 500), ("mine", LIFE)])),
        granted(Keys::read_by([("a", 5_000)]), Keys::read_by([("mine", LIFE), ("a", 5_000)])),
        granted(
            Keys::read_by([("gone", -1), ("last moment", 0), ("a", 400)]),
            Keys::read_by([("last moment", 0), ("a", 400), ("mine", LIFE)]),
        ),
        granted(
            Keys::read_by([("mine", -1), ("a", 5_000)]),
            Keys::read_by([("mine", LIFE), ("a", 5_000)]),
        ),
        // The mark was deleted, or overwritten by a lock that has ended: they do not read.
        granted(
            Keys::nothing().beside([("mine", 3_000), ("a", 5_000)]),
            Keys::read_by([("mine", LIFE)]),
        ),
    ]
}

#[test]
fn a_reader_is_let_in_where_nothing_is_or_others_read() {
    let act = Act::Read { name: "mine".into(), life: LIFE, was_let_in: false };
    assert_each(&act, grants());
}

#[test]
fn a_new_reader_is_refused_by_a_hint_and_every_reader_by_a_writer() {
    let beneath = [("mine", 700), ("a", 9_000)];
    let held = || {
        vec![
            unchanged(Keys::held_by("theirs", 5_000), refused(0, 5_000)),
            unchanged(Keys::held_by("theirs", 5_000).wanted(3_000), refused(0, 5_000)),
            unchanged(Keys::held_by("theirs", 0), refused(0, 0)),
            unchanged(Keys::held_by("theirs", 5_000).beside(beneath), refused(0, 5_000)),
            unchanged(Keys::held_by("mine", 5_000), refused(0, 5_000)),
        ]
    };
    let wanted = grants().into_iter().map(|(before, ..)| {
        let before = before.wanted(3_000);
        unchanged(before, refused(1, 3_000))
    });
    let new = Act::Read { name: "mine".into(), life: LIFE, was_let_in: false };
    assert_each(&new, held().into_iter().chain(wanted).collect());

    let in_spite = grants().into_iter();
    let in_spite =
        in_spite.map(|(before, answer, after)| (before.wanted(3_000), answer, after.wanted(3_000)));
    let top_up = Act::Read { name: "mine".into(), life: LIFE, was_let_in: true };
    assert_each(&top_up, held().into_iter().chain(in_spite).collect());
}

#[test]
fn an_extension_prolongs_a_reader_and_never_shortens_it() {
    let held = |before: Keys, after: Keys| (before, Answer::Int(1), after);
    let act = Act::Extend { name: "mine".into(), life: LIFE };
    let mut cases = vec![
        held(Keys::read_by([("mine", 300)]), Keys::read_by([("mine", LIFE)])),
        held(Keys::read_by([("mine", 0)]), Keys::read_by([("mine", LIFE)])),
        held(Keys::read_by([("mine", 5_000)]), Keys::read_by([("mine", 5_000)])),
        held(
            Keys::read_by([("gone", -1), ("mine", 300), ("a", 500)]),
            Keys::read_by([("a", 500), ("mine", LIFE)]),
        ),
        held(
            Keys::read_by([("mine", 300), ("a", 5_000)]),
            Keys::read_by([("mine", LIFE), ("a", 5_000)]),
        ),
    ];
    // A reader that was let in stays, whether a writer waits or not.
    let wanted = cases.clone().into_iter();
    let wanted =
        wanted.map(|(before, answer, after)| (before.wanted(3_000), answer, after.wanted(3_000)));
    cases.extend(wanted.collect::<Vec<_>>());
    assert_each(&act, cases);
}

#[test]
fn an_extension_of_nothing_is_vacant_and_beneath_a_writer_taken() {
    let act = Act::Extend { name: "mine".into(), life: LIFE };
    assert_each(
        &act,
        vec![
            unchanged(Keys::nothing(), Answer::Int(0)),
            unchanged(Keys::read_by([("a", 5_000)]), Answer::Int(0)),
            (
                Keys::read_by([("mine", -1), ("a", 5_000)]),
                Answer::Int(0),
                Keys::read_by([("a", 5_000)]),
            ),
            unchanged(Keys::nothing().beside([("mine", 3_000)]), Answer::Int(0)),
            unchanged(Keys::held_by("theirs", 5_000), Answer::Int(-1)),
            unchanged(Keys::held_by("theirs", 5_000).beside([("mine", 300)]), Answer::Int(-1)),
        ],
    );
}

#[test]
fn a_writer_that_extends_as_a_reader_becomes_one() {
    let act = Act::Extend { name: "mine".into(), life: LIFE };
    let held = |before: Keys, after: Keys| (before, Answer::Int(1), after);
    assert_each(
        &act,
        vec![
            held(Keys::held_by("mine", 300), Keys::read_by([("mine", LIFE)])),
            held(Keys::held_by("mine", 0), Keys::read_by([("mine", LIFE)])),
            held(Keys::held_by("mine", 5_000), Keys::read_by([("mine", 5_000)])),
            held(
                Keys::held_by("mine", 300).wanted(3_000),
                Keys::read_by([("mine", LIFE)]).wanted(3_000),
            ),
            // Those that read before the mark was deleted do not read again.
            held(
                Keys::held_by("mine", 300).beside([("mine", 7_000), ("a", 9_000)]),
                Keys::read_by([("mine", LIFE)]),
            ),
        ],
    );
}

#[test]
fn a_release_takes_a_reader_away_and_the_mark_ends_with_the_last_that_is_left() {
    let act = Act::Release { name: "mine".into() };
    let left = |before: Keys, after: Keys| (before, Answer::Int(1), after);
    assert_each(
        &act,
        vec![
            left(Keys::read_by([("mine", 300)]), Keys::nothing()),
            left(Keys::read_by([("a", 500), ("mine", 5_000)]), Keys::read_by([("a", 500)])),
            left(Keys::read_by([("mine", 300), ("a", 500)]), Keys::read_by([("a", 500)])),
            left(Keys::read_by([("gone", -1), ("mine", 5_000)]), Keys::nothing()),
            left(Keys::read_by([("mine", 300)]).wanted(3_000), Keys::nothing().wanted(3_000)),
            // A master that has not heard of the downgrade, or of the grant either.
            left(Keys::held_by("mine", 300), Keys::nothing()),
            left(Keys::held_by("mine", 300).beside([("a", 9_000)]), Keys::nothing()),
        ],
    );
}

#[test]
fn a_release_of_what_is_not_ours_changes_nothing() {
    let act = Act::Release { name: "mine".into() };
    assert_each(
        &act,
        vec![
            unchanged(Keys::nothing(), Answer::Int(0)),
            unchanged(Keys::held_by("theirs", 5_000), Answer::Int(0)),
            unchanged(Keys::held_by("theirs", 5_000).beside([("mine", 300)]), Answer::Int(0)),
            unchanged(Keys::nothing().beside([("mine", 300)]), Answer::Int(0)),
            unchanged(Keys::read_by([("a", 500)]), Answer::Int(0)),
            (
                Keys::read_by([("mine", -1), ("a", 500)]),
                Answer::Int(0),
                Keys::read_by([("a", 500)]),
            ),
        ],
    );
    let nameless = Act::Release { name: String::new() };
    assert_each(&nameless, vec![unchanged(Keys::held_by("", 5_000), Answer::Int(0))]);
}

#[test]
fn a_release_notifies_only_once_no_client_reads_any_more() {
    for (before, channels, notifies) in [
        (Keys::read_by([("mine", 300)]), Some("free:"), true),
        (Keys::read_by([("gone", -1), ("mine", 300)]), Some("free:"), true),
        (Keys::held_by("mine", 300), Some("free:"), true),
        (Keys::read_by([("mine", 300), ("a", 500)]), Some("free:"), false),
        (Keys::read_by([("a", 500)]), Some("free:"), false),
        (Keys::nothing(), Some("free:"), false),
        (Keys::read_by([("mine", 300)]), None, false),
    ] {
        let mut stage = Stage::with(&before);
        let waiter = stage.subscribe("free:r");
        let mut words = vec!["EVAL", RELEASE, "2", LOCK, READERS, "mine"];
        words.extend(channels);
        let (answer, others) = stage.ask_beside(&words);
        let message = b"*3\r\n$7\r\nmessage\r\n$6\r\nfree:r\r\n$7\r\nwriters\r\n";
        let expected = notifies.then(|| Output::Send(waiter, message.to_vec()));
        assert_eq!(others, expected.into_iter().collect::<Vec<_>>(), "{before:?} {answer:?}");
    }
}

/// An operator may deny channels: the lock is released all the same.
#[test]
fn a_release_that_may_not_notify_is_a_release() {
    let mut stage = Stage::with(&Keys::read_by([("mine", 300)]));
    stage.machine.deny(&["publish"]).unwrap();
    let answer = stage.ask(&["EVAL", RELEASE, "2", LOCK, READERS, "mine", "free:"]);
    assert_eq!(answer, Answer::Int(1));
    stage.assert_keys(&Keys::nothing(), "released");
}
