//! A list of locks over embedded masters, and what the masters can do to it.

use crate::support::prelude::*;
use quorumlock::embedded::{Masters, Memory};
use quorumlock::{ListError, Redlock};

/// Returns the names that are listed, the problems, and whether all may be missing something.
async fn listed(redlock: &Redlock) -> (Vec<String>, Vec<String>, bool) {
    let (mut locks, mut names, mut is_complete) = (redlock.list(""), Vec::new(), true);
    while let Some(lock) = locks.next().await {
        match lock {
            Ok(lock) => names.push(lock.resource().to_owned()),
            Err(ListError::Incomplete(_)) => is_complete = false,
            Err(other) => panic!("{other}"),
        }
    }
    names.sort();
    let problems = locks.problems().iter().map(|found| found.problem.to_string()).collect();
    (names, problems, is_complete)
}

async fn holding(masters: &Masters) -> (Redlock, quorumlock::Guard) {
    let redlock = masters.builder().connect().await.unwrap();
    let guard = redlock.acquire_all(["a", "b"]).ttl(LONG).await.unwrap();
    let all = async || masters.iter().all(|master| master.holder("b").is_some());
    eventually("all have it", SOON, all).await;
    (redlock, guard)
}

#[tokio::test]
async fn locks_are_listed_until_they_are_released() {
    for masters in [Masters::start(3).unwrap(), Masters::start_in_memory(3).unwrap()] {
        let (redlock, guard) = holding(&masters).await;
        let both = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(listed(&redlock).await, (both, Vec::new(), true));
        guard.release().await.unwrap();
        let gone = async || listed(&redlock).await == (Vec::new(), Vec::new(), true);
        eventually("they are gone", SOON, gone).await;
    }
}

#[tokio::test]
async fn a_master_that_may_not_be_scanned_is_a_problem() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (redlock, _guard) = holding(&masters).await;
    masters[0].deny(&["scan"]).unwrap();
    let (names, problems, is_complete) = listed(&redlock).await;
    assert_eq!((names.len(), problems.len(), is_complete), (2, 1, true), "{problems:?}");
    assert!(problems[0].starts_with("SCAN is denied (NOPERM"), "{problems:?}");
    assert!(problems[0].contains("grant +scan"), "{problems:?}");
    masters[1].deny(&["scan"]).unwrap();
    let (names, problems, is_complete) = listed(&redlock).await;
    assert_eq!((names.len(), problems.len(), is_complete), (2, 2, false), "{problems:?}");
    masters[1].deny(&["pubsub"]).unwrap();
    let lock = redlock.list("a").next().await.unwrap().unwrap();
    assert_eq!((lock.is_held(), lock.waiting()), (true, None));
}

#[tokio::test]
async fn what_a_master_says_that_warms_up_does_not_count() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (redlock, _guard) = holding(&masters).await;
    masters[2].kill();
    masters[2].restart(Memory::Lost).unwrap();
    let (names, problems, is_complete) = listed(&redlock).await;
    assert_eq!((names.len(), is_complete), (2, true), "{problems:?}");
    assert!(problems[0].starts_with("warming up (may vote in "), "{problems:?}");
    masters[1].kill();
    let (names, problems, is_complete) = listed(&redlock).await;
    assert_eq!((names.len(), problems.len(), is_complete), (2, 2, false), "{problems:?}");
}

/// A list that is dropped has no task, and so no connection, left.
#[tokio::test]
async fn a_dropped_list_lets_go_of_its_connections() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (redlock, _guard) = holding(&masters).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let mut list = redlock.list("");
    list.next().await.unwrap().unwrap();
    drop(list);
    eventually("its tasks have ended", SOON, async || tasks() <= before).await;
}

#[test]
fn without_a_runtime_nothing_is_listed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let redlock = runtime.block_on(async {
        let masters = Masters::start_in_memory(3).unwrap();
        masters.builder().connect().await.unwrap()
    });
    let first = futures::executor::block_on(redlock.list("").next());
    assert!(matches!(first, Some(Err(ListError::WrongContext(_)))), "{first:?}");
}

#[test]
fn threads_list_locks_and_take_one_from_a_reader() {
    use quorumlock::Wait;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { Masters::start(3).unwrap() });
    let client = || masters.builder().ttl(LONG).own_thread(true).connect().wait().unwrap();
    let (here, there) = (client(), client());
    let _guard = here.acquire("a:1").wait().unwrap();
    let _reader = there.rw_lock("a:2").read().wait().unwrap();
    let mut locks = here.list("a:");
    let found = std::iter::from_fn(|| locks.next().wait());
    let names = found.map(|lock| lock.unwrap().resource().to_owned());
    let names: std::collections::BTreeSet<String> = names.collect();
    assert_eq!(names, ["a:1", "a:2"].map(str::to_owned).into());
    assert!(locks.next().wait().is_none() && locks.problems().is_empty());

    let inspection = here.inspect("a:2").wait().unwrap();
    let reader = &inspection.holder().unwrap().readers()[0];
    here.force_release_reader(&inspection, reader).wait().unwrap();
    here.rw_lock("a:2").write().wait().unwrap().release().wait().unwrap();

    [0, 1].into_iter().for_each(|node| masters[node].kill());
    let mut locks = here.list("").include_free();
    assert!(matches!(
        std::iter::from_fn(|| locks.next().wait()).last(),
        Some(Err(ListError::Incomplete(_)))
    ));
    assert_eq!(locks.problems().len(), 2, "{locks:?}");
}

#[tokio::test]
async fn in_async_code_no_thread_waits_for_a_list() {
    use quorumlock::Wait;
    let masters = Masters::start_in_memory(1).unwrap();
    let connect =
        tokio::task::spawn_blocking(move || masters.builder().own_thread(true).connect().wait());
    let mut locks = connect.await.unwrap().unwrap().list("");
    assert!(matches!(locks.next().wait(), Some(Err(ListError::WrongContext(_)))));
}
