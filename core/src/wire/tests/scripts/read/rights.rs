//! A reader that could not be extended or released later is not let in.

use super::readers::{Act, Answer};
use super::stage::{Keys, Stage};

const COMMANDS: [&str; 5] = ["zadd", "zrem", "zscore", "zrange", "zremrangebyscore"];

fn assert_nothing_is_written(keys: &Keys, act: &Act) {
    for denied in COMMANDS {
        let mut stage = Stage::with(keys);
        stage.machine.deny(&[denied]).unwrap();
        let answer = stage.act(act);
        let Answer::Error(error) = &answer else { panic!("{answer:?} without {denied}") };
        assert!(error.contains("can't run this command"), "{error}");
        stage.machine.deny(&[]).unwrap();
        stage.assert_keys(keys, denied);
    }
}

#[test]
fn a_grant_without_a_right_that_readers_need_writes_nothing() {
    let act = Act::Read { name: "mine".into(), life: 1_000, was_let_in: false };
    assert_nothing_is_written(&Keys::nothing(), &act);
    assert_nothing_is_written(&Keys::read_by([("a", 500)]), &act);
    assert_nothing_is_written(&Keys::read_by([("mine", 300), ("a", 500)]), &act);
}

#[test]
fn a_downgrade_without_a_right_that_readers_need_leaves_the_writer() {
    let act = Act::Extend { name: "mine".into(), life: 1_000 };
    assert_nothing_is_written(&Keys::held_by("mine", 300), &act);
}
