//! Names with whatever can stand in text: each kind of lock works by each, and a list has them as they are.

use crate::support::prelude::*;
use quorumlock::embedded::Masters;
use quorumlock::{Redlock, kind::Held};
use std::collections::BTreeSet;
use std::fmt::Debug;

fn names() -> Vec<String> {
    let names = [
        "a b",
        " a ",
        "\t",
        "a\r\nb",
        "\n",
        "a\0b",
        "*",
        "?",
        "[a-z]",
        "[",
        "\\",
        "a\\*b",
        "{tag}",
        "}{",
        "a:b",
        ":",
        "%s",
        "🔒",
        "ä\u{301}",
        "\u{202e}abc",
    ];
    let mut names: Vec<_> = names.map(str::to_owned).into();
    names.push("x".repeat(4_096));
    names
}

async fn listed(redlock: &Redlock) -> BTreeSet<String> {
    let (mut locks, mut names) = (redlock.list(""), BTreeSet::new());
    while let Some(lock) = locks.next().await {
        names.insert(lock.unwrap().resource().to_owned());
    }
    names
}

/// Holds the lock by each name at once, and looks at the list.
async fn assert_listed<G>(redlock: &Redlock, acquire: impl Fn(&str) -> quorumlock::Acquire<G>)
where
    G: Held<Guard: Send, Error: Debug>,
{
    let mut held = Vec::new();
    for name in names() {
        held.push(acquire(&name).await.unwrap());
    }
    assert_eq!(listed(redlock).await, BTreeSet::from_iter(names()));
    drop(held);
    eventually("all are free", SOON, async || listed(redlock).await.is_empty()).await;
}

#[tokio::test]
async fn each_kind_of_lock_has_every_name_exactly() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let (ours, reentrant) = (&redlock, redlock.reentrant());
    assert_listed(ours, |name| ours.acquire(name)).await;
    assert_listed(ours, |name| ours.acquire(name).fair(true)).await;
    assert_listed(ours, |name| ours.acquire(name).fenced()).await;
    assert_listed(ours, |name| ours.acquire_all([name])).await;
    assert_listed(ours, |name| ours.rw_lock(name).read()).await;
    assert_listed(ours, |name| ours.rw_lock(name).write()).await;
    assert_listed(ours, |name| ours.semaphore(name, 2).acquire()).await;
    assert_listed(ours, |name| reentrant.acquire(name)).await;
}
