//! Checks what `docs/acl.md` says of each right: together they are enough, and each missing one has
//! the stated cost.

use crate::support::prelude::*;
use quorumlock::{
    AcquireError, ConnectError, Redlock, RedlockBuilder, Released, RestartGuard, RwLock,
};
use redis::cmd;
use std::time::Duration;

const PAGE: &str = include_str!("../../docs/acl.md");

const PATIENCE: Duration = Duration::from_secs(30);

const ALL: &str = "acquire inspect extend release fenced several read write downgrade";

/// Returns the line that grants all that is needed.
fn line() -> &'static str {
    let is_it = |line: &&str| line.starts_with("ACL SETUSER locks ");
    PAGE.lines().find(is_it).expect("a line for redis-cli")
}

fn client(server: &Server) -> RedlockBuilder {
    let url = server.url().replace("//", "//locks:secret@");
    Redlock::builder().node(url).key_prefix("locks:")
}

/// Makes a user with the rights of `line`. The master has no scripts, and only a list of masters
/// that is out of use.
async fn grant(server: &Server, line: &str) {
    let ask = async |line: &str| {
        let mut words = line.split(' ');
        let mut command = cmd(words.next().unwrap());
        witness::ask::<()>(server, command.arg(words.collect::<Vec<_>>())).await.unwrap();
    };
    ask("ACL SETUSER locks reset").await;
    ask(line).await;
    ask("SCRIPT FLUSH").await;
    ask("FLUSHALL").await;
    ask("HSET locks:quorumlock:agreement lists\nelsewhere:6379\n 1").await;
}

/// Returns what works with the rights of `line`; an error if there is no connection.
async fn works(server: &Server, line: &str) -> Result<String, ConnectError> {
    grant(server, line).await;
    let redlock = client(server).restart_guard(RestartGuard::Off).connect().await?;
    let mut works = Vec::new();
    if let Ok(guard) = redlock.try_acquire("a").await {
        works.push("acquire");
        let inspection = redlock.inspect("a").await.unwrap();
        works.extend(inspection.holder().map(|_| "inspect"));
        works.extend(guard.extend().await.ok().map(|_| "extend"));
        works.extend((guard.release().await == Ok(Released::Confirmed)).then_some("release"));
    }
    works.extend(redlock.try_acquire("f").fenced().await.ok().map(|_| "fenced"));
    works.extend(redlock.try_acquire_all(["x", "y"]).await.ok().map(|_| "several"));
    works.extend(readers(&redlock.rw_lock("rw")).await);
    Ok(works.join(" "))
}

/// Returns what works of a read-write lock. What stays behind is out of the way of the next part.
async fn readers(lock: &RwLock) -> Vec<&'static str> {
    let mut works = Vec::new();
    if let Ok(guard) = lock.try_read().ttl(200 * MS).await {
        works.push("read");
        let _ = guard.release().await;
        tokio::time::sleep(250 * MS).await;
    }
    if let Ok(guard) = lock.try_write().await {
        works.push("write");
        works.extend(guard.downgrade().await.ok().map(|_| "downgrade"));
    }
    works
}

#[tokio::test]
async fn the_documented_rights_suffice_and_each_costs_as_documented() {
    let server = Server::start();
    assert_eq!(works(&server, line()).await.as_deref(), Ok(ALL));
    let rights: Vec<&str> = line().split(' ').filter_map(|word| word.strip_prefix('+')).collect();
    for right in &rights {
        let cell = format!("`{}`", right.replace('|', "\\|"));
        assert!(PAGE.contains(&cell), "{right} has no row");
        let without = line().replace(&format!(" +{right} "), " ");
        let without = without.trim_end_matches(&format!(" +{right}")).to_owned();
        let left = match *right {
            "hello" | "select" | "info" | "client|kill" => Some(ALL),
            "publish" | "subscribe" | "unsubscribe" => Some(ALL),
            "script|load" | "evalsha" => Some("acquire inspect release write"),
            "set" => Some(""),
            "get" => Some("acquire write"),
            "del" => Some("acquire inspect extend fenced several read write downgrade"),
            "pttl" => Some("acquire release fenced several read write"),
            "zrangebyscore" | "zrank" | "zcard" => Some(ALL),
            right if right.starts_with('z') => {
                Some("acquire inspect extend release fenced several write")
            }
            _ => None,
        };
        match (works(&server, &without).await, left) {
            (Ok(works), Some(left)) => assert_eq!(works, left, "without {right}"),
            (Err(ConnectError::Unfit(_)), None) => {}
            (other, _) => panic!("without {right}: {other:?}"),
        }
    }
    assert!(rights.contains(&"evalsha"), "{rights:?}");
}

/// Returns how many are ahead of a fair client that waits for a lock that another has, and gives up; `None` if it polls.
/// Both get the lock one after the other.
async fn ahead(server: &Server, line: &str) -> Option<usize> {
    grant(server, line).await;
    let connect = async || client(server).restart_guard(RestartGuard::Off).connect().await.unwrap();
    let (holder, other) = (connect().await, connect().await);
    let guard = holder.acquire("t").fair(true).await.unwrap();
    let error = other.acquire("t").fair(true).timeout(400 * MS).await.unwrap_err();
    let AcquireError::Contended(contended) = error else { panic!("{error}") };
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    other.acquire("t").fair(true).await.unwrap().release().await.unwrap();
    contended.ahead.map(usize::from)
}

#[tokio::test]
async fn without_one_of_its_rights_a_fair_client_polls() {
    let server = Server::start();
    assert_eq!(ahead(&server, line()).await, Some(0));
    for right in ["zadd", "zrem", "zscore", "zrange", "zrangebyscore", "zrank", "zcard"] {
        let without = line().replace(&format!(" +{right} "), " ");
        assert_ne!(without, line(), "{right} is not granted");
        assert_eq!(ahead(&server, &without).await, None, "without {right}");
    }
}

#[tokio::test]
async fn a_database_and_trust_in_persistence_each_need_one_more_right() {
    let server = Server::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let url = format!("{}/1", server.url().replace("//", "//locks:secret@"));
    let elsewhere = || Redlock::builder().node(&*url).connect();
    grant(&server, &line().replace(" ~locks:*", " ~*")).await;
    assert!(elsewhere().await.is_ok());
    grant(&server, &line().replace(" ~locks:*", " ~*").replace(" +select", "")).await;
    assert!(matches!(elsewhere().await, Err(ConnectError::Unfit(_))));

    for (rules, acquired) in [("", false), (" +config|get", true)] {
        grant(&server, &format!("{}{rules}", line())).await;
        let redlock =
            client(&server).restart_guard(RestartGuard::TrustPersistence).connect().await.unwrap();
        assert_eq!(redlock.try_acquire("a").await.is_ok(), acquired, "{rules}");
    }
}

#[tokio::test]
async fn a_list_needs_the_right_to_scan_and_counts_with_one_more() {
    let server = Server::start();
    for (rules, listed, waiting) in
        [("", false, None), (" +scan", true, None), (" +scan +pubsub|numsub", true, Some(0))]
    {
        grant(&server, &format!("{}{rules}", line())).await;
        let redlock = client(&server).restart_guard(RestartGuard::Off).connect().await.unwrap();
        let _guard = redlock.acquire("a").await.unwrap();
        let found = redlock.list("").next().await.unwrap();
        assert_eq!(found.is_ok(), listed, "{rules}: {found:?}");
        if let Ok(lock) = found {
            assert_eq!((lock.is_held(), lock.waiting()), (true, waiting), "{rules}");
        }
    }
    for right in ["scan", "pubsub\\|numsub"] {
        assert!(PAGE.contains(&format!("| `{right}` |")), "{right} has no row");
    }
}

/// Returns the line without the words that match `left_out`.
fn line_without(left_out: impl Fn(&str) -> bool) -> String {
    line().split(' ').filter(|word| !left_out(word)).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn without_the_pattern_of_keys_no_client_connects() {
    let server = Server::start();
    let found = works(&server, &line_without(|word| word.starts_with('~'))).await;
    assert!(matches!(found, Err(ConnectError::Unfit(_))), "{found:?}");
}

/// Checks whether the server has executed the command; a denied command does not count.
async fn was_called(server: &Server, command: &str) -> bool {
    let stats = witness::info(server, "commandstats").await;
    let calls = stats.get(&format!("cmdstat_{command}"));
    calls.is_some_and(|calls| !calls.starts_with("calls=0,"))
}

/// A right that no lock depends on still has a use: without it waiters are not notified.
#[tokio::test]
async fn without_channels_a_release_notifies_no_waiter_and_waiters_poll() {
    let server = Server::start();
    type LeftOut = fn(&str) -> bool;
    let left_out: [(&str, LeftOut); 4] = [
        ("nothing", |_| false),
        ("publish", |word| word == "+publish"),
        ("subscribe", |word| word == "+subscribe"),
        ("the channels", |word| word.starts_with('&')),
    ];
    for (name, left_out) in left_out {
        grant(&server, &line_without(left_out)).await;
        witness::ask::<()>(&server, cmd("CONFIG").arg("RESETSTAT")).await.unwrap();
        let connect =
            || client(&server).restart_guard(RestartGuard::Off).acquire_timeout(PATIENCE).connect();
        let (holder, waiter) = (connect().await.unwrap(), connect().await.unwrap());
        let guard = holder.acquire("a").await.unwrap();
        let waiting = tokio::spawn(waiter.acquire("a").into_future());
        let asked = async || was_called(&server, "pttl").await;
        eventually("it waits", PATIENCE, asked).await;
        if name == "nothing" {
            let listens = async || was_called(&server, "subscribe").await;
            eventually("it listens", PATIENCE, listens).await;
        }
        assert_eq!(guard.release().await, Ok(Released::Confirmed), "without {name}");
        waiting.await.unwrap().unwrap().release().await.unwrap();
        let heard = was_called(&server, "publish").await && was_called(&server, "subscribe").await;
        assert_eq!(heard, name == "nothing", "without {name}");
        for redlock in [holder, waiter] {
            redlock.shutdown().await.unwrap();
        }
    }
}

/// A right that no lock depends on still has a use: without it no client learns the kind of server.
#[tokio::test]
async fn without_info_what_must_not_be_a_master_is_taken_for_one() {
    let master = Server::start_for_a_replica();
    let port = master.port().to_string();
    let replica =
        Server::start_with(&["--replicaof", "127.0.0.1", &port, "--replica-read-only", "no"]);
    let in_step = async || {
        let info = witness::info(&replica, "replication").await;
        info.get("master_link_status").is_some_and(|status| status == "up")
    };
    eventually("the replica has all", PATIENCE, in_step).await;
    let evicting = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let evicting = Server::start_with(&evicting);
    for (may_ask, line) in
        [(true, line().to_owned()), (false, line_without(|right| right == "+info"))]
    {
        for server in [&replica, &evicting] {
            grant(server, &line).await;
            let connected = client(server).connect().await;
            assert_eq!(matches!(connected, Err(ConnectError::Unfit(_))), may_ask, "{connected:?}");
        }
        grant(&master, &line).await;
        let again = master.url().replace("//", "//locks:secret@").replace("127.0.0.1", "localhost");
        let twice = client(&master).node(again).connect().await;
        assert_eq!(matches!(twice, Err(ConnectError::Unfit(_))), may_ask, "{twice:?}");
    }
}
