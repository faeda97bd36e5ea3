//! What `docs/acl.md` says of each right is so: all of them are enough, and each costs what it says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use quorumlock::{ConnectError, Redlock, RedlockBuilder, Released};
use redis::cmd;
use support::server::Server;
use support::witness;

const PAGE: &str = include_str!("../docs/acl.md");
const README: &str = include_str!("../README.md");

const ALL: &str = "acquire inspect extend release fenced several";

/// The line that grants all that is needed.
fn line() -> &'static str {
    let is_it = |line: &&str| line.starts_with("ACL SETUSER locks ");
    PAGE.lines().find(is_it).expect("a line for redis-cli")
}

fn client(server: &Server) -> RedlockBuilder {
    let url = server.url().replace("//", "//locks:secret@");
    Redlock::builder().node(url).key_prefix("locks:")
}

/// A user with the rights of `line`, on a master that knows no scripts, but a list of masters that is
/// out of use.
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

/// What works with the rights of `line`; an error if there is no connection.
async fn works(server: &Server, line: &str) -> Result<String, ConnectError> {
    grant(server, line).await;
    let redlock = client(server).without_restart_guard().connect().await?;
    let mut works = Vec::new();
    if let Ok(guard) = redlock.try_acquire("a").await {
        works.push("acquire");
        let inspection = redlock.inspect("a").await.unwrap();
        works.extend(inspection.holder().map(|_| "inspect"));
        works.extend(guard.extend().await.ok().map(|_| "extend"));
        works.extend((guard.release().await == Released::Released).then_some("release"));
    }
    works.extend(redlock.try_acquire("f").fenced().await.ok().map(|_| "fenced"));
    works.extend(redlock.try_acquire(["x", "y"]).await.ok().map(|_| "several"));
    Ok(works.join(" "))
}

#[tokio::test]
async fn the_rights_of_the_page_are_enough_and_each_costs_what_it_says() {
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
            "script|load" | "evalsha" => Some("acquire inspect release"),
            "set" => Some(""),
            "get" => Some("acquire"),
            "del" => Some("acquire inspect extend fenced several"),
            "pttl" => Some("acquire release fenced several"),
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

#[tokio::test]
async fn a_database_of_its_own_needs_one_right_more_and_so_does_trust_in_persistence() {
    let server = Server::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let url = format!("{}/1", server.url().replace("//", "//locks:secret@"));
    let elsewhere = || Redlock::builder().node(&*url).connect();
    grant(&server, &line().replace(" ~locks:*", " ~*")).await;
    assert!(elsewhere().await.is_ok());
    grant(&server, &line().replace(" ~locks:*", " ~*").replace(" +select", "")).await;
    assert!(matches!(elsewhere().await, Err(ConnectError::Unfit(_))));

    for (rules, acquired) in [("", false), (" +config|get", true)] {
        grant(&server, &format!("{}{rules}", line())).await;
        let redlock = client(&server).trust_persistence().connect().await.unwrap();
        assert_eq!(redlock.try_acquire("a").await.is_ok(), acquired, "{rules}");
    }
}

#[test]
fn the_readme_grants_the_same() {
    assert!(README.contains(line()));
}
