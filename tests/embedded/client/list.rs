//! `Redlock::list`: what is held , and what only looks like it.

use super::prelude::*;
use futures::StreamExt;
use quorumlock::{AcquireError, Guard, ListError, ListedLock, Redlock, RedlockBuilder};
use redis::cmd;
use std::collections::BTreeMap;
use tokio::task::JoinHandle;

/// Returns everything that is listed, by the name of the resource. Nothing is listed twice.
async fn listed(redlock: &Redlock, prefix: &str) -> BTreeMap<String, ListedLock> {
    let found: Vec<_> = redlock.list(prefix).collect().await;
    let count = found.len();
    let named =
        found.into_iter().map(|result| result.map(|lock| (lock.resource().to_owned(), lock)));
    let named: BTreeMap<_, _> = named.collect::<Result<_, _>>().unwrap();
    assert_eq!(named.len(), count, "{named:?}");
    named
}

fn names(found: &BTreeMap<String, ListedLock>) -> Vec<&str> {
    found.keys().map(String::as_str).collect()
}

async fn on_all(masters: &[Master], command: &[&str]) {
    for server in masters {
        witness::ask::<()>(server, cmd(command[0]).arg(&command[1..])).await.unwrap();
    }
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef:worker";

#[tokio::test(start_paused = true)]
async fn what_a_quorum_holds_is_listed_and_nothing_else() {
    let masters = Masters::start(3);
    let patient = masters.builder().operation_timeout(900 * MS).label("worker-7");
    let redlock = patient.connect().await.unwrap();
    let _one = redlock.acquire("orders:1").ttl(LONG).await.unwrap();
    let _two = redlock.acquire_all(["orders:2", "invoices:2"]).ttl(LONG).await.unwrap();
    let _fenced = redlock.acquire("orders:3").fenced().ttl(LONG).await.unwrap();
    for key in ["orders:1", "orders:2", "invoices:2", "orders:3"] {
        everywhere(&masters, key).await;
    }
    // What an application has on these masters, and what an acquire has left behind.
    on_all(&masters[..1], &["SET", "session:1", "anything", "PX", "60000"]).await;
    on_all(&masters[1..2], &["SET", "session:2", "something", "PX", "60000"]).await;
    on_all(&masters, &["HSET", "hash", "field", "value"]).await;
    on_all(&masters, &["SET", "page", &"x".repeat(10_000)]).await;
    on_all(&masters[2..], &["SET", "left", TOKEN, "PX", "60000"]).await;

    let found = listed(&redlock, "").await;
    assert_eq!(names(&found), ["invoices:2", "orders:1", "orders:2", "orders:3"]);
    for lock in found.values() {
        assert!(lock.is_held() && lock.is_ours(), "{lock}");
        assert_eq!((lock.holder().label(), lock.held_on()), (Some("worker-7"), 3), "{lock}");
        assert!(lock.holder().remaining().is_some_and(|left| left <= LONG), "{lock}");
        assert_eq!(lock.waiting(), Some(0), "{lock}");
    }
    let [first, second, third] =
        ["orders:1", "orders:2", "invoices:2"].map(|name| found[name].holder());
    assert!(
        second.same_hold_as(third) && !first.same_hold_as(second),
        "resources that were locked together have one holder"
    );

    let orders = listed(&redlock, "orders:").await;
    assert_eq!(names(&orders), ["orders:1", "orders:2", "orders:3"]);
    assert_eq!(names(&listed(&redlock, "orders:?").await), [""; 0]);

    let everything: Vec<_> = redlock.list("").include_free().collect().await;
    let mut rest: Vec<_> = everything.into_iter().map(Result::unwrap).collect();
    rest.retain(|lock| !lock.is_held());
    rest.sort_by_key(|lock| lock.resource().to_owned());
    let shown: Vec<_> =
        rest.iter().map(|lock| (lock.resource(), lock.held_on(), lock.is_ours())).collect();
    assert_eq!(shown, [("left", 1, true), ("session:1", 1, false), ("session:2", 1, false)]);
}

/// A quorum has the same value. Only its owner can say whether it is a lock.
#[tokio::test(start_paused = true)]
async fn a_key_of_another_kind_of_client_is_listed_with_a_mark() {
    let (masters, redlock) = three().await;
    on_all(&masters[..2], &["SET", "theirs", "f00d", "PX", "60000"]).await;
    on_all(&masters, &["SET", "forever", TOKEN]).await;
    let found = listed(&redlock, "").await;
    assert_eq!(names(&found), ["forever", "theirs"]);
    assert!(found.values().all(|lock| lock.is_held() && !lock.is_ours()), "{found:?}");
    assert_eq!(found["theirs"].held_on(), 2);
    redlock.force_release(found["theirs"].inspection()).await.unwrap();
    assert_eq!(names(&listed(&redlock, "").await), ["forever"]);
}

#[tokio::test(start_paused = true)]
async fn many_locks_among_more_keys_are_each_listed_once() {
    let (masters, redlock) = three().await;
    let fill = "for i = 1, tonumber(ARGV[1]) do
        redis.call('SET', 'app:' .. i, i, 'PX', 60000)
        if i % 10 == 0 then redis.call('SET', 'job:' .. i, ARGV[2], 'PX', 60000) end
    end";
    on_all(&masters, &["EVAL", fill, "0", "1500", TOKEN]).await;
    // Each lock is missing on one master, so that none of them alone has all.
    for (server, rest) in masters.iter().zip(["0", "1", "2"]) {
        let miss = "for i = 1, 150 do
            if i % 3 == tonumber(ARGV[1]) then redis.call('DEL', 'job:' .. 10 * i) end
        end";
        witness::ask::<()>(server, cmd("EVAL").arg(&[miss, "0", rest])).await.unwrap();
    }
    let found = listed(&redlock, "job:").await;
    assert_eq!(found.len(), 150);
    assert!(found.values().all(|lock| lock.held_on() == 2), "{found:?}");
    for server in &*masters {
        let stats = witness::info(server, "commandstats").await;
        assert!(!stats.contains_key("cmdstat_keys"), "{stats:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_that_is_down_is_a_problem_and_no_error() {
    let (masters, redlock) = five().await;
    let _guard = redlock.acquire("r").ttl(LONG).await.unwrap();
    everywhere(&masters, "r").await;
    masters.kill(0);
    masters[3].stop();
    let mut list = redlock.list("");
    let lock = list.next().await.unwrap().unwrap();
    assert_eq!((lock.resource(), lock.held_on(), lock.is_held()), ("r", 3, true));
    assert!(list.next().await.is_none() && list.next().await.is_none());
    let problems: Vec<_> = list.problems().iter().map(|found| found.problem.to_string()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("not reachable ("), "{problems:?}");

    masters.kill(1);
    let mut list = redlock.list("");
    let unclear = list.next().await.unwrap().unwrap();
    assert!(!unclear.is_held() && unclear.held_on() == 2, "{unclear}");
    let error = list.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, ListError::Incomplete(nodes) if nodes.len() == 3), "{error}");
    assert!(list.next().await.is_none());
    masters[3].cont();
}

#[tokio::test(start_paused = true)]
async fn a_waiter_of_another_process_is_counted() {
    let (masters, redlock) = three().await;
    let guard = redlock.acquire("r").ttl(LONG).await.unwrap();
    // Without a list they listen.
    masters.iter().for_each(|master| master.deny(&["zadd"]).unwrap());
    let waiting = wait(|| masters.builder()).await;
    eventually("both are counted", SOON, async || counted(&redlock).await == Some(2)).await;
    assert_eq!(redlock.inspect("r").await.unwrap().waiting(), Some(0));
    waiting.iter().for_each(JoinHandle::abort);
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_waiter_in_a_list_is_counted_and_inspected() {
    let (masters, redlock) = three().await;
    let guard = redlock.acquire("r").ttl(LONG).await.unwrap();
    let waiting = wait(|| masters.builder()).await;
    eventually("both are counted", SOON, async || counted(&redlock).await == Some(2)).await;
    let inspected = async || redlock.inspect("r").await.unwrap().waiting();
    assert_eq!(inspected().await, Some(2));
    waiting[2].abort();
    guard.release().await.unwrap();
    // One of them has it now, and what its call leaves in the list is no waiter.
    eventually("the other waits on", SOON, async || inspected().await == Some(1)).await;
    eventually("it is counted", SOON, async || counted(&redlock).await == Some(1)).await;
    waiting.iter().for_each(JoinHandle::abort);
}

async fn counted(redlock: &Redlock) -> Option<u64> {
    listed(redlock, "r").await.get("r")?.waiting()
}

/// Lets two clients wait. Two tasks of the first wait as one.
async fn wait(
    builder: impl Fn() -> RedlockBuilder,
) -> Vec<JoinHandle<Result<Guard, AcquireError>>> {
    let others = [(); 2].map(|()| builder().acquire_timeout(LONG).connect());
    let others = futures::future::try_join_all(others).await.unwrap();
    let waiting = others.iter().chain(&others[..1]).map(|other| other.acquire("r").ttl(LONG));
    waiting.map(|acquire| tokio::spawn(acquire.into_future())).collect()
}

/// Permits have keys of our own. They are found by the name of their semaphore.
#[tokio::test(start_paused = true)]
async fn permits_are_listed_with_their_slots_and_their_waiters() {
    let masters = Masters::start(3);
    let clients = [(); 2].map(|()| {
        let patient = masters.builder().operation_timeout(900 * MS).key_prefix("app:");
        patient.acquire_timeout(LONG).label("worker-7").connect()
    });
    let clients = futures::future::try_join_all(clients).await.unwrap();
    let semaphore = clients[0].semaphore("import", 2);
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(semaphore.acquire().ttl(LONG).await.unwrap());
    }
    let _lock = clients[0].acquire("import").fenced().ttl(LONG).await.unwrap();
    for key in ["app:quorumlock:slot:0:import", "app:quorumlock:slot:1:import", "app:import"] {
        everywhere(&masters, key).await;
    }
    // What looks like a permit, but cannot be one.
    on_all(&masters, &["SET", "app:quorumlock:slot:64:import", TOKEN, "PX", "60000"]).await;
    on_all(&masters, &["SET", "app:quorumlock:slot:1:x:import", TOKEN, "PX", "60000"]).await;
    let waits = tokio::spawn(clients[1].semaphore("import", 2).acquire().into_future());

    let sorted = async |prefix: &str| {
        let found: Vec<_> = clients[1].list(prefix).collect().await;
        let mut found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
        found.sort_by_key(|lock| (lock.resource().to_owned(), lock.slot()));
        found
    };
    let counted = async || sorted("imp").await.get(2).and_then(ListedLock::waiting) == Some(1);
    eventually("it is seen to wait", SOON, counted).await;
    for (prefix, others) in [("import", 0), ("imp", 0), ("", 1)] {
        let found = sorted(prefix).await;
        let named = found.iter().map(|lock| (lock.resource(), lock.slot()));
        let expected = [("import", None), ("import", Some(0)), ("import", Some(1))];
        let named: Vec<_> = named.filter(|(name, _)| *name == "import").collect();
        assert_eq!((&named[..], found.len()), (&expected[..], 3 + others), "{prefix}: {found:?}");
    }
    let found = sorted("import").await;
    assert_eq!(found[1].waiting(), Some(1), "at any of them");
    assert_eq!((found[0].waiting(), found[1].held_on()), (Some(0), 3));
    assert!(found[2].to_string().starts_with("slot 1 of \"import\" is held by worker-7"));
    let list = "app:quorumlock:waitlist:app:quorumlock:semaphore:import";
    for (stamp, waiter) in [("1", TOKEN), ("4e15", ">0")] {
        witness::ask::<u64>(&masters[0], cmd("ZADD").arg(&[list, stamp, waiter])).await.unwrap();
    }
    // One that listens to nothing; what its call leaves in the list is no waiter.
    assert_eq!(sorted("import").await[1].waiting(), Some(2));
    waits.abort();
    // What is listed can be taken away.
    clients[1].force_release(found[2].inspection()).await.unwrap();
    let slots: Vec<_> = sorted("import").await.iter().map(ListedLock::slot).collect();
    assert_eq!(slots, [None, Some(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_only_lists_writes_nothing_and_adds_the_prefix() {
    let masters = Masters::start(3);
    let looks = masters.builder().key_prefix("app:").inspect_only(true).connect().await.unwrap();
    assert_eq!(names(&listed(&looks, "").await), [""; 0]);
    for server in &*masters {
        let size: u64 = witness::ask(server, &cmd("DBSIZE")).await.unwrap();
        assert_eq!(size, 0);
    }
    on_all(&masters, &["SET", "app:r", TOKEN, "PX", "60000"]).await;
    on_all(&masters, &["SET", "other:r", TOKEN, "PX", "60000"]).await;
    let found = listed(&looks, "").await;
    assert_eq!(names(&found), ["r"]);
    assert_eq!(found["r"].inspection().key(), "app:r");
    let refused = looks.list("quorumlock:").next().await.unwrap().unwrap_err();
    assert!(
        matches!(&refused, ListError::InvalidSetting(setting) if setting.field == "prefix"),
        "{refused}"
    );
    looks.shutdown().await.unwrap();
    assert_eq!(names(&listed(&looks, "").await), ["r"], "after a shutdown, too");
}
