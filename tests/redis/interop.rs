//! Other clients on our masters: while one side holds a lock, the other is kept out, and neither
//! deletes the other's key. The Python clients are tested here; `benches/peers/tests/interop.rs`
//! makes the same claims for the Rust ones. `docs/interop.md` lists what each of them needs.

mod peer;
mod python;
mod scenes;
mod storm;
mod world;

use crate::support::prelude::*;
use peer::Peer;
use python::{Pottery, RedisPy};
use quorumlock::AcquireError;
use quorumlock::report::{Answer, Refusal};
use scenes::excludes;
use std::time::Duration;
use world::World;

excludes!(pottery, crate::interop::Pottery, crate::interop::python::is_ready());
excludes!(redis_py, crate::interop::RedisPy, crate::interop::python::is_ready());

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_never_expires_is_contended_without_a_time() {
    if !python::is_ready() {
        return;
    }
    let world = World::<RedisPy>::start().await;
    let held = world.theirs.attempt("r", Duration::ZERO).await.expect("a lock that is free");
    let theirs = world.settled("r").await;
    let asked_twice = async || {
        let error = world.ours.acquire("r").timeout(Duration::from_secs(1)).await.unwrap_err();
        let AcquireError::Contended(error) = error else { panic!("{error}") };
        assert_eq!(error.nodes[0].answer, Answer::Refused(Refusal::Held { remaining: None }));
        error.attempts > 1
    };
    eventually("it is asked for how long yet", world::PATIENCE, asked_twice).await;
    assert_eq!(world.standing("r").await, theirs);
    world.theirs.release(held).await;
    world.assert_free("r").await;
}

#[test]
fn the_page_says_how_each_names_its_keys() {
    let page = include_str!("../../docs/interop.md");
    let row = |peer: &str| page.lines().find(|line| line.starts_with(&format!("| {peer} ")));
    assert!(row("pottery").unwrap().contains(&format!("key_prefix(\"{}\")", Pottery::PREFIX)));
    assert!(row("redis-py").unwrap().contains("nothing"));
    let wanted = include_str!("interop/requirements.txt");
    for (peer, package) in [("pottery", "pottery=="), ("redis-py", "redis==")] {
        let pinned = wanted.lines().find_map(|line| line.strip_prefix(package)).unwrap();
        let version = pinned.trim_end_matches([' ', '\\']);
        assert!(row(peer).unwrap().contains(version), "{peer} {version}");
    }
}
