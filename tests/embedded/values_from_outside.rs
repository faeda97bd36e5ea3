//! A detached lock as text that anyone may have written: no key of others is touched, whatever it says
//! and however far its adoption gets.

use proptest::prelude::*;
use quorumlock::embedded::{Master, Masters};
use quorumlock::error::AdoptErrorKind;
use quorumlock::kind::Detachable;
use quorumlock::{Detached, FencedDetached, Redlock};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::ready;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);
/// Keys that no value for a client with the prefix `app:` may be about.
const COUNTER: &str = "billing:next-invoice";
const ABSENT: &str = "other-app:r";

/// Sends a command of another application.
async fn operate(master: &Master, words: &[&str]) {
    let mut connection = master.dialer()().await.unwrap();
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    connection.write_all(&command.get_packed_command()).await.unwrap();
    let mut reply = [0; 64];
    assert!(connection.read(&mut reply).await.unwrap() > 0 && reply[0] != b'-', "{words:?}");
}

async fn three() -> Masters {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    for master in masters.iter() {
        operate(master, &["SET", COUNTER, "4711"]).await;
    }
    masters
}

async fn connect(masters: &Masters) -> Redlock {
    masters.builder().key_prefix("app:").connect().await.unwrap()
}

/// Returns a fenced lock of `r`, written by another client.
async fn written(masters: &Masters) -> Value {
    let redlock = connect(masters).await;
    let detached = redlock.acquire("r").fenced().min_hold(5 * SECOND).await.unwrap().detach().await;
    serde_json::to_value(detached.unwrap()).unwrap()
}

/// Returns what is under all keys of a master, but for our own.
fn stored(master: &Master, own: &[String]) -> BTreeMap<String, (Option<String>, bool)> {
    let keys = master.keys().into_iter().filter(|key| !own.contains(key));
    keys.map(|key| {
        let expires = master.time_to_live(&key) < Some(Duration::MAX);
        (key.clone(), (master.holder(&key), expires))
    })
    .collect()
}

#[tokio::test(start_paused = true)]
async fn an_adoption_that_is_dropped_leaves_foreign_keys_alone() {
    let masters = three().await;
    let redlock = connect(&masters).await;
    for (keys, fence) in [("zzz", COUNTER), ("app:r", COUNTER), ("app:r", ABSENT), ("zzz", ABSENT)]
    {
        let mut value = written(&masters).await;
        value["keys"] = json!([keys]);
        value["fences"] = json!([fence]);
        value["resource"] = json!(keys.trim_start_matches("app:"));
        let read = || serde_json::from_value::<FencedDetached>(value.clone()).unwrap();
        // Neither before its first poll nor after it.
        tokio::select! {
            biased;
            () = ready(()) => {}
            _ = redlock.adopt(read()) => panic!("it was polled first"),
        }
        let refused = redlock.adopt(read()).await.unwrap_err();
        assert!(matches!(refused.kind, AdoptErrorKind::InvalidSetting(_)), "{refused}");
        sleep(SECOND).await;
        for master in masters.iter() {
            assert_eq!(master.holder(COUNTER).as_deref(), Some("4711"));
            assert_eq!(master.time_to_live(COUNTER), Some(Duration::MAX), "it does not expire");
            assert_eq!(master.holder(ABSENT), None);
        }
        sleep(40 * SECOND).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_is_of_the_resource_that_its_keys_lock() {
    let masters = three().await;
    let redlock = connect(&masters).await;
    let detached = redlock.acquire_all(["a", "b"]).await.unwrap().detach().await.unwrap();
    let good = serde_json::to_value(detached).unwrap();
    assert_eq!(good["resource"], "a, b");
    for wrong in [
        "the-bank",
        "",
        "a",
        "a, c",
        "app:a, app:c",
        "b, a",
        "x, app:a, app:b",
        "ä, b",
        // Behind another prefix it is another resource.
        "app:a, app:b",
        "p:a, p:b",
        "pp:a, pp:b",
    ] {
        let mut value = good.clone();
        value["resource"] = json!(wrong);
        let read = serde_json::from_value::<Detached>(value).unwrap();
        let refused = redlock.adopt(read).await.unwrap_err();
        assert!(matches!(refused.kind, AdoptErrorKind::InvalidSetting(_)), "{wrong}: {refused}");
    }
    let guard = redlock.adopt(serde_json::from_value::<Detached>(good).unwrap()).await.unwrap();
    assert_eq!(guard.resource(), "a, b");
}

const FIELDS: [&str; 13] = [
    "version",
    "resource",
    "keys",
    "fences",
    "token",
    "label",
    "fencing_token",
    "greatest_asked",
    "ttl_ms",
    "lock_delay_ms",
    "at_least_ms",
    "keep_alive_ms",
    "unsettled",
];

fn name() -> impl Strategy<Value = String> {
    let named = |name: &str| Just(name.to_owned());
    prop_oneof![
        named(COUNTER),
        named(ABSENT),
        named("app:r"),
        named("app:s"),
        named("r"),
        named("app:quorumlock:fence:r"),
        named("app:quorumlock:fence:s"),
        named("quorumlock:agreement"),
        named("app:quorumlock:waitlist:app:r"),
        ".{0,12}",
    ]
}

/// Returns a field, and what is written there instead.
fn edit() -> impl Strategy<Value = (&'static str, Value)> {
    let anything = prop_oneof![
        prop::collection::vec(name(), 0..3).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..40_000_u64).prop_map(Value::from),
        prop_oneof![Just(1_u64 << 53), Just((1 << 53) - 1), Just(i64::MAX as u64)]
            .prop_map(Value::from),
        "[0-9a-f]{32}".prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        Just(json!("x;term=9007199254740991")),
        Just(Value::Null),
        Just(json!({})),
    ];
    prop_oneof![
        2 => (prop::sample::select(vec!["keys", "fences"]), name().prop_map(|name| json!([name]))),
        1 => (Just("resource"), name().prop_map(Value::from)),
        2 => (prop::sample::select(FIELDS.to_vec()), anything),
    ]
}

/// Reads a value, and adopts it or drops its adoption unpolled. Returns the resource, if it was read.
async fn receives<K: Detachable>(
    redlock: &Redlock,
    value: &Value,
    is_polled: bool,
) -> Option<String> {
    let detached: Detached<K> = serde_json::from_value(value.clone()).ok()?;
    let resource = detached.resource().to_owned();
    let adoption = redlock.adopt(detached);
    if !is_polled {
        drop(adoption);
    } else if let Ok(guard) = adoption.await {
        assert_eq!(guard.resource(), resource);
        guard.extend().await.unwrap();
        guard.release().await.unwrap();
    }
    Some(resource)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_value_that_was_tampered_with_touches_no_key_of_another_resource(
        edits in prop::collection::vec(edit(), 1..4),
        is_polled in any::<bool>(),
    ) {
        let mut paused = tokio::runtime::Builder::new_current_thread();
        paused.enable_all().start_paused(true).build().unwrap().block_on(async {
            let masters = three().await;
            let (redlock, other) = (connect(&masters).await, connect(&masters).await);
            let theirs = other.acquire("s").fenced().ttl(20 * SECOND).await.unwrap();
            let mut value = written(&masters).await;
            edits.into_iter().for_each(|(field, tampered)| value[field] = tampered);
            let before: Vec<_> = masters.iter().map(|master| stored(master, &[])).collect();
            let read = match receives::<quorumlock::kind::Fenced>(&redlock, &value, is_polled).await {
                Some(read) => Some(read),
                None => receives::<quorumlock::kind::Unfenced>(&redlock, &value, is_polled).await,
            };
            sleep(SECOND).await;
            // What was written by its first holder, and what the value was read as.
            let mut own = vec!["app:r".to_owned(), "app:quorumlock:fence:r".to_owned()];
            for name in read.iter().flat_map(|read| read.split(", ").chain([read.as_str()])) {
                own.extend([format!("app:{name}"), format!("app:quorumlock:fence:{name}")]);
            }
            for (master, mut before) in masters.iter().zip(before) {
                before.retain(|key, _| !own.contains(key));
                assert_eq!(stored(master, &own), before, "{value}");
            }
            theirs.extend().await.unwrap();
            // The client goes on.
            redlock.try_acquire("t").fenced().await.unwrap().release().await.unwrap();
        });
    }
}
