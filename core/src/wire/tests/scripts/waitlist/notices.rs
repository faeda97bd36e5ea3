//! The notices to those that wait for a read-write lock.

use super::*;

const HINT: &str = "next:r";

fn notified(stage: &mut Stage, writers: bool) -> (Reply, Vec<String>) {
    let command = stage.packer.notify("free:", LOCK, HINT, writers).to_vec();
    stage.asks(&command)
}

#[test]
fn a_writers_release_notifies_readers_unless_a_writer_waits() {
    let mut stage = Stage::new(&[]);
    let messages = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(notified(&mut stage, true), (Reply::Int(1), messages(&["writers", "readers 1"])));
    stage.asks(&pack(&["SET", HINT, "theirs"]));
    assert_eq!(notified(&mut stage, true), (Reply::Int(1), messages(&["writers"])));
    assert_eq!(notified(&mut stage, false), (Reply::Int(1), messages(&["undone", "readers 1"])));
}
