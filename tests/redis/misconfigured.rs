//! The messages for common mistakes, word by word, so that a text that gets worse fails a test. The
//! masters' ports are shown as `<1>`, `<2>`, in their order, and durations as `<time>`.

use crate::support::normalised::{without_ports, without_times};
use crate::support::prelude::*;
use quorumlock::{Backoff, ClockDrift, ConnectError, Redlock, RedlockBuilder};
use std::time::Duration;

const LIKE: &str = r#"write it like "redis://10.0.0.1:6379" or "unix:///run/redis.sock""#;

const NO_URL: &str = "the address is not a URL for Redis (it needs a scheme such as redis://, %XX for \
                      special characters in a user name or password, brackets around IPv6)";

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

async fn refusal(builder: RedlockBuilder, masters: &[Server]) -> String {
    without_ports(builder.connect().await.expect_err("a mistake"), masters)
}

async fn assert_refused(builder: RedlockBuilder, text: &str) {
    assert_eq!(refusal(builder, &[]).await, text);
}

#[tokio::test]
async fn an_address_that_is_none_says_which_and_what_to_write() {
    let none = r#"nodes: there is none: name the masters, five usually, with .nodes(["redis://10.0.0.1", …])"#;
    assert_refused(Redlock::builder(), none).await;
    for (node, problem) in [
        ("localhost", NO_URL),
        ("10.0.0.2:6379", NO_URL),
        ("http://10.0.0.2", NO_URL),
        ("redis://", "the address has no host"),
        ("redis://10.0.0.2/orders", "the database is not a number"),
    ] {
        let text = format!("nodes: node 2 of 3: {problem}: {LIKE}");
        let nodes = ["redis://10.0.0.1", node, "redis://10.0.0.3"];
        assert_refused(Redlock::builder().nodes(nodes), &text).await;
    }
}

#[tokio::test]
async fn a_master_that_is_named_twice_is_counted_once() {
    let twice = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.1:6379/7"];
    let text = "nodes: node 3 of 3: 10.0.0.1:6379 is node 1 already: name each master once";
    assert_refused(Redlock::builder().nodes(twice), text).await;
    let crowd = (0..65).map(|n| format!("redis://10.0.0.{n}"));
    let text = "nodes: 65 masters are more than 64: five are the usual number";
    assert_refused(Redlock::builder().nodes(crowd), text).await;
}

#[cfg(not(feature = "tls"))]
#[tokio::test]
async fn tls_without_its_feature_says_so() {
    let text =
        "nodes: node 1 of 1: the address asks for TLS: enable the feature \"tls\" of quorumlock";
    assert_refused(Redlock::builder().node("rediss://10.0.0.1"), text).await;
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn tls_to_a_master_without_it_is_a_cause() {
    let masters = Masters::start(1);
    let url = format!("{}/#insecure", masters[0].url().replace("redis:", "rediss:"));
    let redlock = Redlock::builder().node(url).connect().await.unwrap();
    let error = redlock.try_acquire("r").await.unwrap_err().to_string();
    assert!(error.contains("if this port does not speak TLS, write redis://)"), "{error}");
}

#[tokio::test]
async fn a_setting_that_can_not_work_says_why() {
    let builder = || Redlock::builder().node("redis://10.0.0.1");
    let least = "use at least a few hundred milliseconds";
    for (builder, text) in [
        (
            builder().ttl(ms(0)),
            &*format!(
                "ttl: 0s leaves no validity: drift takes 2ms and a round trip may take 1ms; {least}"
            ),
        ),
        (
            builder().ttl(ms(50)).drift(ClockDrift { rate_ppm: 10_000, constant: ms(45) }),
            &format!(
                "ttl: 50ms leaves no validity: drift takes 45ms 500us and a round trip may take 5ms; {least}"
            ),
        ),
        (builder().ttl(ms(60_000)), "ttl: 1m is above max_ttl (30s): shorten it, or raise max_ttl"),
        (
            builder().max_ttl(ms(5_000)),
            "ttl: 10s is above max_ttl (5s): shorten it, or raise max_ttl",
        ),
        (builder().max_ttl(Duration::MAX), "max_ttl: must be at most 292 years"),
        (
            builder().max_ttl(ms(86_400_001)),
            "max_ttl: 1day 1ms is above 24h, for which a master that has just started would not vote: \
             shorten it, or confirm it with allow_long_max_ttl",
        ),
        (
            builder().drift(ClockDrift { rate_ppm: 1_000_000, constant: ms(0) }),
            "drift: 1000000 ppm leave nothing of any ttl: 10000 ppm (1 %) is the usual rate",
        ),
        (builder().operation_timeout(ms(0)), "operation_timeout: must be at least 1ms"),
        (builder().connect_timeout(ms(0)), "connect_timeout: must be at least 1ms"),
        (
            builder().backoff(Backoff { base: ms(9), cap: ms(8) }),
            "backoff: the first delay must be above zero and at most the longest one",
        ),
        (
            builder().key_prefix("quorumlock:"),
            r#"key_prefix: "quorumlock:" contains "quorumlock:", which is reserved: choose another one"#,
        ),
        (
            builder().lock_delay(ms(20_001)),
            "lock_delay: 20s 1ms and the ttl (10s) are together above max_ttl (30s): shorten one of \
             them, or raise max_ttl",
        ),
        (
            builder().label("x".repeat(513)),
            "label: 513 bytes are more than 512: a host and a process id will do",
        ),
        (
            builder().label("worker\n7"),
            r#"label: "worker\n7" contains control characters: leave them out"#,
        ),
    ] {
        assert_refused(builder, text).await;
    }
}

#[tokio::test]
async fn a_resource_that_can_not_be_one_says_why() {
    let redlock = Redlock::builder().node("redis://127.0.0.1:1").connect().await.unwrap();
    for (resource, text) in [
        ("", r#"resource: is empty: name what is to be locked, such as "orders:42""#),
        (
            "quorumlock:mine",
            r#"resource: "quorumlock:mine" contains "quorumlock:", which is reserved: rename it"#,
        ),
        (
            "mine:quorumlock:fence:r",
            r#"resource: "mine:quorumlock:fence:r" contains "quorumlock:", which is reserved: rename it"#,
        ),
        (
            &"x".repeat(5_000),
            "resource: 5000 bytes are more than 4096: use a shorter name or its hash",
        ),
    ] {
        assert_eq!(redlock.acquire(resource).await.unwrap_err().to_string(), text);
        let among_others = redlock.acquire_all(["a", resource, "x"]).await.unwrap_err();
        assert_eq!(among_others.to_string(), text);
    }
    let names = (0..65).map(|n| n.to_string()).collect::<Vec<_>>();
    for (resources, text) in [
        (&names[..0], r#"resource: there is none: name at least one, such as "orders:42""#),
        (
            &names,
            "resource: 65 at once are more than 64: name fewer, or one that stands for them all",
        ),
    ] {
        assert_eq!(redlock.acquire_all(resources).await.unwrap_err().to_string(), text);
    }
    let most = redlock.try_acquire_all(&names[..64]).await;
    assert!(most.unwrap_err().is_no_quorum(), "64 may be asked for");
}

#[tokio::test]
async fn a_lock_delay_that_can_not_work_says_why() {
    let redlock = Redlock::builder().node("redis://127.0.0.1:1").connect().await.unwrap();
    let together = |delay: &str, ttl: &str| {
        format!(
            "lock_delay: {delay} and the ttl ({ttl}) are together above max_ttl (30s): shorten one \
             of them, or raise max_ttl"
        )
    };
    for (ttl, delay, text) in [
        (ms(20_000), ms(10_001), together("10s 1ms", "20s")),
        // Rounded up.
        (ms(20_000), Duration::from_nanos(10_000_000_001), together("10s 1ns", "20s")),
        (ms(30_000), ms(1), together("1ms", "30s")),
    ] {
        let acquire = redlock.acquire("r").ttl(ttl).lock_delay(delay);
        assert_eq!(acquire.await.unwrap_err().to_string(), text);
    }
    let forever = redlock.acquire("r").lock_delay(Duration::MAX).await.unwrap_err();
    assert!(forever.to_string().starts_with("lock_delay: "), "{forever}");
    let longest = redlock.try_acquire("r").ttl(ms(20_000)).lock_delay(ms(10_000)).await;
    assert!(longest.unwrap_err().is_no_quorum(), "the sum may be max_ttl");
}

#[tokio::test]
async fn a_resource_that_only_its_prefix_makes_reserved_is_refused() {
    let with = async |prefix: &str| {
        let builder = Redlock::builder().node("redis://127.0.0.1:1").key_prefix(prefix);
        builder.connect().await.unwrap()
    };
    let text = r#"resource: "lock:fence:r" behind the key_prefix "a:quorum" contains "quorumlock:", which is reserved: rename it"#;
    let redlock = with("a:quorum").await;
    assert_eq!(redlock.acquire("lock:fence:r").await.unwrap_err().to_string(), text);
    for (prefix, resource) in
        [("a:quorum:", "lock:r"), ("quorum", "lock-r"), ("", "lock:r"), ("quorumlock", "r")]
    {
        let error = with(prefix).await.try_acquire(resource).await.unwrap_err();
        assert!(error.is_no_quorum(), "{prefix}{resource} is no client's: {error}");
    }
}

#[tokio::test]
async fn a_master_unusable_as_configured_fails_the_connect() {
    let masters = Masters::start(2);
    let locked = Masters::start_with(1, &["--requirepass", "secret"]);
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &masters[0].port().to_string()]);
    let (url, password) = (masters[0].url(), locked[0].url());
    for (nodes, of, text) in [
        (
            vec![password.clone()],
            &locked,
            "nodes: 127.0.0.1:<1> cannot be used: NOAUTH it asks for a password: redis://:password@host:port",
        ),
        (
            vec![password.replace("//", "//:hunter2@")],
            &locked,
            "nodes: 127.0.0.1:<1> cannot be used: WRONGPASS invalid username-password pair or user is disabled.",
        ),
        (
            vec![format!("{url}/99")],
            &masters,
            "nodes: 127.0.0.1:<1> cannot be used: ERR DB index is out of range: database 99",
        ),
        (
            vec![masters[1].url(), replica.url()],
            &masters,
            "nodes: 127.0.0.1:<replica> cannot be used: a replica of 127.0.0.1:<1>: name independent masters only",
        ),
    ] {
        let shown = refusal(Redlock::builder().nodes(nodes), of).await;
        assert_eq!(shown.replace(&replica.port().to_string(), "<replica>"), text);
    }
    // Whichever of the two answers first counts. The settings of the clients above have been
    // withdrawn.
    let names = [url.clone(), masters[1].url(), url.replace("127.0.0.1", "localhost")];
    let shown = refusal(Redlock::builder().nodes(names.clone()).strict(true), &masters).await;
    let text = |node, other| {
        format!(
            "nodes: {node}:<1> cannot be used: the same server as {other}:<1>: each master counts once"
        )
    };
    let either = [text("localhost", "127.0.0.1"), text("127.0.0.1", "localhost")];
    assert!(either.contains(&shown), "{shown}");
    let redlock = Redlock::builder().nodes(names).connect().await.unwrap();
    let status = redlock.status().await.unwrap().to_string();
    assert!(status.contains("unfit (the same server as "), "{status}");
}

#[tokio::test]
async fn masters_that_are_down_are_an_error_of_the_acquire() {
    let masters = Masters::start(3);
    (0..3).for_each(|node| masters.kill(node));
    let redlock = masters.builder().connect().await.unwrap();
    let refused = "down (Connection refused (os error 111))";
    let text = format!(
        "no quorum for \"orders:42\": 0 of 3 masters may vote, 2 needed (after <time>, 1 attempt): \
         all 3 masters: {refused}"
    );
    let error = redlock.try_acquire("orders:42").await.unwrap_err();
    assert_eq!(without_times(&without_ports(error, &masters)), text);
}

#[tokio::test]
async fn the_error_for_a_denied_agreement_names_the_needed_right() {
    let user = ["--user", "app", "on", ">pass", "~r", "~locks:*", "&*", "+@all"];
    let masters = Masters::start_with(1, &user);
    let urls = || masters.urls().into_iter().map(|url| url.replace("//", "//app:pass@"));
    let error = builder().nodes(urls()).connect().await.unwrap_err();
    assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
    let text = "EVAL on the key quorumlock:agreement is needed";
    assert!(error.to_string().ends_with(text), "{error}");
    // With a prefix, the agreement has its own key.
    let prefixed = builder().nodes(urls()).key_prefix("locks:").connect().await.unwrap();
    assert!(prefixed.try_acquire("r").await.is_ok());
}
